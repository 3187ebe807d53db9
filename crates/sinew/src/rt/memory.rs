//! Memory for the blocks of fibers. What was freed is used again, the newest first, without asking the allocator: memory that is
//! still in the cache, for a third of the steps, and which the allocator would have given to the kernel and asked back for when
//! there are many.
//!
//! A worker has two packs of blocks of each size, so that it seldom gets to the end of both. Full ones go to a reserve that all
//! workers of an engine share, and empty ones are replaced from there: blocks that are made by one worker and freed by another
//! find their way back. When a worker has nothing to do, it gives what the reserve has too much of to the allocator.
//!
//! # Safety
//!
//! Trusted with memory that nobody else has: from [`take`] to [`give_back`] it is the caller's, otherwise this module's.
#![expect(unsafe_code, reason = "memory is linked into lists while nobody uses it")]

use std::alloc::{self, Layout, handle_alloc_error};
use std::cell::Cell;
use std::mem;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Blocks come in multiples of this many bytes.
const STEP: usize = 64;
/// So many sizes are kept, the smallest of them one step.
const SIZES: usize = 8;
/// How many blocks are in a full pack.
const PACK: u32 = 128;
/// So many packs of all sizes together are kept when there is nothing to do.
const PACKS_AT_REST: usize = 8;
/// What the allocator aligns everything to.
const ALIGN: usize = 16;

/// What a worker keeps.
#[derive(Debug)]
pub(crate) struct Memory {
    sizes: [TwoPacks; SIZES],
    reserve: Arc<Reserve>,
}

/// Blocks of one size.
#[derive(Debug)]
struct TwoPacks {
    size: usize,
    /// Blocks are taken from and put here.
    open: Cell<Pack>,
    /// Full, or empty.
    other: Cell<Pack>,
}

/// Blocks of one size, linked together.
///
/// # Invariant
///
/// `first` and what it links to are `count` blocks that nobody else has.
#[derive(Clone, Copy, Debug)]
struct Pack {
    first: Option<NonNull<Free>>,
    count: u32,
}

/// A block that nobody uses.
#[derive(Debug)]
struct Free {
    next: Option<NonNull<Free>>,
}

// SAFETY: memory belongs to no thread.
unsafe impl Send for Pack {}

/// What the workers of an engine share.
#[derive(Debug, Default)]
pub(crate) struct Reserve {
    /// Full packs of each size.
    packs: Mutex<[Vec<Pack>; SIZES]>,
    /// How many there are of all sizes, for a look without the lock.
    count: AtomicUsize,
}

/// Which place among the sizes a type's blocks have, if they are kept.
const fn place_of<T>() -> Option<usize> {
    let steps = size_of::<T>().div_ceil(STEP);
    // The checker of addresses is to see each block freed.
    let is_kept = steps != 0 && steps <= SIZES && align_of::<T>() <= ALIGN && !cfg!(sinew_asan);
    if is_kept { Some(steps - 1) } else { None }
}

const fn layout_of<T>() -> Layout {
    match place_of::<T>() {
        Some(size) => layout(size),
        None => Layout::new::<T>(),
    }
}

const fn layout(size: usize) -> Layout {
    match Layout::from_size_align((size + 1) * STEP, ALIGN) {
        Ok(layout) => layout,
        Err(_) => panic!("the sizes are small"),
    }
}

/// Memory for one value, not zero-sized, to be given back by [`give_back`] for the same type.
#[inline]
pub(crate) fn take<T>(kept: Option<&Memory>) -> NonNull<T> {
    if let (Some(memory), Some(size)) = (kept, const { place_of::<T>() })
        && let Some(block) = memory.take(size)
    {
        return block.cast();
    }
    allocate(const { layout_of::<T>() }).cast()
}

/// Takes memory back.
///
/// # Safety
///
/// It is from [`take`] for the same type, whoever called that, and nobody uses it any more.
#[inline]
pub(crate) unsafe fn give_back<T>(keep: Option<&Memory>, place: NonNull<T>) {
    match (keep, const { place_of::<T>() }) {
        // SAFETY: the caller's promise; a type's blocks have its size.
        (Some(memory), Some(size)) => unsafe { memory.give_back(size, place.cast()) },
        // SAFETY: the caller's promise: it was allocated with this layout.
        _ => unsafe { alloc::dealloc(place.as_ptr().cast(), const { layout_of::<T>() }) },
    }
}

#[cold]
#[inline(never)]
fn allocate(layout: Layout) -> NonNull<u8> {
    assert!(layout.size() > 0, "a block has a size");
    // SAFETY: the size is not zero.
    NonNull::new(unsafe { alloc::alloc(layout) }).unwrap_or_else(|| handle_alloc_error(layout))
}

impl Pack {
    const EMPTY: Self = Self { first: None, count: 0 };

    #[inline]
    fn pop(&mut self) -> Option<NonNull<Free>> {
        let first = self.first?;
        // SAFETY: the invariant: it is ours.
        self.first = unsafe { first.as_ref() }.next;
        self.count -= 1;
        Some(first)
    }

    /// # Safety
    ///
    /// The block is of the size of the others, and nobody uses it.
    #[inline]
    unsafe fn push(&mut self, block: NonNull<Free>) {
        // SAFETY: the caller's promise; all sizes have room for it, and all blocks its alignment.
        unsafe { block.write(Free { next: self.first }) };
        *self = Self { first: Some(block), count: self.count + 1 };
    }

    /// Gives all blocks, of this size, to the allocator.
    fn free(mut self, size: usize) {
        while let Some(block) = self.pop() {
            // SAFETY: it was allocated with the layout of its size, and nobody has it.
            unsafe { alloc::dealloc(block.as_ptr().cast(), layout(size)) };
        }
    }
}

