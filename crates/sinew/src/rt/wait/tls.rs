//! The thread-locals of this crate. All are constant-initialised, and only one has a destructor.
//!
//! Code on a stack that may move between threads must not keep a thread-local's address across a
//! suspension. The compiler may do so. So the accessors are not inlined, and what they return
//! passes through an assembly block that the compiler cannot see into.
//!
//! # Safety
//!
//! Trusted with the pointers: a worker's pointer is set by its thread and valid until that thread
//! resets it; a thread's block is never freed.
#![expect(unsafe_code, reason = "pointers that a thread keeps for itself, and an opaque barrier")]

use std::cell::Cell;
use std::num::NonZero;
use std::ptr;

use super::ambient::AmbientSlot;
use super::fiber_locals::FiberLocals;
use super::thread_block::ThreadBlock;
use super::thread_blocks;
use super::worker_local::WorkerLocal;
use crate::rt::base::ids;

thread_local! {
    static WORKER: Cell<*const WorkerLocal> = const { Cell::new(ptr::null()) };
    static LOCALS: FiberLocals = const { FiberLocals::new() };
    static AMBIENT: AmbientSlot = const { AmbientSlot::new() };
    static BLOCK: BlockCell = const { BlockCell(Cell::new(None)) };
    /// The block that the thread waits in after `BLOCK` is gone.
    #[cfg(not(loom))]
    static LATE: Cell<Option<&'static ThreadBlock>> = const { Cell::new(None) };
    /// The last random number, or zero before the first.
    static CHANCE: Cell<u32> = const { Cell::new(0) };
    #[cfg(not(loom))]
    static NUMBER: Cell<Option<NonZero<u64>>> = const { Cell::new(None) };
}

/// The thread-local with a destructor. When the thread ends, it returns the block that a plain
/// thread waits in to the pool, and drops the thread's fiber-locals. Those are in a thread-local of
/// their own, so that their destructors find the others.
struct BlockCell(Cell<Option<&'static ThreadBlock>>);

impl BlockCell {
    fn get(&self) -> &'static ThreadBlock {
        let block = self.0.get().unwrap_or_else(thread_blocks::take);
        self.0.set(Some(block));
        block
    }
}

impl Drop for BlockCell {
    fn drop(&mut self) {
        // If there are none now, there will be none: `ends_locals` returns false from here on.
        let panic = LOCALS.with(FiberLocals::end);
        // Not empty only if a coroutine was left in a region.
        AMBIENT.with(AmbientSlot::end);
        if let Some(block) = self.0.take() {
            thread_blocks::give_back(block);
        }
        if let Some(payload) = panic {
            // std aborts the process then, as for panics in destructors of its own thread-locals.
            std::panic::resume_unwind(payload);
        }
    }
}

/// Returns the [`WorkerLocal`] of the worker that the caller runs on, if there is one. Must not be
/// kept across a suspension.
#[inline]
pub(crate) fn worker_local() -> Option<&'static WorkerLocal> {
    // SAFETY: this thread has set the pointer, keeps its target alive until it resets it, and no
    // other thread has it.
    unsafe { worker_pointer().as_ref() }
}

/// Returns the pointer that the calling thread has [set](set_worker_local).
#[inline(never)]
pub(crate) fn worker_pointer() -> *const WorkerLocal {
    opaque(WORKER.get())
}

/// Sets the pointer, at the beginning and the end of a worker. Returns the previous one.
#[inline(never)]
pub(crate) fn set_worker_local(local: *const WorkerLocal) -> *const WorkerLocal {
    opaque(WORKER.replace(local))
}

#[cfg(loom)]
loom::thread_local! {
    static MODEL_BLOCK: &'static ThreadBlock = thread_blocks::take();
}

/// Returns the block that the calling thread of loom waits in. To std they are all one thread.
#[cfg(loom)]
pub(crate) fn thread_block() -> &'static ThreadBlock {
    MODEL_BLOCK.with(|block| *block)
}

/// Returns the block that the calling plain thread waits in.
#[cfg(not(loom))]
#[inline(never)]
pub(crate) fn thread_block() -> &'static ThreadBlock {
    BLOCK.try_with(BlockCell::get).unwrap_or_else(|_| late_block())
}

/// Returns the block of a thread that waits in a destructor of its thread-locals. It is never
/// returned to the pool. It is always the same one, since a canceller learns of it before the wait.
#[cfg(not(loom))]
#[cold]
fn late_block() -> &'static ThreadBlock {
    let block = LATE.get().unwrap_or_else(thread_blocks::take);
    LATE.set(Some(block));
    block
}

#[cfg(loom)]
loom::thread_local! {
    static MODEL_NUMBER: NonZero<u64> = ids::one();
}

/// Returns the number of the calling thread of loom.
#[cfg(loom)]
pub(crate) fn thread_id() -> NonZero<u64> {
    MODEL_NUMBER.with(|number| *number)
}

/// Returns the number of the calling thread. It stays the same while the thread runs, also while
/// its thread-locals are dropped.
#[cfg(not(loom))]
#[inline(never)]
pub(crate) fn thread_id() -> NonZero<u64> {
    NUMBER.get().unwrap_or_else(|| {
        let number = ids::one();
        NUMBER.set(Some(number));
        number
    })
}

/// Returns a random number, by Marsaglia's xorshift, which passes through all numbers but zero.
#[inline(never)]
pub(crate) fn chance() -> u32 {
    let mut number = match CHANCE.get() {
        // A different seed for each thread.
        0 => {
            CHANCE.with(|last| (ptr::from_ref(last).addr() as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32)
                as u32
                | 1
        }
        last => last,
    };
    number = shifted(number);
    CHANCE.set(number);
    number
}

/// Returns the number that follows this one.
fn shifted(mut number: u32) -> u32 {
    number ^= number << 13;
    number ^= number >> 17;
    number ^ number << 5
}

/// Passes the ambient values of the calling plain thread to `look`, which does not suspend.
#[inline(never)]
pub(crate) fn with_ambient<R>(look: impl FnOnce(&AmbientSlot) -> R) -> R {
    AMBIENT.with(look)
}

/// Returns the fiber-locals of the calling thread, valid while it runs. Must not be kept across a
/// suspension.
#[inline(never)]
pub(crate) fn thread_locals() -> *const FiberLocals {
    opaque(LOCALS.with(ptr::from_ref))
}

/// Registers the fiber-locals of the calling thread to be dropped at its end. Returns false if the
/// end has begun.
#[inline(never)]
pub(crate) fn ends_locals() -> bool {
    // The first use of a thread-local registers its destructor.
    BLOCK.try_with(|_| ()).is_ok()
}

#[inline(always)]
fn opaque<T>(mut pointer: *const T) -> *const T {
    // SAFETY: there is no instruction. The compiler has to assume that the value changes, and that
    // memory is read and written.
    unsafe { core::arch::asm!("/* {0} */", inout(reg) pointer, options(nostack, preserves_flags)) };
    pointer
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::shifted;

    /// The numbers published with the method.
    #[test]
    fn random_numbers_are_those_of_xorshift() {
        let mut number = 2_463_534_242;
        let first = [(); 3].map(|()| {
            number = shifted(number);
            number
        });
        assert_eq!(first, [723_471_715, 2_497_366_906, 2_064_144_800]);
    }
}
