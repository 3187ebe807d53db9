//! Memory for the blocks of fibers. Freed blocks are reused, the newest first, without calling the
//! allocator. Their memory is still in the cache, and this takes a third of the steps. With many
//! blocks, the allocator would also return the memory to the kernel and ask for it again.
//!
//! A worker has two packs of blocks of each size, so that it seldom reaches the end of both. Full
//! packs go to a reserve that all workers share, and empty ones are replaced from there, so blocks
//! that are allocated by one worker and freed by another find their way back. When a worker is
//! idle, it frees what the reserve has too much of.
//!
//! # Safety
//!
//! Trusted with memory that has one owner: from [`take`] to [`give_back`] the caller, otherwise
//! this module.
#![expect(unsafe_code, reason = "memory is handed around")]

mod address;
mod pack;
mod reserve;
mod slab;

use std::alloc::{self, Layout, handle_alloc_error};
use std::cell::Cell;
use std::ptr::NonNull;

use std::sync::OnceLock;

use super::sync::Lock;
use crate::rt::base::impl_debug;
use pack::{Free, PACK, Pack};
pub(crate) use reserve::Walk;
use reserve::{RESERVE, Reserve};

/// Blocks have a multiple of this size, and are aligned to it.
const STEP: usize = 64;
/// How many sizes are kept. The smallest is one step.
const SIZES: usize = 8;

/// Returns the bytes of a size.
const fn bytes_of(size: usize) -> usize {
    (size + 1) * STEP
}

/// Where a block is from, and returns to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The kept blocks of one size.
    Kept,
    /// The allocator.
    Allocator,
}

/// The memory of a worker.
#[derive(Debug)]
pub(crate) struct Memory {
    sizes: [TwoPacks; SIZES],
    reserve: &'static Reserve,
}

/// The blocks of one size.
#[derive(Debug)]
struct TwoPacks {
    size: usize,
    /// Blocks are taken from here and returned here.
    open: Cell<Pack>,
    /// Full or empty.
    other: Cell<Pack>,
}

/// Returns the size of a type's blocks, if they are kept.
const fn size_for<T>() -> Option<usize> {
    let steps = size_of::<T>().div_ceil(STEP);
    // AddressSanitizer has to see each block freed.
    let is_kept = steps != 0 && steps <= SIZES && align_of::<T>() <= STEP && !cfg!(sinew_asan);
    if is_kept { Some(steps - 1) } else { None }
}

/// Allocates memory for one value that is not zero-sized. It must be freed by [`give_back`] for the
/// same type and origin.
#[inline]
pub(crate) fn take<T>(kept: Option<&Memory>) -> (NonNull<T>, Origin) {
    if let Some(size) = const { size_for::<T>() } {
        let block = match kept {
            Some(memory) => memory.take(size),
            None => take_from_outside(size),
        };
        if let Some(block) = block {
            return (block.cast(), Origin::Kept);
        }
    }
    (allocate(Layout::new::<T>()).cast(), Origin::Allocator)
}

/// Takes a block for a thread without memory of its own. All such threads share one.
#[cold]
#[inline(never)]
fn take_from_outside(size: usize) -> Option<NonNull<Free>> {
    static SHARED: OnceLock<Lock<Memory>> = OnceLock::new();
    SHARED.get_or_init(|| Lock::new(Memory::new())).lock().take(size)
}

/// Calls `look` with some blocks of the process, whether they are in use or not. Returns where to
/// continue. None of the blocks is freed meanwhile, and all were written at least once, or are
/// zero.
pub(crate) fn walk(from: Walk, look: impl FnMut(NonNull<u8>)) -> Option<Walk> {
    RESERVE.walk(from, look)
}

/// Calls `body` while no thread [walks](walk).
pub(crate) fn between_walks<R>(body: impl FnOnce() -> R) -> R {
    RESERVE.between_walks(body)
}

