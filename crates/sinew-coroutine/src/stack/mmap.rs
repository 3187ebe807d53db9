//! The plain stack: one mapping, with one guard page at its low end. Knows no pool.
//!
//! # Safety
//!
//! Trusted with one mapping per value, made in `new` and unmapped in `drop`.
#![expect(unsafe_code, reason = "memory is mapped, guarded and unmapped")]

use core::fmt;
use core::ptr::{self, NonNull};
use std::io;

use super::boxed::try_box;
use super::pool_error::advised;
use super::refused;
use super::registry::{Area, Registered, registry};
use super::sys::{self, Range, page_size};
use super::{MIN_STACK_SIZE, Stack};
use crate::valgrind::KnownStack;

/// A stack in a mapping of its own, with a guard page below it.
///
/// Creating one takes several system calls, and a page fault on the first touch: some microseconds
/// in all. Where that matters, use the stack again
/// ([`Coroutine::into_stack`](crate::Coroutine::into_stack)), or take stacks from a
/// [`StackPool`](crate::StackPool).
pub struct MmapStack(Box<Mapped>);

/// The fields of a stack. Boxed, so that a stack is one word and travels in a register.
struct Mapped {
    /// The lowest usable address; the guard page ends here.
    ///
    /// # Invariant
    ///
    /// `limit - page .. top` is a private anonymous mapping that this value alone owns. Its first
    /// page faults on access; the rest is readable and writable.
    limit: NonNull<u8>,
    top: NonNull<u8>,
    /// Removed from the registry before the memory is unmapped.
    registered: Option<Registered>,
    #[expect(dead_code, reason = "it does its work when it is dropped")]
    known: KnownStack,
}

impl MmapStack {
    /// Maps a stack with at least `size` usable bytes, rounded up to whole pages, and a guard page
    /// below them.
    ///
    /// 64 KiB are enough for most code, and twice that in a debug build. Below 24 KiB, a panic
    /// cannot print its backtrace. Memory is taken page by page as it is touched, so a large stack
    /// costs no more than a small one that is used as much. Each stack takes two of the mappings
    /// that `vm.max_map_count` allows a process, usually 65,530.
    ///
    /// # Errors
    ///
    /// Returns [`InvalidInput`](io::ErrorKind::InvalidInput) if `size` is below [`MIN_STACK_SIZE`]
    /// or too large for an address space. Otherwise returns the system's error, with advice, if
    /// there is no memory or no mapping left.
    ///
    /// ```
    /// # use sinew_coroutine::{MmapStack, Stack};
    /// let stack = MmapStack::new(100_000)?;
    /// assert!(stack.size() >= 100_000);
    /// assert!(MmapStack::new(0).is_err());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn new(size: usize) -> io::Result<Self> {
        let (length, place) = (mapping_length(size)?, try_box()?);
        let mapped = Mapped::new(length).map_err(advised)?;
        Ok(Self(Box::write(place, mapped)))
    }
}

impl Mapped {
    fn new(length: usize) -> io::Result<Self> {
        let mapping = sys::map(length)?;
        // SAFETY: the mapping is longer than its guard page.
        let limit = unsafe { mapping.add(page_size()) };
        // SAFETY: one past the end of the mapping.
        let top = unsafe { mapping.add(length) };
        // From here on `drop` unmaps the mapping, also when the guard cannot be made.
        let mut stack = Self { limit, top, registered: None, known: KnownStack::new(limit, top) };
        // SAFETY: the mapping is ours and holds nothing. A kernel without huge pages refuses the
        // advice, and does not need it.
        let _ = unsafe { sys::advise((mapping, length), sys::NO_HUGE_PAGES) };
        // SAFETY: this is the first page of a mapping that no code uses yet.
        unsafe { sys::forbid((mapping, page_size())) }?;
        stack.registered = Some(registry().enter(&stack.area())?);
        Ok(stack)
    }

    fn mapping(&self) -> Range {
        // SAFETY: the invariant of `limit`: the guard page lies below it in the same mapping.
        let start = unsafe { self.limit.sub(page_size()) };
        (start, self.top.addr().get() - start.addr().get())
    }

    fn area(&self) -> Area {
        let (start, length) = self.mapping();
        let (start, guard) = (start.addr().get(), page_size());
        Area { start, length, stride: length, guard, slots: ptr::null() }
    }
}

/// Returns the length of a mapping with `size` usable bytes: whole pages, and one more for the
/// guard.
fn mapping_length(size: usize) -> io::Result<usize> {
    let invalid = |what: String| io::Error::new(io::ErrorKind::InvalidInput, what);
    if size < MIN_STACK_SIZE {
        let what = format!("a stack of {size} bytes is too small: ask for at least {MIN_STACK_SIZE} bytes");
        return Err(invalid(what));
    }
    let page = page_size();
    size.checked_next_multiple_of(page)
        .and_then(|usable| usable.checked_add(page))
        .filter(|&length| isize::try_from(length).is_ok())
        .ok_or_else(|| invalid(format!("a stack of {size} bytes does not fit any address space")))
}

// SAFETY: the invariant of `limit`: the bytes above the guard belong to this value, the guard
// faults, and forgetting the value leaves the mapping in place.
unsafe impl Stack for MmapStack {
    #[inline]
    fn top(&self) -> NonNull<u8> {
        self.0.top
    }

    #[inline]
    fn limit(&self) -> NonNull<u8> {
        self.0.limit
    }
}

// SAFETY: the value owns its mapping, and memory belongs to the process, not to a thread.
unsafe impl Send for Mapped {}

// SAFETY: a shared reference only gives addresses.
unsafe impl Sync for Mapped {}

impl Drop for Mapped {
    fn drop(&mut self) {
        self.registered = None;
        // SAFETY: the invariant of `limit`: no other code uses the mapping, and after this none
        // can.
        unsafe { refused::unmap(self.mapping()) };
    }
}

impl fmt::Debug for MmapStack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MmapStack").field("limit", &self.limit()).field("top", &self.top()).finish()
    }
}
