//! The thread-locals of this crate. Constant, and without destructors but one.
//!
//! Code on a stack that may move between threads must not keep a thread-local's address from before a suspension. Whether
//! it does is up to the compiler, so the accessors are not inlined, and what they return passes through an assembly block
//! that the compiler cannot see into.
//!
//! # Safety
//!
//! Trusted with the pointers: a worker's is set by its thread for as long as it is there, a thread's block is never freed.
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
    /// What the thread waits in once that is gone.
    #[cfg(not(loom))]
    static LATE: Cell<Option<&'static ThreadBlock>> = const { Cell::new(None) };
    /// The last number by chance; zero, before there is one.
    static CHANCE: Cell<u32> = const { Cell::new(0) };
    #[cfg(not(loom))]
    static NUMBER: Cell<Option<NonZero<u64>>> = const { Cell::new(None) };
}

/// The one with a destructor: what a plain thread waits in goes back to the others when the thread ends, and its fiber-locals are
/// dropped. Those are in a place of their own, so that their destructors find the others.
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
        // If there are none now, there will be none: `ends_locals` says so from here on.
        let panic = LOCALS.with(FiberLocals::end);
        // There is something only if a coroutine was left in a region.
        AMBIENT.with(AmbientSlot::end);
        if let Some(block) = self.0.take() {
            thread_blocks::give_back(block);
        }
        if let Some(payload) = panic {
            // std has the process abort, as for the destructors of its own thread-locals.
            std::panic::resume_unwind(payload);
        }
    }
}

/// What the worker keeps that the caller runs on, if it does. Not to be kept across a suspension.
#[inline]
pub(crate) fn worker_local() -> Option<&'static WorkerLocal> {
    // SAFETY: the thread set it, keeps what it points to until it resets it, and nobody else has it.
    unsafe { worker_pointer().as_ref() }
}

/// The pointer that the calling thread has [set](set_worker_local).
#[inline(never)]
pub(crate) fn worker_pointer() -> *const WorkerLocal {
    opaque(WORKER.get())
}

/// Sets the pointer, at the beginning and the end of a worker. Returns the one before.
#[inline(never)]
pub(crate) fn set_worker_local(local: *const WorkerLocal) -> *const WorkerLocal {
    opaque(WORKER.replace(local))
}

#[cfg(loom)]
loom::thread_local! {
    static MODEL_BLOCK: &'static ThreadBlock = thread_blocks::take();
}

/// What the calling thread of the checker waits in. To std they are all one thread.
#[cfg(loom)]
pub(crate) fn thread_block() -> &'static ThreadBlock {
    MODEL_BLOCK.with(|block| *block)
}

/// What the calling thread waits in, if it is a plain thread.
#[cfg(not(loom))]
#[inline(never)]
pub(crate) fn thread_block() -> &'static ThreadBlock {
    BLOCK.try_with(BlockCell::get).unwrap_or_else(|_| late_block())
}

/// What a thread waits in that does so in a destructor of its thread-locals: never given back. It is one and the same, since whoever stops the
/// thread is told of it before the wait.
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

/// The number of the calling thread of the checker.
#[cfg(loom)]
pub(crate) fn thread_id() -> NonZero<u64> {
    MODEL_NUMBER.with(|number| *number)
}

/// The number of the calling thread. It is the same for as long as the thread runs, also while its thread-locals are dropped.
#[cfg(not(loom))]
#[inline(never)]
pub(crate) fn thread_id() -> NonZero<u64> {
    NUMBER.get().unwrap_or_else(|| {
        let number = ids::one();
        NUMBER.set(Some(number));
        number
    })
}

/// A number by chance, by Marsaglia's xorshift: it passes through all numbers but zero.
#[inline(never)]
pub(crate) fn chance() -> u32 {
    let mut number = match CHANCE.get() {
        // Another one for each thread.
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

/// The number after this one.
fn shifted(mut number: u32) -> u32 {
    number ^= number << 13;
    number ^= number >> 17;
    number ^ number << 5
}

/// Shows what is in force for the calling thread, if it is a plain thread, to `look`, which does not suspend.
#[inline(never)]
pub(crate) fn with_ambient<R>(look: impl FnOnce(&AmbientSlot) -> R) -> R {
    AMBIENT.with(look)
}

/// The fiber-locals of the calling thread, for as long as it runs. Not to be kept across a suspension.
#[inline(never)]
pub(crate) fn thread_locals() -> *const FiberLocals {
    opaque(LOCALS.with(ptr::from_ref))
}

/// Has the fiber-locals of the calling thread dropped at its end. False, if that has come.
#[inline(never)]
pub(crate) fn ends_locals() -> bool {
    // The first use of a thread-local is what has its destructor called.
    BLOCK.try_with(|_| ()).is_ok()
}

#[inline(always)]
fn opaque<T>(mut pointer: *const T) -> *const T {
    // SAFETY: no instruction; the compiler has to assume that the value changes and that memory is read and written.
    unsafe { core::arch::asm!("/* {0} */", inout(reg) pointer, options(nostack, preserves_flags)) };
    pointer
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::shifted;

    /// As published with the method.
    #[test]
    fn numbers_by_chance_are_those_of_xorshift() {
        let mut number = 2_463_534_242;
        let first = [(); 3].map(|()| {
            number = shifted(number);
            number
        });
        assert_eq!(first, [723_471_715, 2_497_366_906, 2_064_144_800]);
    }
}
