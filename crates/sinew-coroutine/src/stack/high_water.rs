//! How deep a stack has been used. Knows any stack.
//!
//! Memory that was never written is zero, and pages that were never touched are not there: the kernel tells which are,
//! and in the lowest of those the lowest byte that is not zero is the mark. A stack that is used again carries the marks
//! of its past, unless it is [cleared](clear_used) first.
//!
//! # Safety
//!
//! Trusted with reading and clearing memory that its callers' stacks own.
#![expect(unsafe_code, reason = "stack memory is read and cleared")]

use core::ptr::NonNull;

use super::Stack;
use super::sys;

/// How many bytes of a stack have been used: from its top down to the lowest byte that is not zero.
///
/// It asks the kernel once about the pages and reads the lowest one that is there. Together with [`clear_used`] that is
/// about two page faults' time (`mark_ns` of the `stack_pool` workload), and nothing for stacks that are not asked about:
/// it can be left on for every n-th. Bytes that were written as zero do not count.
///
/// ```
/// use sinew_coroutine::{Coroutine, StackPool, high_water};
///
/// fn dive(depth: usize) -> usize {
///     let frame = std::hint::black_box([1_u8; 1024]);
///     if depth == 0 { frame.len() } else { dive(depth - 1) + 1 }
/// }
///
/// let pool = StackPool::new();
/// let mut coroutine = Coroutine::<(), (), _, _>::new(pool.acquire(200_000)?, |_, ()| dive(20));
/// coroutine.resume(());
/// # // A sanitizer keeps large frames elsewhere.
/// # if cfg!(not(sinew_asan))
/// # {
/// assert!(high_water(coroutine.stack()) > 20 * 1024);
/// # }
/// # Ok::<(), sinew_coroutine::StackError>(())
/// ```
pub fn high_water(stack: &impl Stack) -> usize {
    let Some(page) = lowest_page(stack) else { return 0 };
    let mut word = page;
    while word < stack.top() {
        // SAFETY: aligned, and within the stack's memory. Nothing runs on it: whoever runs does so on a thread that holds
        // the coroutine, and with it the stack, exclusively. Volatile, because no Rust value need be there.
        if unsafe { word.cast::<usize>().read_volatile() } != 0 {
            break;
        }
        // SAFETY: at most the top.
        word = unsafe { word.add(size_of::<usize>()) };
    }
    stack.top().addr().get().saturating_sub(word.addr().get())
}

/// Clears the part of a stack that was used, so that the next [`high_water`] tells of the next use alone.
pub fn clear_used(stack: &mut impl Stack) {
    let Some(page) = lowest_page(stack) else { return };
    let length = stack.top().addr().get() - page.addr().get();
    // SAFETY: memory of a stack that is borrowed exclusively and so not in a coroutine: nothing lives on it.
    unsafe { page.write_bytes(0, length) };
}

/// The lowest page of a stack that is in memory.
fn lowest_page(stack: &impl Stack) -> Option<NonNull<u8>> {
    const PAGES: usize = 1024;
    let page = sys::page_size();
    let mut low = stack.limit();
    let mut present = [0_u8; PAGES];
    while low < stack.top() {
        let length = (stack.top().addr().get() - low.addr().get()).min(PAGES * page);
        let present = &mut present[..length.div_ceil(page)];
        // What the kernel will not tell counts as present.
        if sys::resident((low, length), present).is_err() {
            return Some(low);
        }
        if let Some(index) = present.iter().position(|&byte| byte & 1 == 1) {
            // SAFETY: a page of this stack.
            return Some(unsafe { low.add(index * page) });
        }
        // SAFETY: at most the top.
        low = unsafe { low.add(length) };
    }
    None
}
