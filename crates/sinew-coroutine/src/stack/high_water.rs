//! How deep a stack has been used. Works on any stack.
//!
//! Memory that was never written is zero, and pages that were never touched are not in memory. The
//! kernel reports which pages are in memory. The lowest byte that is not zero in the lowest of
//! these pages is the mark.
//!
//! # Safety
//!
//! Trusted with reading and clearing memory of its callers' stacks. Other threads may write to the
//! memory that it reads: a suspended coroutine may have lent a part of its stack to a thread.
#![expect(unsafe_code, reason = "stack memory is read and cleared")]

use core::ptr::NonNull;

use super::{Stack, peek, sys};
use crate::sanitizer;

/// Returns how many bytes of a stack have been used: from its top down to the lowest byte that is
/// not zero.
///
/// This asks the kernel about the pages and reads the lowest page that is in memory. Together with
/// [`clear_used`] it takes about as long as two page faults (`mark_ns` of the `stack_pool`
/// workload). Stacks that are not measured pay nothing, so a program can leave it on for every n-th
/// stack.
///
/// A stack that is used again keeps the marks of earlier uses, unless it is [cleared](clear_used)
/// before its coroutine is created. Without that, the answer covers all uses since the stack last
/// lost its memory.
///
/// Bytes that were written as zero do not count. Pages that the system has swapped out count as
/// never touched, since the kernel does not distinguish them: on a system that swaps, the answer
/// may be too small.
///
/// ```
/// # use sinew_coroutine::{Coroutine, StackPool, clear_used, high_water};
/// fn dive(depth: usize) -> usize {
///     let frame = std::hint::black_box([1_u8; 1024]);
///     if depth == 0 { frame.len() } else { dive(depth - 1) + 1 }
/// }
///
/// let pool = StackPool::new();
/// let mut stack = pool.acquire(200_000)?;
/// clear_used(&mut stack);
/// let mut coroutine = Coroutine::<(), (), _, _>::new(stack, |_, ()| dive(20));
/// coroutine.resume(());
/// # // A sanitizer keeps large frames elsewhere.
/// # if cfg!(not(sinew_asan))
/// # {
/// let used = high_water(coroutine.stack());
/// assert!((20 * 1024..200_000).contains(&used));
/// # }
/// # Ok::<(), sinew_coroutine::StackError>(())
/// ```
pub fn high_water(stack: &impl Stack) -> usize {
    let Some(low) = lowest_present(stack) else { return 0 };
    let end = stack.top().addr().get();
    let lowest = first_nonzero(low, end).unwrap_or(end);
    end - lowest
}

/// Clears the part of a stack that was used, so that the next [`high_water`] reports only the next
/// use.
///
/// The part becomes zero and keeps its memory. Pages that are swapped out are not cleared.
///
/// ```
/// # use sinew_coroutine::{Coroutine, MmapStack, clear_used, high_water};
/// let mut coroutine = Coroutine::<(), (), (), _>::new(MmapStack::new(64 * 1024)?, |_, ()| {});
/// coroutine.resume(());
/// let mut stack = coroutine.into_stack().expect("it is done");
/// assert!(high_water(&stack) > 0);
/// clear_used(&mut stack);
/// assert_eq!(high_water(&stack), 0);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn clear_used(stack: &mut impl Stack) {
    let Some(low) = lowest_present(stack) else { return };
    sanitizer::forget_frames((stack.limit(), stack.size()));
    let length = stack.top().addr().get() - low.addr().get();
    // SAFETY: the stack is borrowed exclusively, so it is not in a coroutine, and nothing lives on
    // it.
    unsafe { low.write_bytes(0, length) };
}

/// Returns the lowest byte of a stack that is in memory. The kernel is asked about whole pages, and
/// a stack need not begin at a page boundary.
fn lowest_present(stack: &impl Stack) -> Option<NonNull<u8>> {
    const PAGES: usize = 1024;
    let page = sys::page_size();
    let (limit, end) = (stack.limit().addr().get(), stack.top().addr().get());
    let mut present = [0_u8; PAGES];
    let mut start = limit - limit % page;
    while start < end {
        let length = (end - start).min(PAGES * page);
        let present = &mut present[..length.div_ceil(page)];
        // If the kernel returns an error, the pages count as present.
        let found = match sys::resident(start, length, present) {
            Ok(()) => present.iter().position(|&byte| byte & 1 == 1),
            Err(_) => Some(0),
        };
        if let Some(index) = found {
            let above = (start + index * page).saturating_sub(limit);
            // SAFETY: the page begins below the top.
            return Some(unsafe { stack.limit().add(above) });
        }
        start += length;
    }
    None
}

/// Returns the address of the first byte from `start` up to `end` that is not zero. All of these
/// bytes belong to the callers' stack.
fn first_nonzero(start: NonNull<u8>, end: usize) -> Option<usize> {
    const WORD: usize = size_of::<u64>();
    let place = |at| start.as_ptr().with_addr(at).cast_const();
    // SAFETY: within the stack.
    let is_used = |at: &usize| unsafe { peek::byte(place(*at)) } != 0;
    // SAFETY: aligned, and within the stack.
    let is_used_word = |at: &usize| unsafe { peek::word(place(*at)) } != 0;
    // Reads words, and single bytes below the first and above the last word.
    let start = start.addr().get();
    let first = start.next_multiple_of(WORD).min(end);
    let last = (end - end % WORD).max(first);
    let word = || (first..last).step_by(WORD).find(is_used_word);
    (start..first).find(is_used).or_else(|| (word().unwrap_or(last)..end).find(is_used))
}
