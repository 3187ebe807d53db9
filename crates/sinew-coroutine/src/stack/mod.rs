//! Stacks: the memory that a coroutine runs on. Knows no coroutine.
//!
//! # Safety
//!
//! Declares the trait whose implementors promise sound stack memory. Contains no unsafe operation
//! itself.
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

/// The least size of a stack for coroutines, in bytes.
///
/// It is enough for a small closure and a shallow call chain, and on most processors for a signal
/// handler that runs on the stack. The kernel saves all registers there: a few KiB of wide vectors
/// fit, but the 8 KiB of matrix registers (AMX) that a thread may use on some processors do not. It
/// is *not* enough for a panic that prints a backtrace, which takes some 22 KiB. An overflow is
/// defined, since it hits the guard, but it ends the process. For code whose stack use is unknown,
/// use at least 64 KiB.
pub const MIN_STACK_SIZE: usize = 8 * 1024;

/// Memory that a coroutine can run on.
///
/// # Safety
///
/// While the value exists, and wherever it is moved:
///
/// - All bytes from [`limit`](Self::limit) up to [`top`](Self::top) are readable and writable and
///   belong to this value alone; both addresses stay the same.
/// - An access in the page below the limit faults. Without this guard, safe code could overflow the
///   stack and silently corrupt memory.
/// - Forgetting the value leaves the memory in place forever. (Hence `'static`: a pinned value on a
///   coroutine's stack must not be overwritten because the coroutine was forgotten.)
pub unsafe trait Stack: 'static {
    /// Returns the address one past the highest usable byte. Stacks grow down from here.
    fn top(&self) -> NonNull<u8>;

    /// Returns the address of the lowest usable byte.
    fn limit(&self) -> NonNull<u8>;

    /// Prefetches the memory that is touched first when this stack is returned. This is a hint.
    fn prefetch(&self) {}

    /// Returns the number of usable bytes.
    fn size(&self) -> usize {
        self.top().addr().get().saturating_sub(self.limit().addr().get())
    }
}
