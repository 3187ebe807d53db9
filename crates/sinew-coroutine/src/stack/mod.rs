//! Stacks: the memory a coroutine runs on. Knows no coroutine.
//!
//! # Safety
//!
//! Declares the trait whose implementors vouch for stack memory; contains no unsafe operation itself.
#![expect(unsafe_code, reason = "the Stack trait is unsafe to implement")]

use core::ptr::NonNull;

mod boxed;
mod builder;
mod cache;
mod class;
mod few;
mod guard;
mod headroom;
mod high_water;
mod label;
mod mmap;
mod numbers;
mod occupied;
mod peek;
mod pool;
mod pool_error;
mod pooled;
mod refused;
pub(crate) mod registry;
mod seq_cell;
mod settings;
mod shared;
mod size;
mod slab;
pub(crate) mod slot;
mod stats;
mod sys;

pub use builder::StackPoolBuilder;
pub use cache::StackCache;
pub use guard::GuardKind;
pub use high_water::{clear_used, high_water};
pub use label::{Describe, Label};
pub use mmap::MmapStack;
pub use pool::StackPool;
pub use pool_error::StackError;
pub use pooled::PooledStack;
pub use size::{DEFAULT_STACK_SIZE, LARGEST_CLASS, SMALLEST_CLASS};
pub use stats::StackStats;

/// The least number of bytes that a stack for coroutines has.
///
/// It is enough for a small closure and a shallow call chain, and on most processors for a signal handler that runs on the
/// stack. The kernel saves all registers there: a few KiB of wide vectors do fit, the 8 KiB of matrix registers that a thread
/// may use on some processors (AMX) do not. It is *not* enough for a panic that prints a backtrace, which takes some 22 KiB:
/// overflowing a stack is defined (it hits the guard, and the process dies), but no pleasure. 64 KiB is a sensible least for
/// code that one does not know.
pub const MIN_STACK_SIZE: usize = 8 * 1024;

/// Memory that a coroutine can run on.
///
/// # Safety
///
/// For as long as the value exists, wherever it is moved:
///
/// - All bytes from [`limit`](Self::limit) up to [`top`](Self::top) are readable and writable and belong to this
///   value alone; both addresses stay the same.
/// - An access in the page below the limit faults. Without this guard an overflow would be silent corruption, caused
///   by safe code.
/// - Forgetting the value leaves the memory in place for ever. (Hence `'static`: what is pinned on a coroutine's stack
///   must not be overwritten because somebody forgot the coroutine.)
pub unsafe trait Stack: 'static {
    /// One past the highest usable byte. Stacks grow down from here.
    fn top(&self) -> NonNull<u8>;

    /// The lowest usable byte.
    fn limit(&self) -> NonNull<u8>;

    /// Has the memory fetched that whoever takes this stack back touches first. A hint.
    fn prefetch(&self) {}

    /// How many bytes are usable.
    fn size(&self) -> usize {
        self.top().addr().get().saturating_sub(self.limit().addr().get())
    }
}
