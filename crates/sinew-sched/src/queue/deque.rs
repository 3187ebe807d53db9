//! A deque of a worker's own tasks, which other workers may steal. Knows no worker.
//!
//! The owner pushes and pops at the bottom, newest first; thieves, and the owner when it wants the
//! oldest, take from the top. It is Chase and Lev's deque with a ring that grows, and with three
//! differences:
//!
//! - Slots are atomic pointers, so that a thief that loses reads a stale word and not a torn task.
//! - The owner frees an outgrown ring as soon as no thief is inside; thieves count themselves in
//!   and out. Outgrown rings are rare, while an epoch scheme would access its thread-local in every
//!   steal.
//! - A thief can see that it would take the last task, the owner's newest child, and may leave it.
//!
//! # Why no task is taken twice, and none lost
//!
//! An index at the top is taken only by the CAS that moves `top` past it, so by one thread. The
//! owner takes an index at the bottom without a CAS only if `top` is lower *after* it has announced
//! the index by lowering `bottom`. A thief reads `top`, then `bottom`, with a fence between; the
//! owner writes `bottom`, then reads `top`, with a fence between. At least one of them sees the
//! other: either the thief sees the lowered bottom and leaves the index, or the owner sees that
//! `top` has reached it and competes by CAS. Without either fence both may take it: the model
//! fails.
//!
//! # Why no ring is freed under a thief
//!
//! A thief counts itself in, then loads the ring's address, with a fence between; the owner stores
//! the new ring's address, then reads the count, with a fence between. If it reads zero, each thief
//! either has counted itself out (its release pairs with the owner's acquire) or loads the new
//! address.
//!
//! # Safety
//!
//! Trusted with the rings, and with handing each task to one taker.
#![expect(unsafe_code, reason = "a ring is shared by pointer with thieves")]

use core::cell::{Cell, RefCell};
use core::fmt;
use core::ptr::NonNull;

use crossbeam_utils::CachePadded;

use super::buffer::Buffer;
use crate::sync::{Arc, AtomicIsize, AtomicPtr, AtomicUsize, Fence, Ordering, full_fence, store_then_fence};
use crate::task::{Header, TaskRef};

/// The capacity of the first ring. Small under the checker, so that it grows there.
const FIRST: usize = if cfg!(loom) { 2 } else { 256 };

struct Shared {
    /// The index of the oldest task. Only grows.
    top: CachePadded<AtomicIsize>,
    /// One past the index of the newest task. Written by the owner alone.
    bottom: CachePadded<AtomicIsize>,
    /// # Invariant
    ///
    /// From `Box::into_raw`. Holds the tasks from `top` to `bottom`. Freed by the owner when no
    /// thief is inside.
    buffer: AtomicPtr<Buffer>,
    /// Thieves that may be using a ring.
    thieves: AtomicUsize,
}

/// The end of a deque that its owner uses.
pub(crate) struct Owner {
    shared: Arc<Shared>,
    /// The deque's ring, so that the owner does not read shared memory for it.
    ///
    /// # Invariant
    ///
    /// As `Shared::buffer`, which the owner alone changes.
    buffer: Cell<NonNull<Buffer>>,
    /// The index at which the ring looks full: no higher than its capacity above `top`, which the
    /// owner reads only then.
    full: Cell<isize>,
    /// Outgrown rings, which thieves may still be using.
    retired: RefCell<Vec<Retired>>,
}

/// An outgrown ring.
///
/// # Invariant
///
/// From `Box::into_raw`, and no longer the ring of its deque.
struct Retired(NonNull<Buffer>);

// SAFETY: a ring is not tied to a thread.
unsafe impl Send for Retired {}

/// The end of a deque that other workers use.
#[derive(Clone)]
pub(crate) struct Thief {
    shared: Arc<Shared>,
}

/// The result of stealing.
#[derive(Debug)]
pub(crate) enum Steal {
    Task(TaskRef),
    /// The deque is empty.
    Empty,
    /// Another thread took the task first: there may be more.
    Lost,
}

/// Returns the two ends of an empty deque.
pub(crate) fn deque() -> (Owner, Thief) {
    let buffer = NonNull::from(Box::leak(Box::new(Buffer::new(FIRST))));
    let shared = Arc::new(Shared {
        top: CachePadded::new(AtomicIsize::new(0)),
        bottom: CachePadded::new(AtomicIsize::new(0)),
        buffer: AtomicPtr::new(buffer.as_ptr()),
        thieves: AtomicUsize::new(0),
    });
    let thief = Thief { shared: shared.clone() };
    let full = Cell::new(FIRST.cast_signed());
    (Owner { shared, buffer: Cell::new(buffer), full, retired: RefCell::default() }, thief)
}

