//! The ring of a deque. Knows indices, and not which threads may use them.

use core::ptr;

use crate::sync::{AtomicPtr, Ordering};
use crate::task::Header;

/// A ring of task pointers. Its size is a power of two; it is addressed by indices that never wrap.
pub(super) struct Buffer {
    slots: Box<[AtomicPtr<Header>]>,
    /// The checker leaks a freed ring, so that it detects a thief that still uses one.
    #[cfg(loom)]
    is_freed: std::sync::atomic::AtomicBool,
}

impl Buffer {
    pub(super) fn new(capacity: usize) -> Self {
        assert!(capacity.is_power_of_two(), "indices are masked");
        Self {
            slots: (0..capacity).map(|_| AtomicPtr::new(ptr::null_mut())).collect(),
            #[cfg(loom)]
            is_freed: std::sync::atomic::AtomicBool::new(false),
        }
    }

    #[cfg(not(loom))]
    pub(super) fn free(self: Box<Self>) {
        drop(self);
    }

    #[cfg(loom)]
    pub(super) fn free(self: Box<Self>) {
        Box::leak(self).is_freed.store(true, std::sync::atomic::Ordering::Relaxed);
    }

    #[inline]
    pub(super) fn capacity(&self) -> usize {
        self.slots.len()
    }

    /// Returns the pointer at an index. Relaxed: the accesses to the indices order it.
    #[inline]
    pub(super) fn get(&self, index: isize) -> *mut Header {
        self.slot(index).load(Ordering::Relaxed)
    }

    #[inline]
    pub(super) fn set(&self, index: isize, task: *mut Header) {
        self.slot(index).store(task, Ordering::Relaxed);
    }

    #[inline]
    fn slot(&self, index: isize) -> &AtomicPtr<Header> {
        #[cfg(loom)]
        assert!(!self.is_freed.load(std::sync::atomic::Ordering::Relaxed), "no thread uses a freed ring");
        &self.slots[index.cast_unsigned() & (self.slots.len() - 1)]
    }
}
