//! A list of blocks of places, which grows as messages come and gives back what nobody needs. One block that was emptied is kept for
//! the next time: a channel whose receivers keep up allocates nothing.
//!
//! # Safety
//!
//! Trusted with blocks as pointers: whoever puts has the last one, and whoever takes the first one. A block is linked before a message in it
//! is seen, and given up when its last message was taken: by then whoever puts has gone on to the next one.
#![expect(unsafe_code, reason = "blocks are pointers that both ends have")]

use std::ptr;

use super::slot::{Slot, boxed};
use super::store::Store;
use crate::rt::sync::{AtomicPtr, Ordering};

/// How many messages a block has room for.
pub(super) const LEN: usize = if cfg!(loom) { 2 } else { 31 };

/// Some places, and the block after this one.
pub(super) struct MessageBlock<T> {
    next: Slot<*mut MessageBlock<T>>,
    slots: [Slot<T>; LEN],
}

/// The list.
pub(super) struct Blocks<T> {
    /// The first block of all, for whoever takes the first message.
    first: Slot<*mut MessageBlock<T>>,
    /// # Invariant
    ///
    /// Null, or from a box that is nobody's.
    spare: AtomicPtr<MessageBlock<T>>,
}

/// A block, and which of its places is next. None, before there is one.
pub(super) struct BlocksEnd<T> {
    block: *mut MessageBlock<T>,
    place: usize,
}

// SAFETY: an end goes from one thread to the next under a lock, with what it points to.
unsafe impl<T: Send> Send for BlocksEnd<T> {}
// SAFETY: a message is put by one thread and taken by another, one after the other, which `T: Send` allows.
unsafe impl<T: Send> Sync for Blocks<T> {}
// SAFETY: messages go along.
unsafe impl<T: Send> Send for Blocks<T> {}

impl<T> MessageBlock<T> {
    fn new() -> Box<Self> {
        // SAFETY: it is made of slots.
        unsafe { boxed(|| Self { next: Slot::new(), slots: std::array::from_fn(|_| Slot::new()) }) }
    }
}

impl<T> Blocks<T> {
    pub(super) fn new() -> Self {
        Self { first: Slot::new(), spare: AtomicPtr::new(ptr::null_mut()) }
    }

    /// The block that was kept, if there is one.
    fn kept(&self) -> Option<Box<MessageBlock<T>>> {
        // Acquire: pairs with the release of `keep`.
        let block = self.spare.swap(ptr::null_mut(), Ordering::Acquire);
        // SAFETY: the invariant of `spare`, and now it is this one's.
        (!block.is_null()).then(|| unsafe { Box::from_raw(block) })
    }

    /// Has whoever puts go on to this block.
    #[cold]
    fn append(&self, end: &mut BlocksEnd<T>, block: Box<MessageBlock<T>>) {
        let block = Box::into_raw(block);
        let link = match ptr::NonNull::new(end.block) {
            // SAFETY: the last block is there: its last message, if any, is not taken before the next one is seen to be linked.
            Some(last) => unsafe { &last.as_ref().next },
            None => &self.first,
        };
        // SAFETY: it is empty: the end was there once. Whoever takes looks only after it has seen a message behind it.
        unsafe { link.put(block) };
        *end = BlocksEnd { block, place: 0 };
    }

    /// Has whoever takes go on to the next block. Returns the one before, of which nobody knows any more.
    ///
    /// # Safety
    ///
    /// There is a message behind the end, and the caller has seen that it was put.
    #[cold]
    unsafe fn go_on(&self, end: &mut BlocksEnd<T>) -> Option<Box<MessageBlock<T>>> {
        let before = ptr::NonNull::new(end.block);
        let link = match before {
            // SAFETY: this is the one to give it up.
            Some(block) => unsafe { &block.as_ref().next },
            None => &self.first,
        };
        // SAFETY: the caller's promise: it was linked before the message was put.
        let block = unsafe { link.take() };
        *end = BlocksEnd { block, place: 0 };
        // SAFETY: it is from a box, its messages were taken, and whoever puts has gone on.
        before.map(|block| unsafe { Box::from_raw(block.as_ptr()) })
    }
}

// SAFETY: both ends pass all places of all blocks in the order in which those are linked.
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
        // SAFETY: `has_place` has said so, so there is a block, and it is not given up before its last message is taken.
        let block = unsafe { &*end.block };
        // SAFETY: nothing was put there before, and nobody looks before it is told.
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
        // SAFETY: there is a message, so its block is there.
        let block = unsafe { &*end.block };
        // SAFETY: the caller's promise.
        let message = unsafe { block.slots[end.place].take() };
        end.place += 1;
        (message, left)
    }

    unsafe fn end(&mut self, input: BlocksEnd<T>, output: BlocksEnd<T>) {
        let blocks = [output.block, if input.block == output.block { ptr::null_mut() } else { input.block }];
        for block in blocks.into_iter().filter(|block| !block.is_null()) {
            // SAFETY: all messages were taken, so there are no blocks but those that the ends have.
            drop(unsafe { Box::from_raw(block) });
        }
        drop(self.kept());
    }

    fn keep(&self, spare: Box<MessageBlock<T>>) {
        // Release: pairs with the acquire of `kept`.
        let before = self.spare.swap(Box::into_raw(spare), Ordering::AcqRel);
        if !before.is_null() {
            // SAFETY: the invariant of `spare`, and now it is this one's.
            drop(unsafe { Box::from_raw(before) });
        }
    }
}