// SAFETY: a ring is not tied to a thread, and one thread at a time has the owner.
unsafe impl Send for Owner {}

impl Owner {
    /// Adds a task as the newest.
    #[inline]
    pub(crate) fn push(&self, task: TaskRef) {
        let bottom = self.place(task);
        // Release: a thief that reads this bottom sees the slot, and the task that it points to.
        self.shared.bottom.store(bottom + 1, Ordering::Release);
    }

    /// Adds a task as the newest, and orders that before the caller's later loads.
    #[inline]
    pub(crate) fn push_loudly(&self, task: TaskRef) {
        let bottom = self.place(task);
        store_then_fence(&self.shared.bottom, bottom + 1, Fence::Announce);
    }

    /// Writes a task into the slot above the newest one, and returns its index.
    #[inline]
    fn place(&self, task: TaskRef) -> isize {
        // Relaxed: only the owner writes it.
        let bottom = self.shared.bottom.load(Ordering::Relaxed);
        if bottom >= self.full.get() {
            self.make_room(bottom);
        }
        self.buffer().set(bottom, task.into_raw().as_ptr());
        bottom
    }

    /// Returns the newest task, unless a thief is taking it.
    #[inline]
    pub(crate) fn newest(&self) -> Option<NonNull<Header>> {
        let bottom = self.shared.bottom.load(Ordering::Relaxed);
        // Only the owner writes slots. The slot's content is stale if it is below the top, and a
        // thief may take the task meanwhile.
        let is_there = bottom > self.shared.top.load(Ordering::Relaxed);
        is_there.then(|| NonNull::new(self.buffer().get(bottom - 1))).flatten()
    }

    /// Takes the newest task.
    #[inline]
    pub(crate) fn pop(&self) -> Option<TaskRef> {
        let bottom = self.shared.bottom.load(Ordering::Relaxed) - 1;
        // `top` only grows: a deque that is empty now stays empty, and needs no announcement.
        let top = self.shared.top.load(Ordering::Relaxed);
        if bottom < top {
            return None;
        }
        if bottom == top {
            // The owner competes for the last task in any case: it takes it as a thief would,
            // without an announcement.
            // SAFETY: the CAS gives the index to this call.
            return self.shared.advance(top).then(|| unsafe { self.take(top) });
        }
        // The announcement, before `top` is read. Pairs with the fence in `steal`.
        store_then_fence(&self.shared.bottom, bottom, Fence::Pop);
        let top = self.shared.top.load(Ordering::SeqCst);
        if top < bottom {
            // SAFETY: no thief can take this index any more; see the top of this file.
            return Some(unsafe { self.take(bottom) });
        }
        let won = top == bottom && self.shared.advance(top);
        // Restore the bottom: the deque is empty, at its top.
        self.shared.bottom.store(bottom + 1, Ordering::Release);
        // SAFETY: the CAS gave the index to this call.
        won.then(|| unsafe { self.take(bottom) })
    }

    /// Takes the oldest task, as a thief would.
    #[inline]
    pub(crate) fn pop_oldest(&self) -> Option<TaskRef> {
        let bottom = self.shared.bottom.load(Ordering::Relaxed);
        loop {
            let top = self.shared.top.load(Ordering::Relaxed);
            if top >= bottom {
                return None;
            }
            // The slot can be read after the CAS: only the owner writes slots, and this is the
            // owner.
            if self.shared.advance(top) {
                // SAFETY: the CAS gave the index to this call.
                return Some(unsafe { self.take(top) });
            }
        }
    }

