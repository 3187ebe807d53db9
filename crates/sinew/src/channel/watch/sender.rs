//! The sending handle of a watch channel.

use std::mem;
use std::sync::Arc;

use super::error::SendError;
use super::receiver::Receiver;
use super::reference::Ref;
use super::shared::WatchShared;
use crate::limited::limited_waits;
use crate::rt::{GaveUp, Limit, impl_debug, impl_unwind_safe};

/// Changes the value that the [`Receiver`]s of a channel see.
///
/// It may be cloned. Dropping the last sender closes the channel: receivers that wait return an
/// error, and can still borrow the last value.
///
/// ```
/// use sinew::channel::watch::Sender;
///
/// let sender = Sender::new(0);
/// let mut receiver = sender.subscribe();
/// let other = sender.clone();
/// other.send_modify(|value| *value += 1);
/// assert_eq!(*receiver.borrow_and_update(), 1);
/// drop((sender, other));
/// assert!(receiver.changed().is_err());
/// ```
///
/// Receivers share the value, so it must be `Sync` for a handle to be `Send`:
///
/// ```compile_fail,E0277
/// use sinew::channel::watch::Sender;
/// use std::cell::Cell;
///
/// fn is_sent<T: Send>(_: T) {}
/// is_sent(Sender::new(Cell::new(1)));
/// ```
pub struct Sender<T> {
    shared: Arc<WatchShared<T>>,
}

impl<T> Sender<T> {
    /// Makes a channel with this value and no receiver.
    #[must_use]
    pub fn new(init: T) -> Self {
        Self { shared: Arc::new(WatchShared::new(init)) }
    }

    /// Replaces the value and wakes all receivers that wait for a change.
    ///
    /// ```
    /// use sinew::channel::watch;
    ///
    /// let (sender, receiver) = watch::channel(1);
    /// assert_eq!(sender.send(2), Ok(()));
    /// drop(receiver);
    /// assert_eq!(sender.send(3).unwrap_err().0, 3);
    /// assert_eq!(*sender.borrow(), 2);
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if there is no receiver. The error contains the value. Use
    /// [`send_replace`](Self::send_replace) to change the value nevertheless.
    ///
    /// # Panics
    ///
    /// Panics as [`send_modify`](Self::send_modify) does, or if the destructor of the old value
    /// panics. The new value was sent in the latter case.
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        if self.is_closed() {
            return Err(SendError(value));
        }
        drop(self.send_replace(value));
        Ok(())
    }

    /// Replaces the value, even if there is no receiver, and wakes all receivers that wait for a
    /// change. Returns the old value.
    ///
    /// ```
    /// use sinew::channel::watch::Sender;
    ///
    /// let sender = Sender::new(1);
    /// assert_eq!(sender.send_replace(2), 1);
    /// assert_eq!(*sender.borrow(), 2);
    /// ```
    ///
    /// # Panics
    ///
    /// Panics as [`send_modify`](Self::send_modify) does.
    pub fn send_replace(&self, mut value: T) -> T {
        self.send_modify(|old| mem::swap(old, &mut value));
        value
    }

    /// Changes the value in place, even if there is no receiver, and wakes all receivers that wait
    /// for a change.
    ///
    /// Waits until all [`Ref`]s of the value are dropped. The closure may wait, and receivers
    /// cannot borrow the value until it returns. It must not use the channel: it would wait for
    /// itself.
    ///
    /// ```
    /// use sinew::channel::watch;
    ///
    /// let (sender, receiver) = watch::channel(vec![1]);
    /// sender.send_modify(|list| list.push(2));
    /// assert_eq!(*receiver.borrow(), [1, 2]);
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if the caller would have to wait inside [`no_suspend`](crate::fiber::no_suspend), or
    /// if the closure panics. The value then stays as the closure has left it, and receivers are
    /// not notified of a change.
    pub fn send_modify<F: FnOnce(&mut T)>(&self, modify: F) {
        self.send_if_modified(|value| {
            modify(value);
            true
        });
    }

    /// Changes the value in place. If the closure returns true, receivers are notified of a change,
    /// as by [`send_modify`](Self::send_modify). Returns the result of the closure.
    ///
    /// ```
    /// use sinew::channel::watch;
    ///
    /// let (sender, receiver) = watch::channel(5);
    /// let raise = |to: u32| {
    ///     sender.send_if_modified(|value| {
    ///         let is_higher = to > *value;
    ///         *value = to.max(*value);
    ///         is_higher
    ///     })
    /// };
    /// assert!(!raise(4));
    /// assert_eq!(receiver.has_changed(), Ok(false));
    /// assert!(raise(6));
    /// assert_eq!(receiver.has_changed(), Ok(true));
    /// ```
    ///
    /// # Panics
    ///
    /// Panics as [`send_modify`](Self::send_modify) does.
    pub fn send_if_modified<F: FnOnce(&mut T) -> bool>(&self, modify: F) -> bool {
        self.shared.modify(modify)
    }

    /// Borrows the value. Read about [deadlocks](Ref#deadlocks) before you keep the borrow.
    ///
    /// # Panics
    ///
    /// Panics if the caller would have to wait inside [`no_suspend`](crate::fiber::no_suspend).
    pub fn borrow(&self) -> Ref<'_, T> {
        let (value, _) = self.shared.borrow(Limit::NEVER).expect("there is no limit");
        Ref::new(value, false)
    }

    /// Adds a receiver, to which the current value counts as seen.
    ///
    /// ```
    /// use sinew::channel::watch::Sender;
    ///
    /// let sender = Sender::new(1);
    /// sender.send_replace(2);
    /// let receiver = sender.subscribe();
    /// assert_eq!((receiver.has_changed(), *receiver.borrow()), (Ok(false), 2));
    /// ```
    #[must_use]
    pub fn subscribe(&self) -> Receiver<T> {
        Receiver::new(self.shared.clone())
    }

    /// Returns whether there is no receiver. Receivers can [subscribe](Self::subscribe) later.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        !self.shared.has_receivers()
    }

    limited_waits! {
        /// Waits until there is no receiver. Also returns if another one has subscribed since.
        ///
        /// ```
        /// use sinew::channel::watch;
        /// use sinew::fiber;
        ///
        /// let (sender, receiver) = watch::channel(1);
        /// let watches = fiber::spawn(move || sender.closed());
        /// drop(receiver);
        /// watches.join().unwrap();
        /// ```
        closed, closed_timeout, closed_deadline, closed_cancellable by closed_within, must_use "there may be receivers"
    }

    fn closed_within(&self, limit: Limit) -> Result<(), GaveUp> {
        self.shared.wait_for_close(limit)
    }

    /// Returns the number of receivers.
    #[must_use]
    pub fn receiver_count(&self) -> usize {
        self.shared.receivers()
    }

    /// Returns the number of senders.
    #[must_use]
    pub fn sender_count(&self) -> usize {
        self.shared.senders()
    }

    /// Returns whether both handles send to the same channel.
    #[must_use]
    pub fn same_channel(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        self.shared.add_sender();
        Self { shared: self.shared.clone() }
    }
}

impl<T: Default> Default for Sender<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.shared.drop_sender();
    }
}

impl_debug!(Sender<T>, ..);

// A panic leaves the channel consistent. What a closure that panics does to the value is
// documented.
impl_unwind_safe!(Sender<T>);
