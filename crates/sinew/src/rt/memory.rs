//! Memory for the blocks of fibers. What a worker frees it uses again, the newest first, without asking the allocator: a block
//! that is still in the cache, for a third of the steps.
//!
//! # Safety
//!
//! Trusted with memory that nobody else has: from [`take`] to [`give_back`] it is the caller's, otherwise this module's.
#![expect(unsafe_code, reason = "memory is linked into lists while nobody uses it")]

use std::alloc::{self, Layout, handle_alloc_error};
use std::cell::Cell;
use std::ptr::NonNull;

/// Blocks come in multiples of this many bytes.
const STEP: usize = 64;
/// So many sizes are kept, the smallest of them one step.
const SIZES: usize = 8;
/// So many blocks of each size at most. What is more goes back to the allocator, which may give it back further.
const MOST: u32 = 256;
/// What the allocator aligns everything to.
const ALIGN: usize = 16;

/// What a worker keeps.
#[derive(Debug)]
pub(crate) struct Memory {
    lists: [List; SIZES],
}

/// Blocks of one size.
#[derive(Debug)]
struct List {
    /// # Invariant
    ///
    /// It and all that it links to are blocks of this list's size, which nobody else has.
    first: Cell<Option<NonNull<Free>>>,
    count: Cell<u32>,
}

/// A block that nobody uses.
#[derive(Debug)]
struct Free {
    next: Option<NonNull<Free>>,
}

/// Which list a type's blocks are in, if they are kept.
const fn list_of<T>() -> Option<usize> {
    let steps = size_of::<T>().div_ceil(STEP);
    // The checker of addresses is to see each block freed.
    let is_kept = steps != 0 && steps <= SIZES && align_of::<T>() <= ALIGN && !cfg!(sinew_asan);
    if !is_kept { None } else { Some(steps - 1) }
}

const fn layout_of<T>() -> Layout {
    match list_of::<T>() {
        Some(list) => layout(list),
        None => Layout::new::<T>(),
    }
}

const fn layout(list: usize) -> Layout {
    match Layout::from_size_align((list + 1) * STEP, ALIGN) {
        Ok(layout) => layout,
        Err(_) => panic!("the sizes are small"),
    }
}

/// Memory for one value, not zero-sized, to be given back by [`give_back`] for the same type.
#[inline]
pub(crate) fn take<T>(kept: Option<&Memory>) -> NonNull<T> {
    if let (Some(memory), Some(list)) = (kept, const { list_of::<T>() })
        && let Some(block) = memory.lists[list].pop()
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
    if let (Some(memory), Some(list)) = (keep, const { list_of::<T>() }) {
        let list = &memory.lists[list];
        if list.count.get() < MOST {
            // SAFETY: the caller's promise, and the size is the list's.
            return unsafe { list.push(place.cast()) };
        }
    }
    // SAFETY: the caller's promise: it was allocated with this layout.
    unsafe { alloc::dealloc(place.as_ptr().cast(), const { layout_of::<T>() }) };
}

#[cold]
#[inline(never)]
fn allocate(layout: Layout) -> NonNull<u8> {
    assert!(layout.size() > 0, "a block has a size");
    // SAFETY: the size is not zero.
    NonNull::new(unsafe { alloc::alloc(layout) }).unwrap_or_else(|| handle_alloc_error(layout))
}

impl List {
    const fn new() -> Self {
        Self { first: Cell::new(None), count: Cell::new(0) }
    }

    #[inline]
    fn pop(&self) -> Option<NonNull<Free>> {
        let first = self.first.get()?;
        // SAFETY: the invariant of `first`.
        self.first.set(unsafe { first.as_ref() }.next);
        self.count.set(self.count.get() - 1);
        Some(first)
    }

    /// # Safety
    ///
    /// The block is of this list's size, and nobody uses it.
    #[inline]
    unsafe fn push(&self, block: NonNull<Free>) {
        // SAFETY: the caller's promise; all sizes have room for it, and all blocks its alignment.
        unsafe { block.write(Free { next: self.first.get() }) };
        self.first.set(Some(block));
        self.count.set(self.count.get() + 1);
    }
}

impl Memory {
    pub(crate) const fn new() -> Self {
        Self { lists: [const { List::new() }; SIZES] }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        for (number, list) in self.lists.iter().enumerate() {
            while let Some(block) = list.pop() {
                // SAFETY: it was allocated with the layout of its list, and nobody has it.
                unsafe { alloc::dealloc(block.as_ptr().cast(), layout(number)) };
            }
        }
    }
}
