//! The system calls about memory. Knows pages and ranges, no stacks.
//!
//! # Safety
//!
//! Trusted with passing its arguments to the kernel unchanged. The callers know which code owns a
//! range and what may be done to it: every function that changes a mapping is unsafe and says so.
#![expect(unsafe_code, reason = "system calls")]

use core::ffi::c_void;
use core::ptr::{self, NonNull};
use std::io;

/// Keeps huge pages out of a range: a stack that uses 4 KiB must not take 2 MiB.
pub(crate) const NO_HUGE_PAGES: i32 = libc::MADV_NOHUGEPAGE;
/// Makes every access to a range fault, without a mapping of its own (Linux 6.13). libc does not
/// name it yet.
pub(crate) const GUARD_INSTALL: i32 = 102;

/// The calling thread, and so its process, for calls that take a process (`PIDFD_SELF_THREAD`,
/// Linux 6.14). Unlike a descriptor, it still means the caller after a fork. The number for the
/// process itself has changed since 6.14.
const THIS_PROCESS: libc::c_int = -10_000;

/// The most ranges that are passed to one call: 1 KiB of vectors, which fits on the smallest
/// stacks. More ranges per call are no faster.
pub(crate) const MOST_RANGES: usize = 64;

/// A range of addresses.
pub(crate) type Range = (NonNull<u8>, usize);

/// Returns the size of a page.
pub(crate) fn page_size() -> usize {
    // SAFETY: no precondition.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(size).expect("every system has a page size")
}

/// Maps fresh memory, readable and writable. It takes no physical memory until it is touched,
/// unless the process locks all its future memory, and not only on first touch: then all of it is
/// allocated at once.
pub(crate) fn map(length: usize) -> io::Result<NonNull<u8>> {
    map_with(length, libc::PROT_READ | libc::PROT_WRITE, libc::MAP_NORESERVE | libc::MAP_STACK)
}

/// Maps addresses without memory: every access faults.
pub(crate) fn map_nothing(length: usize) -> io::Result<NonNull<u8>> {
    map_with(length, libc::PROT_NONE, libc::MAP_NORESERVE)
}

fn map_with(length: usize, access: libc::c_int, flags: libc::c_int) -> io::Result<NonNull<u8>> {
    let flags = flags | libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: a new anonymous mapping at an address of the kernel's choice touches nothing that
    // exists.
    let address = unsafe { libc::mmap(ptr::null_mut(), length, access, flags, -1, 0) };
    if address == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    Ok(NonNull::new(address.cast()).expect("the kernel maps nothing at address zero"))
}

/// Unmaps a mapping. This may fail: if the kernel has merged this mapping with its neighbors,
/// unmapping splits the merged mapping in two, which may exceed the limit on mappings.
///
/// # Safety
///
/// The whole range was mapped here, and no code uses it any more.
pub(crate) unsafe fn unmap((start, length): Range) -> io::Result<()> {
    // SAFETY: the caller's promise.
    check(unsafe { libc::munmap(start.as_ptr().cast(), length) })
}

/// Makes every access to a range fault, at the cost of a mapping of its own.
///
/// # Safety
///
/// The caller owns the range, and no code uses it.
pub(crate) unsafe fn forbid((start, length): Range) -> io::Result<()> {
    // SAFETY: the caller's promise.
    check(unsafe { libc::mprotect(start.as_ptr().cast(), length, libc::PROT_NONE) })
}

/// Gives the kernel advice about a range.
///
/// # Safety
///
/// The caller owns the range, and does not need what the advice destroys.
pub(crate) unsafe fn advise((start, length): Range, advice: i32) -> io::Result<()> {
    // SAFETY: the caller's promise.
    check(unsafe { libc::madvise(start.as_ptr().cast(), length, advice) })
}

/// Frees the pages of ranges, even if they are locked (which a kernel older than Linux 5.18
/// refuses). They read as zeros afterwards, and guards stay.
///
/// # Safety
///
/// The caller owns the ranges, and does not need their contents.
pub(crate) unsafe fn free_each(ranges: &[Range]) -> io::Result<()> {
    // SAFETY: the caller's promise.
    let (done, result) = unsafe { advise_each(ranges, libc::MADV_DONTNEED) };
    if result.as_ref().is_err_and(|error| error.raw_os_error() == Some(libc::EINVAL)) {
        // SAFETY: the caller's promise.
        return unsafe { advise_each(&ranges[done..], libc::MADV_DONTNEED_LOCKED) }.1;
    }
    result
}