    /// Returns the number of tasks. Thieves may take some meanwhile.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.shared.len()
    }

    /// Returns the task at an index.
    ///
    /// # Safety
    ///
    /// The index was given to the caller alone.
    #[inline]
    unsafe fn take(&self, index: isize) -> TaskRef {
        // SAFETY: an index between top and bottom holds a task; the caller's promise makes it the
        // only owner.
        unsafe { task(self.buffer().get(index)) }
    }

    #[inline]
    fn buffer(&self) -> &Buffer {
        // SAFETY: the field's invariant; a ring is freed only after it was replaced, and the
        // reference does not outlive a call.
        unsafe { self.buffer.get().as_ref() }
    }

    /// Reads the top again, and grows the ring if it is full.
    #[cold]
    fn make_room(&self, bottom: isize) {
        // Acquire: a thief has read its slot before it moved the top, so the slot may be written
        // again.
        let top = self.shared.top.load(Ordering::Acquire);
        if bottom - top >= self.buffer().capacity().cast_signed() {
            self.grow(top, bottom);
        }
        self.full.set(top + self.buffer().capacity().cast_signed());
        self.free_retired();
    }

    fn grow(&self, top: isize, bottom: isize) {
        let larger = Buffer::new(self.buffer().capacity() * 2);
        for index in top..bottom {
            larger.set(index, self.buffer().get(index));
        }
        let larger = NonNull::from(Box::leak(Box::new(larger)));
        // Release: a thief that loads the address sees the slots.
        self.shared.buffer.store(larger.as_ptr(), Ordering::Release);
        let old = self.buffer.replace(larger);
        self.retired.borrow_mut().push(Retired(old));
    }

    fn free_retired(&self) {
        // Orders the new address before the read of the count. Pairs with the fence in `steal`.
        full_fence(Fence::Retire);
        // Acquire: what a thief did inside happened before it counted itself out.
        if self.shared.thieves.load(Ordering::Acquire) != 0 {
            return;
        }
        for Retired(buffer) in self.retired.borrow_mut().drain(..) {
            // SAFETY: the invariant of `Retired`; no thief is inside, see the top of this file.
            let buffer = unsafe { Box::from_raw(buffer.as_ptr()) };
            buffer.free();
        }
    }
}

impl Thief {
    /// Takes the oldest task.
    pub(crate) fn steal(&self) -> Steal {
        let shared = &*self.shared;
        if shared.len() == 0 {
            return Steal::Empty;
        }
        shared.thieves.fetch_add(1, Ordering::Relaxed);
        let top = shared.top.load(Ordering::Acquire);
        // Orders the count before the ring's address, and the top before the bottom. Pairs with the
        // owner's fences.
        full_fence(Fence::Steal);
        // Acquire: the thief sees the slot that was written before this bottom.
        let bottom = shared.bottom.load(Ordering::Acquire);
        let stolen = if top < bottom { shared.steal(top) } else { Steal::Empty };
        // Release: the thief has read the ring before.
        shared.thieves.fetch_sub(1, Ordering::Release);
        stolen
    }

    /// Returns the number of tasks, which may be out of date.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.shared.len()
    }

    /// Returns the index of the oldest task, which grows with each task that is taken at the top.
    #[inline]
    pub(crate) fn oldest(&self) -> isize {
        self.shared.top.load(Ordering::Relaxed)
    }
}

impl Shared {
    #[inline]
    fn len(&self) -> usize {
        // The top is read first: an owner that adds a task and then takes its oldest always has a
        // task, and must not appear empty. Acquire: pairs with the CAS that moves the top.
        let top = self.top.load(Ordering::Acquire);
        let bottom = self.bottom.load(Ordering::Relaxed);
        usize::try_from(bottom - top).unwrap_or(0)
    }

    /// Takes the index at the top, if it is still there. Only one thread succeeds.
    #[inline]
    fn advance(&self, top: isize) -> bool {
        self.top.compare_exchange(top, top + 1, Ordering::SeqCst, Ordering::Relaxed).is_ok()
    }

    fn steal(&self, top: isize) -> Steal {
        // Acquire: the thief sees the slots that were copied.
        let buffer = self.buffer.load(Ordering::Acquire);
        // SAFETY: the caller is counted in, so the owner does not free the ring.
        let header = unsafe { &*buffer }.get(top);
        if self.advance(top) {
            // SAFETY: the CAS gave the index to this call, and its slot was not written since the
            // read: the owner writes it again only when the top is past it.
            Steal::Task(unsafe { task(header) })
        } else {
            Steal::Lost
        }
    }
}

/// Returns the task of a header.
///
/// # Safety
///
/// The caller alone took the header out of a deque.
#[inline]
unsafe fn task(header: *mut Header) -> TaskRef {
    let header = NonNull::new(header).expect("a slot between top and bottom holds a task");
    // SAFETY: the caller alone took the header out of a deque, so no other `TaskRef` of it exists.
    unsafe { TaskRef::from_raw(header) }
}

impl Drop for Owner {
    /// Discards the remaining tasks; thieves that come later find nothing.
    fn drop(&mut self) {
        while let Some(task) = self.pop() {
            task.discard();
        }
        // Thieves may be inside, but only for a moment.
        while !self.retired.borrow().is_empty() {
            self.free_retired();
            core::hint::spin_loop();
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        let buffer = self.buffer.load(Ordering::Acquire);
        // SAFETY: the invariant of `buffer`; no owner or thief is left.
        drop(unsafe { Box::from_raw(buffer) });
    }
}

impl fmt::Debug for Thief {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Thief").field("len", &self.len()).finish()
    }
}
