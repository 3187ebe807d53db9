//! The guard of a borrowed value.

use std::fmt;
use std::ops::Deref;

use super::value::Reading;

/// A borrow of the value of a channel. From `borrow` of both ends, and from
/// [`Receiver::borrow_and_update`](super::Receiver::borrow_and_update) and
/// [`Receiver::wait_for`](super::Receiver::wait_for).
///
/// It holds a read lock, like a read guard of [`RwLock`](crate::sync::RwLock). A fiber may hold it
/// across a suspension. Senders wait until it is dropped, and let other fibers use their workers
/// meanwhile. Clone the value if you need it for long.
///
/// # Deadlocks
///
/// - A fiber that holds a borrow and sends to the same channel waits for itself.
/// - A fiber that holds a borrow must not borrow from the same channel again, not even by
///   `wait_for`. If a sender waits between the two borrows, the second one may wait for the sender,
///   which waits for the first.
///
/// Like the guards of std, it is not [`Send`]:
///
/// ```compile_fail,E0277
/// use sinew::channel::watch;
/// use sinew::fiber;
///
/// let (sender, receiver) = watch::channel(0);
/// fiber::scope(|scope| {
///     let value = receiver.borrow();
///     scope.spawn(move || drop(value));
/// });
/// ```
#[must_use = "the lock is released at once if the borrow is not kept"]
#[clippy::has_significant_drop]
pub struct Ref<'a, T> {
    value: Reading<'a, T>,
    has_changed: bool,
}

impl<'a, T> Ref<'a, T> {
    pub(super) fn new(value: Reading<'a, T>, has_changed: bool) -> Self {
        Self { value, has_changed }
    }

    /// Returns whether the receiver had not seen this value before it borrowed it. Always false for
    /// a borrow by a [`Sender`](super::Sender).
    ///
    /// ```
    /// use sinew::channel::watch;
    ///
    /// let (sender, mut receiver) = watch::channel(1);
    /// assert!(!receiver.borrow().has_changed());
    /// sender.send(2).unwrap();
    /// assert!(receiver.borrow_and_update().has_changed());
    /// assert!(!receiver.borrow_and_update().has_changed());
    /// ```
    #[must_use]
    pub fn has_changed(&self) -> bool {
        self.has_changed
    }
}

impl<T> Deref for Ref<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T: fmt::Debug> fmt::Debug for Ref<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ref").field("value", &**self).field("has_changed", &self.has_changed).finish()
    }
}