/// Frees memory.
///
/// # Safety
///
/// It is from [`take`] for the same type and of this origin, on any thread, and is not used any
/// more.
#[inline]
pub(crate) unsafe fn give_back<T>(keep: Option<&Memory>, place: NonNull<T>, origin: Origin) {
    match (keep, const { size_for::<T>() }) {
        // SAFETY: the caller's promise. The blocks of a type have its size.
        (Some(memory), Some(size)) if origin == Origin::Kept => unsafe {
            memory.give_back(size, place.cast())
        },
        // SAFETY: the caller's promise.
        _ => unsafe { give_back_rarely(place, origin) },
    }
}

/// # Safety
///
/// As for [`give_back`].
#[cold]
unsafe fn give_back_rarely<T>(place: NonNull<T>, origin: Origin) {
    if origin == Origin::Allocator {
        RESERVE.leave(place.cast());
        // SAFETY: the caller's promise: it was allocated with this layout.
        return unsafe { alloc::dealloc(place.as_ptr().cast(), Layout::new::<T>()) };
    }
    let mut pack = Pack::EMPTY;
    // SAFETY: the caller's promise.
    unsafe { pack.push(place.cast()) };
    RESERVE.give_back(pack);
}

#[cold]
#[inline(never)]
fn allocate(layout: Layout) -> NonNull<u8> {
    assert!(layout.size() > 0, "a block has a size");
    // SAFETY: the size is not zero.
    let block = NonNull::new(unsafe { alloc::alloc_zeroed(layout) });
    let block = block.unwrap_or_else(|| handle_alloc_error(layout));
    RESERVE.enter(block);
    block
}

impl Memory {
    /// Returns the memory of a worker. Its blocks come from the reserve of the process.
    pub(crate) fn new() -> Self {
        Self::of(&RESERVE)
    }

    fn of(reserve: &'static Reserve) -> Self {
        let two = |size| TwoPacks { size, open: Cell::new(Pack::EMPTY), other: Cell::new(Pack::EMPTY) };
        Self { sizes: std::array::from_fn(two), reserve }
    }

    #[inline]
    fn take(&self, size: usize) -> Option<NonNull<Free>> {
        let packs = &self.sizes[size];
        let mut open = packs.open.get();
        if open.first.is_none() {
            open = self.next_pack(packs)?;
        }
        let block = open.pop();
        packs.open.set(open);
        block
    }

    /// # Safety
    ///
    /// The block has this size, and is not used any more.
    #[inline]
    unsafe fn give_back(&self, size: usize, block: NonNull<Free>) {
        let packs = &self.sizes[size];
        if packs.open.get().count >= PACK {
            self.put_away(packs);
        }
        let mut open = packs.open.get();
        // SAFETY: the caller's promise.
        unsafe { open.push(block) };
        packs.open.set(open);
    }

    /// Returns a pack with blocks, in place of the empty open one.
    #[cold]
    fn next_pack(&self, packs: &TwoPacks) -> Option<Pack> {
        let other = packs.other.replace(Pack::EMPTY);
        if other.first.is_some() { Some(other) } else { self.reserve.take(packs.size) }
    }

    /// Replaces the full open pack by an empty one.
    #[cold]
    fn put_away(&self, packs: &TwoPacks) {
        let full = packs.other.replace(packs.open.replace(Pack::EMPTY));
        if full.first.is_some() {
            self.reserve.put(packs.size, full);
        }
    }

    /// Frees a pack if there are more than needed, while the worker is idle. Returns whether there
    /// was one.
    pub(crate) fn trim(&self) -> bool {
        self.reserve.trim()
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        for packs in &self.sizes {
            self.reserve.give_back(packs.open.get());
            self.reserve.give_back(packs.other.get());
        }
    }
}

impl_debug!(Reserve, |reserve| { packs: reserve.count(), .. });

// With AddressSanitizer, nothing is kept.
#[cfg(all(test, not(any(loom, sinew_asan))))]
mod tests;
