//! A slot for one message under the model checker, which detects two threads that access it at
//! once.
//!
//! # Safety
//!
//! Trusted with nothing outside the models: it checks that a message is there.
#![expect(unsafe_code, reason = "whether a message is there, is known elsewhere")]

use loom::cell::UnsafeCell;

/// The slot.
pub(super) struct Slot<T>(UnsafeCell<Option<T>>);

impl<T> Slot<T> {
    pub(super) fn new() -> Self {
        Self(UnsafeCell::new(None))
    }

    /// # Safety
    ///
    /// None is needed: the checker sees who touches it.
    pub(super) unsafe fn put(&self, message: T) {
        // SAFETY: the checker panics before two threads access it at once.
        let before = self.0.with_mut(|place| unsafe { (*place).replace(message) });
        assert!(before.is_none(), "a message is lost");
    }

    /// # Safety
    ///
    /// None is needed: the checker sees who touches it.
    pub(super) unsafe fn take(&self) -> T {
        // SAFETY: the checker panics before two threads access it at once.
        self.0.with_mut(|place| unsafe { (*place).take() }).expect("there is a message")
    }
}

pub(super) fn slots<T>(many: usize) -> Box<[Slot<T>]> {
    (0..many).map(|_| Slot::new()).collect()
}

/// # Safety
///
/// None is needed.
pub(super) unsafe fn boxed<B>(make: impl FnOnce() -> B) -> Box<B> {
    Box::new(make())
}
