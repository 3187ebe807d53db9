//! A list of blocks of slots, which grows as messages arrive and frees the blocks that are empty.
//! It keeps one empty block for later use: a channel whose receivers keep up does not allocate.
//!
//! # Safety
//!
//! Trusted with blocks as pointers: the sender has the last block, and the receiver the first one.
//! A block is linked before a message in it becomes visible, and freed after its last message was
//! taken: by then the sender has advanced to the next block.
#![expect(unsafe_code, reason = "blocks are pointers that both ends have")]

use std::ptr;

use super::slot::{Slot, boxed};
use super::store::Store;
use crate::rt::sync::{AtomicPtr, Ordering};

/// The number of messages for which a block has room.
pub(super) const LEN: usize = if cfg!(loom) { 2 } else { 31 };

/// A block of slots, with a link to the next block.
pub(super) struct MessageBlock<T> {
    next: Slot<*mut MessageBlock<T>>,
    slots: [Slot<T>; LEN],
}

/// The list.
pub(super) struct Blocks<T> {
    /// The first block of all, for the receiver of the first message.
    first: Slot<*mut MessageBlock<T>>,
    /// # Invariant
    ///
    /// Null, or from a box that has no other owner.
    spare: AtomicPtr<MessageBlock<T>>,
}

/// A position in the list: a block, and the next slot in it. The block is null before the first one
/// is linked.
pub(super) struct BlocksEnd<T> {
    block: *mut MessageBlock<T>,
    place: usize,
}

// SAFETY: a position moves between threads under a lock, with what it points to.
unsafe impl<T: Send> Send for BlocksEnd<T> {}
// SAFETY: a message is put by one thread and taken later by another, which `T: Send` allows.
unsafe impl<T: Send> Sync for Blocks<T> {}
// SAFETY: messages move with it, which `T: Send` allows.
unsafe impl<T: Send> Send for Blocks<T> {}

impl<T> MessageBlock<T> {
    fn new() -> Box<Self> {
        // SAFETY: a block consists of slots.
        unsafe { boxed(|| Self { next: Slot::new(), slots: std::array::from_fn(|_| Slot::new()) }) }
    }
}

impl<T> Blocks<T> {
    pub(super) fn new() -> Self {
        Self { first: Slot::new(), spare: AtomicPtr::new(ptr::null_mut()) }
    }

    /// Takes the block that was kept, if there is one.
    fn kept(&self) -> Option<Box<MessageBlock<T>>> {
        // Acquire: pairs with the release of `keep`.
        let block = self.spare.swap(ptr::null_mut(), Ordering::Acquire);
        // SAFETY: the invariant of `spare`; the swap has made this thread the owner.
        (!block.is_null()).then(|| unsafe { Box::from_raw(block) })
    }

    /// Links `block` behind the last block, and moves the sender's position to it.
    #[cold]
    fn append(&self, end: &mut BlocksEnd<T>, block: Box<MessageBlock<T>>) {
        let block = Box::into_raw(block);
        let link = match ptr::NonNull::new(end.block) {
            // SAFETY: the last block is not freed yet: the receiver frees it only after it has seen
            // a message behind it, in the block that is linked here.
            Some(last) => unsafe { &last.as_ref().next },
            None => &self.first,
        };
        // SAFETY: the link is empty: the sender reaches the end of a block once. The receiver reads
        // it only after it has seen a message behind it.
        unsafe { link.put(block) };
        *end = BlocksEnd { block, place: 0 };
    }

    /// Moves the receiver's position to the next block. Returns the previous block, which no other
    /// thread uses any more.
    ///
    /// # Safety
    ///
    /// There is a message behind the position, and the caller has observed that it was put.
    #[cold]
    unsafe fn go_on(&self, end: &mut BlocksEnd<T>) -> Option<Box<MessageBlock<T>>> {
        let before = ptr::NonNull::new(end.block);
        let link = match before {
            // SAFETY: only the receiver frees the block, and it has not done so yet.
            Some(block) => unsafe { &block.as_ref().next },
            None => &self.first,
        };
        // SAFETY: the caller's promise: the block was linked before the message was put.
        let block = unsafe { link.take() };
        *end = BlocksEnd { block, place: 0 };
        // SAFETY: it is from a box, its messages were taken, and the sender has advanced to the
        // next block.
        before.map(|block| unsafe { Box::from_raw(block.as_ptr()) })
    }
}

// SAFETY: both positions visit all slots of all blocks in the order in which the blocks are linked.
unsafe impl<T> Store<T> for Blocks<T> {
    type In = BlocksEnd<T>;
    type Out = BlocksEnd<T>;
    type Spare = Box<MessageBlock<T>>;

    fn ends() -> (BlocksEnd<T>, BlocksEnd<T>) {
        let end = || BlocksEnd { block: ptr::null_mut(), place: LEN };
        (end(), end())
    }

    #[inline]
    fn has_place(&self, end: &mut BlocksEnd<T>, spare: &mut Option<Box<MessageBlock<T>>>) -> bool {
        if end.place < LEN {
            return true;
        }
        let block = spare.take().or_else(|| self.kept());
        let has_more = block.is_some();
        block.into_iter().for_each(|block| self.append(end, block));
        has_more
    }

    #[cold]
    fn more(&self) -> Box<MessageBlock<T>> {
        MessageBlock::new()
    }

    #[inline]
    unsafe fn put(&self, end: &mut BlocksEnd<T>, message: T) {
        // SAFETY: `has_place` has returned true, so there is a block. It is not freed before its
        // last message is taken.
        let block = unsafe { &*end.block };
        // SAFETY: the slot was not used before, and receivers do not read it before the message is
        // counted.
        unsafe { block.slots[end.place].put(message) };
        end.place += 1;
    }

    #[inline]
    unsafe fn take(&self, end: &mut BlocksEnd<T>) -> (T, Option<Box<MessageBlock<T>>>) {
        let left = match end.place {
            // SAFETY: the caller's promise.
            LEN => unsafe { self.go_on(end) },
            _ => None,
        };
        // SAFETY: there is a message, so its block is not freed.
        let block = unsafe { &*end.block };
        // SAFETY: the caller's promise.
        let message = unsafe { block.slots[end.place].take() };
        end.place += 1;
        (message, left)
    }

    unsafe fn end(&mut self, input: BlocksEnd<T>, output: BlocksEnd<T>) {
        let blocks = [output.block, if input.block == output.block { ptr::null_mut() } else { input.block }];
        for block in blocks.into_iter().filter(|block| !block.is_null()) {
            // SAFETY: all messages were taken, so there are no blocks other than those at the two
            // positions.
            drop(unsafe { Box::from_raw(block) });
        }
        drop(self.kept());
    }

    fn keep(&self, spare: Box<MessageBlock<T>>) {
        // Release: pairs with the acquire of `kept`.
        let before = self.spare.swap(Box::into_raw(spare), Ordering::AcqRel);
        if !before.is_null() {
            // SAFETY: the invariant of `spare`; the swap has made this thread the owner.
            drop(unsafe { Box::from_raw(before) });
        }
    }
}