impl Memory {
    pub(crate) fn new(reserve: Arc<Reserve>) -> Self {
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
    /// The block is of this size, and nobody uses it.
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

    /// The open pack is empty: another one, with blocks in it.
    #[cold]
    fn next_pack(&self, packs: &TwoPacks) -> Option<Pack> {
        let other = packs.other.replace(Pack::EMPTY);
        if other.first.is_some() { Some(other) } else { self.reserve.take(packs.size) }
    }

    /// The open pack is full: an empty one takes its place.
    #[cold]
    fn put_away(&self, packs: &TwoPacks) {
        let full = packs.other.replace(packs.open.replace(Pack::EMPTY));
        if full.first.is_some() {
            self.reserve.put(packs.size, full);
        }
    }

    /// The worker has nothing to do: gives a pack to the allocator, if there are more than need be. Whether there was one.
    pub(crate) fn trim(&self) -> bool {
        self.reserve.trim()
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        for packs in &self.sizes {
            packs.open.get().free(packs.size);
            packs.other.get().free(packs.size);
        }
    }
}

impl Reserve {
    fn take(&self, size: usize) -> Option<Pack> {
        // A pack that comes a moment later is for the next one.
        if self.count.load(Ordering::Relaxed) == 0 {
            return None;
        }
        let pack = self.lock()[size].pop()?;
        self.count.fetch_sub(1, Ordering::Relaxed);
        Some(pack)
    }

    fn put(&self, size: usize, pack: Pack) {
        self.count.fetch_add(1, Ordering::Relaxed);
        self.lock()[size].push(pack);
    }

    fn trim(&self) -> bool {
        if self.count.load(Ordering::Relaxed) <= PACKS_AT_REST {
            return false;
        }
        let mut packs = self.lock();
        let most = (0..SIZES).max_by_key(|&size| packs[size].len() * (size + 1));
        let Some((size, pack)) = most.and_then(|size| Some((size, packs[size].pop()?))) else { return false };
        drop(packs);
        self.count.fetch_sub(1, Ordering::Relaxed);
        pack.free(size);
        true
    }

    fn lock(&self) -> MutexGuard<'_, [Vec<Pack>; SIZES]> {
        self.packs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Reserve {
    fn drop(&mut self) {
        let packs = mem::take(&mut *self.lock());
        for (size, packs) in packs.into_iter().enumerate() {
            packs.into_iter().for_each(|pack| pack.free(size));
        }
    }
}

// With the checker of addresses, nothing is kept.
#[cfg(all(test, not(any(loom, sinew_asan))))]
mod tests {
    use super::*;

    type Block = [u64; 20];

    /// So many blocks, each written from end to end.
    fn take_many(memory: &Memory, count: usize) -> Vec<NonNull<Block>> {
        let fill = |number| {
            let block = take::<Block>(Some(memory));
            // SAFETY: it is ours.
            unsafe { block.write([number as u64; 20]) };
            block
        };
        (0..count).map(fill).collect()
    }

    fn give_all_back(memory: &Memory, blocks: Vec<NonNull<Block>>) {
        for (number, block) in blocks.into_iter().enumerate() {
            // SAFETY: it is ours, and was written.
            assert_eq!(unsafe { block.read() }, [number as u64; 20], "nobody else has it");
            // SAFETY: it was taken for the same type.
            unsafe { give_back(Some(memory), block) };
        }
    }

    #[test]
    fn blocks_are_used_again_wherever_they_were_freed() {
        let reserve = Arc::<Reserve>::default();
        let (one, two) = (Memory::new(reserve.clone()), Memory::new(reserve.clone()));
        let blocks = take_many(&one, 5_000);
        let mut first: Vec<_> = blocks.clone();
        give_all_back(&two, blocks);
        let kept = reserve.count.load(Ordering::Relaxed) * PACK as usize;
        assert!(kept > 4_000, "the reserve has most of them: {kept}");
        let again = take_many(&one, kept);
        first.sort_unstable();
        let known = again.iter().filter(|block| first.binary_search(block).is_ok()).count();
        assert_eq!(known, kept, "they come back to the one that makes them");
        give_all_back(&one, again);
    }

    #[test]
    fn what_is_too_much_at_rest_goes_to_the_allocator() {
        let reserve = Arc::<Reserve>::default();
        let memory = Memory::new(reserve.clone());
        let blocks = take_many(&memory, 10_000);
        give_all_back(&memory, blocks);
        let packs = reserve.count.load(Ordering::Relaxed);
        assert_eq!(std::iter::from_fn(|| memory.trim().then_some(())).count(), packs - PACKS_AT_REST);
        assert_eq!(reserve.count.load(Ordering::Relaxed), PACKS_AT_REST);
    }

    #[test]
    fn large_and_aligned_values_are_the_allocators_own() {
        #[repr(align(64))]
        #[derive(Clone, Copy)]
        struct Aligned(u8);
        let memory = Memory::new(Arc::default());
        let block = take::<Aligned>(Some(&memory));
        // SAFETY: it is ours.
        unsafe { block.write(Aligned(1)) };
        // SAFETY: it was written.
        assert_eq!(unsafe { block.read() }.0, 1);
        assert!(block.addr().get().is_multiple_of(64));
        // SAFETY: it was taken for the same type.
        unsafe { give_back(Some(&memory), block) };
        let block = take::<[u64; 1_000]>(Some(&memory));
        // SAFETY: as above.
        unsafe { give_back(Some(&memory), block) };
        assert!(memory.sizes.iter().all(|packs| packs.open.get().count == 0));
    }
}