/// Gives the same advice about several ranges, in as few calls as the kernel allows. Returns how
/// many were advised, and the error that stopped it before the end.
///
/// # Safety
///
/// The same as for [`advise`], for each range.
pub(crate) unsafe fn advise_each(ranges: &[Range], advice: i32) -> (usize, io::Result<()>) {
    let mut done = 0;
    for batch in ranges.chunks(MOST_RANGES) {
        // SAFETY: the caller's promise.
        let taken = unsafe { advise_batch(batch, advice) };
        done += taken;
        if taken < batch.len() {
            break;
        }
    }
    // The ranges that the kernel did not take in one call are advised one by one, until all are
    // done or one returns an error.
    while done < ranges.len() {
        // SAFETY: the caller's promise.
        if let Err(error) = unsafe { advise(ranges[done], advice) } {
            return (done, Err(error));
        }
        done += 1;
    }
    (done, Ok(()))
}

/// Gives advice about some ranges in one call. Returns how many were advised: none if the kernel
/// does not have this call, or if there is only one range.
///
/// # Safety
///
/// The same as for [`advise`], for each range.
unsafe fn advise_batch(ranges: &[Range], advice: i32) -> usize {
    if ranges.len() == 1 {
        return 0;
    }
    let mut vectors = [libc::iovec { iov_base: ptr::null_mut(), iov_len: 0 }; MOST_RANGES];
    for (vector, (start, length)) in vectors.iter_mut().zip(ranges) {
        *vector = libc::iovec { iov_base: start.as_ptr().cast(), iov_len: *length };
    }
    let (call, vectors, count) = (libc::SYS_process_madvise, vectors.as_ptr(), ranges.len());
    // SAFETY: the vectors are `count` long. The caller promises that the ranges are valid.
    let bytes = unsafe { libc::syscall(call, THIS_PROCESS, vectors, count, advice, 0) };
    let mut bytes = usize::try_from(bytes).unwrap_or(0);
    ranges.iter().take_while(|(_, length)| take(&mut bytes, *length)).count()
}

/// Subtracts `length` from `left` and returns true if there is enough left.
fn take(left: &mut usize, length: usize) -> bool {
    let enough = *left >= length;
    *left = left.saturating_sub(length);
    enough
}

/// Writes for each page from an address on whether it is in memory (bit 0 of each byte). Pages that
/// are swapped out are not in memory.
pub(crate) fn resident(start: usize, length: usize, pages: &mut [u8]) -> io::Result<()> {
    assert!(pages.len() >= length.div_ceil(page_size()), "a byte for each page");
    let start = ptr::without_provenance_mut(start);
    // SAFETY: the kernel checks the range, which it does not touch, and writes a byte for each of
    // its pages.
    check(unsafe { libc::mincore(start, length, pages.as_mut_ptr()) })
}

/// Returns whether the kernel refuses to write to an address, which it does if and only if an
/// access there would fault. If not, writes four bytes.
pub(crate) fn faults(address: NonNull<u8>) -> bool {
    let (address, none) = (address.as_ptr(), ptr::null_mut::<c_void>());
    // This uses the call that returns the number of the processor, because it only writes that
    // number and never waits. It does not go through libc, which writes the number without the
    // kernel.
    //
    // SAFETY: the kernel writes the number or returns an error. Callers ask only about memory that
    // they own.
    let result = unsafe { libc::syscall(libc::SYS_getcpu, address, none, none) };
    result < 0 && io::Error::last_os_error().raw_os_error() == Some(libc::EFAULT)
}

fn check(result: libc::c_int) -> io::Result<()> {
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn ranges_that_cannot_be_advised_are_not_counted() {
        let page = page_size();
        let good = (map(page).expect("a page"), page);
        // SAFETY: the result lies within the page. Advice about a range that does not begin at a
        // page boundary is refused.
        let bad = (unsafe { good.0.add(1) }, page);
        const MOST: usize = MOST_RANGES;
        for (before, failing, after) in
            [(3, 0, 3), (3, 1, 3), (3, 1, MOST + 3), (3, 2, 3), (MOST, MOST, MOST), (3, MOST + 1, 3)]
        {
            let mut ranges = vec![good; before];
            ranges.extend(vec![bad; failing]);
            ranges.extend(vec![good; after]);
            // SAFETY: the page holds nothing.
            let (done, result) = unsafe { advise_each(&ranges, libc::MADV_DONTNEED) };
            let expected = if failing == 0 { before + after } else { before };
            assert_eq!((done, result.is_ok()), (expected, failing == 0), "{before}, {failing}, {after}");
        }
        // SAFETY: no code uses the page.
        unsafe { unmap(good) }.expect("it goes");
    }

    #[test]
    fn an_address_faults_only_where_nothing_is() {
        let page = page_size();
        let (nothing, memory) = (map_nothing(page).expect("a page"), map(page).expect("a page"));
        // In turn: a call that succeeds leaves the error of the one before.
        for _ in 0..2 {
            assert!(faults(nothing));
            assert!(!faults(memory));
        }
        for start in [nothing, memory] {
            // SAFETY: no code uses the page.
            unsafe { unmap((start, page)) }.expect("it goes");
        }
    }
}
