//! Guards: how the page below a stack is made to fault. Knows address ranges, but no stacks.
//!
//! There are two ways. `MADV_GUARD_INSTALL` (Linux 6.13) marks pages in the page table: it needs no
//! mapping of its own, makes many guards in one call, and allows a million of them within the usual
//! `vm.max_map_count`. `mprotect` works everywhere, costs two mappings per guard, and reaches that
//! limit near 32,000 guards. A test on first use finds which one works here: an old kernel refuses
//! the advice, an emulator may accept it and do nothing, and locked memory refuses it although the
//! rest of the process does not.
//!
//! # Safety
//!
//! Trusted with changing pages that its callers own and do not use.
#![expect(unsafe_code, reason = "guards change mappings")]

use std::io;
use std::sync::OnceLock;

use super::refused;
use super::sys::{self, Range};

/// How a guard is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GuardKind {
    /// By `MADV_GUARD_INSTALL`: a mark in the page table, without a mapping of its own.
    Advice,
    /// By `mprotect`: a mapping of its own.
    Protection,
}

impl GuardKind {
    /// Returns the best kind that works here. The first call tests it. While there is no memory for
    /// the test, this is [`Protection`](Self::Protection).
    ///
    /// ```
    /// # use sinew_coroutine::{GuardKind, StackPool};
    /// let pool = StackPool::builder().guard_kind(GuardKind::Protection).build();
    /// let stack = pool.acquire(64 * 1024)?;
    /// assert!(pool.stats().guards_by_protection > 0);
    /// if GuardKind::best() == GuardKind::Protection {
    ///     println!("this system allows about 32,000 stacks");
    /// }
    /// # Ok::<(), sinew_coroutine::StackError>(())
    /// ```
    pub fn best() -> Self {
        static BEST: OnceLock<GuardKind> = OnceLock::new();
        if let Some(best) = BEST.get() {
            return *best;
        }
        let Ok(works) = advice_works() else { return Self::Protection };
        *BEST.get_or_init(|| if works { Self::Advice } else { Self::Protection })
    }

    /// Makes guards of these ranges. Returns how many were made and of which kind, and the error
    /// that stopped it before the end.
    ///
    /// If the advice is refused for the first range, protection takes its place.
    ///
    /// # Safety
    ///
    /// The caller owns the ranges, and no code uses them.
    pub(super) unsafe fn install(self, ranges: &[Range]) -> (usize, Self, io::Result<()>) {
        if self == Self::Advice {
            // SAFETY: the caller's promise.
            let (done, result) = unsafe { sys::advise_each(ranges, sys::GUARD_INSTALL) };
            let refused = done == 0 && matches!(&result, Err(error) if is_refusal(error));
            if !refused {
                return (done, Self::Advice, result);
            }
        }
        // SAFETY: the caller's promise.
        let (done, result) = unsafe { forbid_each(ranges) };
        (done, Self::Protection, result)
    }
}

/// Returns whether the error refuses the advice as such: locked memory does not allow these marks,
/// and older kernels do not know them.
fn is_refusal(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::EINVAL)
}

/// Protects ranges one by one.
///
/// # Safety
///
/// The caller owns the ranges, and no code uses them.
unsafe fn forbid_each(ranges: &[Range]) -> (usize, io::Result<()>) {
    for (done, range) in ranges.iter().enumerate() {
        // SAFETY: the caller's promise.
        if let Err(error) = unsafe { sys::forbid(*range) } {
            return (done, Err(error));
        }
    }
    (ranges.len(), Ok(()))
}

/// Tests whether the advice exists and has its effect: an emulator that ignores advice returns
/// success for any number. An error means that the test gave no answer.
fn advice_works() -> io::Result<bool> {
    let page = sys::page_size();
    let probe = (sys::map(page)?, page);
    // SAFETY: this function owns the page, which holds nothing.
    let works = unsafe { advice_works_on(probe) };
    // SAFETY: the page is not used any more.
    unsafe { refused::unmap(probe) };
    works
}

/// Tests the advice on a page.
///
/// # Safety
///
/// The caller owns the page, and it holds nothing.
unsafe fn advice_works_on(probe: Range) -> io::Result<bool> {
    const NO_SUCH_ADVICE: i32 = 9999;
    // SAFETY: the caller's promise.
    if unsafe { sys::advise(probe, NO_SUCH_ADVICE) }.is_ok() {
        return Ok(false);
    }
    // SAFETY: the caller's promise.
    match unsafe { sys::advise(probe, sys::GUARD_INSTALL) } {
        Ok(()) => Ok(sys::faults(probe.0)),
        Err(error) if is_refusal(&error) => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use core::ptr::NonNull;

    /// If a process lacks memory, its guards must not be made by protection, of which it can have
    /// fewer.
    #[test]
    fn only_a_refusal_of_the_advice_leads_to_protection() {
        assert!(is_refusal(&io::Error::from_raw_os_error(libc::EINVAL)));
        assert!(!is_refusal(&io::Error::from_raw_os_error(libc::ENOMEM)));
        if GuardKind::best() == GuardKind::Protection {
            return eprintln!("skipped: this kernel refuses the advice");
        }
        let page = sys::page_size();
        let start = NonNull::new(core::ptr::without_provenance_mut(page)).expect("not null");
        // SAFETY: nothing is ever mapped in the second page of the address space.
        let (done, kind, result) = unsafe { GuardKind::Advice.install(&[(start, page)]) };
        assert_eq!((done, kind), (0, GuardKind::Advice));
        assert_eq!(result.expect_err("nothing is there").raw_os_error(), Some(libc::ENOMEM));
    }
}
