//! The receiving handle of a watch channel.

use std::mem;
use std::panic::Location;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::super::NotReceived;
use super::error::{RecvError, RecvTimeoutError};
use super::reference::Ref;
use super::shared::WatchShared;
use super::state::Version;
use crate::fiber::Stopped;
use crate::rt::{Limit, impl_debug, impl_unwind_safe};

/// Sees the latest value that the [`Sender`](super::Sender)s of a channel have sent. From
/// [`channel`](super::channel) and [`Sender::subscribe`](super::Sender::subscribe).
///
/// A clone starts with the same version of the value as seen, and is independent from then on.
pub struct Receiver<T> {
    shared: Arc<WatchShared<T>>,
    /// The version that the receiver has seen.
    seen: Version,
}

impl<T> Receiver<T> {
    /// Makes a receiver that has seen the current value.
    pub(super) fn new(shared: Arc<WatchShared<T>>) -> Self {
        shared.add_receiver();
        let seen = shared.state.version();
        Self { shared, seen }
    }

    /// Borrows the value, without marking it as seen. Read about [deadlocks](Ref#deadlocks) before
    /// you keep the borrow.
    ///
    /// ```
    /// use sinew::channel::watch;
    ///
    /// let (sender, mut receiver) = watch::channel("one");
    /// sender.send("two").unwrap();
    /// assert_eq!(*receiver.borrow(), "two");
    /// assert_eq!(receiver.changed(), Ok(()));
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if the caller would have to wait inside [`no_suspend`](crate::fiber::no_suspend). It
    /// waits while a sender changes the value.
    pub fn borrow(&self) -> Ref<'_, T> {
        let (value, version) = self.shared.borrow(Limit::NEVER).expect("there is no limit");
        Ref::new(value, version != self.seen)
    }

    /// Borrows the value, and marks it as seen.
    ///
    /// Use this instead of [`borrow`](Self::borrow) in a loop around [`changed`](Self::changed). A
    /// value that is sent between the two calls is then marked as seen, and does not end the next
    /// wait.
    ///
    /// ```
    /// use sinew::channel::watch;
    ///
    /// let (sender, mut receiver) = watch::channel("one");
    /// sender.send("two").unwrap();
    /// assert_eq!(*receiver.borrow_and_update(), "two");
    /// assert_eq!(receiver.has_changed(), Ok(false));
    /// ```
    ///
    /// # Panics
    ///
    /// Panics as [`borrow`](Self::borrow) does.
    pub fn borrow_and_update(&mut self) -> Ref<'_, T> {
        let (value, version) = self.shared.borrow(Limit::NEVER).expect("there is no limit");
        let before = mem::replace(&mut self.seen, version);
        Ref::new(value, version != before)
    }

    /// Returns whether there is a value that this receiver has not seen. Never waits.
    ///
    /// # Errors
    ///
    /// Returns an error if all senders are gone, even if the last value was not seen.
    pub fn has_changed(&self) -> Result<bool, RecvError> {
        if self.shared.state.is_closed() {
            return Err(RecvError(()));
        }
        Ok(self.shared.state.version() != self.seen)
    }

    /// Marks the value as not seen: [`changed`](Self::changed) returns at once.
    ///
    /// ```
    /// use sinew::channel::watch;
    ///
    /// let (sender, mut receiver) = watch::channel(1);
    /// receiver.mark_changed();
    /// assert_eq!(receiver.changed(), Ok(()));
    /// assert_eq!(receiver.has_changed(), Ok(false));
    /// # drop(sender);
    /// ```
    pub fn mark_changed(&mut self) {
        self.seen = Version::NONE;
    }

    /// Marks the value as seen: [`changed`](Self::changed) waits for the next one.
    ///
    /// ```
    /// use sinew::channel::watch;
    ///
    /// let (sender, mut receiver) = watch::channel(1);
    /// sender.send(2).unwrap();
    /// receiver.mark_unchanged();
    /// assert_eq!(receiver.has_changed(), Ok(false));
    /// ```
    pub fn mark_unchanged(&mut self) {
        self.seen = self.shared.state.version();
    }

    /// Waits until there is a value that this receiver has not seen, and marks it as seen. Returns
    /// at once if there already is one.
    ///
    /// ```
    /// use sinew::channel::watch;
    /// use sinew::fiber;
    ///
    /// let (sender, mut receiver) = watch::channel(1);
    /// let sends = fiber::spawn(move || sender.send(2));
    /// assert_eq!(receiver.changed(), Ok(()));
    /// assert_eq!(*receiver.borrow(), 2);
    /// assert!(receiver.changed().is_err());
    /// # sends.join().unwrap().unwrap();
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such value, and all senders are gone.
    ///
    /// # Panics
    ///
    /// Panics if the caller would have to wait inside [`no_suspend`](crate::fiber::no_suspend).
    pub fn changed(&mut self) -> Result<(), RecvError> {
        self.changed_within(Limit::NEVER).map_err(|_| RecvError(()))
    }

    /// Waits like [`changed`](Self::changed), and gives up after `timeout`.
    ///
    /// ```
    /// use sinew::channel::watch::{self, RecvTimeoutError};
    /// use std::time::Duration;
    ///
    /// let (sender, mut receiver) = watch::channel(1);
    /// let result = receiver.changed_timeout(Duration::from_millis(1));
    /// assert_eq!(result, Err(RecvTimeoutError::Timeout));
    /// sender.send(2).unwrap();
    /// assert_eq!(receiver.changed_timeout(Duration::from_millis(1)), Ok(()));
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the time is over before, or as [`changed`](Self::changed) does.
    ///
    /// # Panics
    ///
    /// Panics as [`changed`](Self::changed) does.
    pub fn changed_timeout(&mut self, timeout: Duration) -> Result<(), RecvTimeoutError> {
        self.changed_within(Limit::lasting(timeout)).map_err(timeout_error)
    }

    /// Waits like [`changed`](Self::changed), and gives up at `deadline`.
    ///
    /// # Errors
    ///
    /// Returns an error as [`changed_timeout`](Self::changed_timeout) does.
    ///
    /// # Panics
    ///
    /// Panics as [`changed`](Self::changed) does.
    pub fn changed_deadline(&mut self, deadline: Instant) -> Result<(), RecvTimeoutError> {
        self.changed_within(Limit::until(Some(deadline))).map_err(timeout_error)
    }

    /// Waits like [`changed`](Self::changed), and gives up when [cancellation or a
    /// deadline](crate::fiber#stopping) stops the caller.
    ///
    /// # Errors
    ///
    /// Returns the outer error if the caller is stopped while it waits, or is already stopped and
    /// there is no new value. The inner error is that of [`changed`](Self::changed).
    ///
    /// # Panics
    ///
    /// Panics as [`changed`](Self::changed) does.
    #[track_caller]
    pub fn changed_cancellable(&mut self) -> Result<Result<(), RecvError>, Stopped> {
        unless_stopped(self.changed_within(Limit::STOP))
    }

    fn changed_within(&mut self, limit: Limit) -> Result<(), NotReceived> {
        self.seen = self.shared.changed(self.seen, limit)?;
        Ok(())
    }

    /// Waits until the closure returns true for the value, then borrows the value and marks it as
    /// seen.
    ///
    /// The closure is first called with the current value, even if that was seen, and then with
    /// each new value, except that it may skip values that are replaced quickly. The value is
    /// borrowed during each call, so the closure must not use the channel; it may wait. Read about
    /// [deadlocks](Ref#deadlocks) before you keep the borrow.
    ///
    /// ```
    /// use sinew::channel::watch;
    /// use sinew::fiber;
    ///
    /// let (sender, mut receiver) = watch::channel(0);
    /// let counts = fiber::spawn(move || (1..=10).for_each(|number| sender.send(number).unwrap()));
    /// assert!(*receiver.wait_for(|number| *number >= 5).unwrap() >= 5);
    /// # counts.join().unwrap();
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the closure has returned false for the last value, and all senders are
    /// gone.
    ///
    /// # Panics
    ///
    /// Panics as [`changed`](Self::changed) does, or if the closure panics. The value counts as
    /// seen in the latter case.
    pub fn wait_for<F>(&mut self, f: F) -> Result<Ref<'_, T>, RecvError>
    where
        F: FnMut(&T) -> bool,
    {
        self.wait_for_within(f, Limit::NEVER).map_err(|_| RecvError(()))
    }

    /// Waits like [`wait_for`](Self::wait_for), and gives up after `timeout`. The limit does not
    /// apply to the closure.
    ///
    /// ```
    /// use sinew::channel::watch::{self, RecvTimeoutError};
    /// use std::time::Duration;
    ///
    /// let (sender, mut receiver) = watch::channel(1);
    /// let waits = receiver.wait_for_timeout(|value| *value > 1, Duration::from_millis(1));
    /// assert_eq!(waits.unwrap_err(), RecvTimeoutError::Timeout);
    /// # drop(sender);
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the time is over before, or as [`wait_for`](Self::wait_for) does.
    ///
    /// # Panics
    ///
    /// Panics as [`wait_for`](Self::wait_for) does.
    pub fn wait_for_timeout<F>(&mut self, f: F, timeout: Duration) -> Result<Ref<'_, T>, RecvTimeoutError>
    where
        F: FnMut(&T) -> bool,
    {
        self.wait_for_within(f, Limit::lasting(timeout)).map_err(timeout_error)
    }

    /// Waits like [`wait_for`](Self::wait_for), and gives up at `deadline`.
    ///
    /// # Errors
    ///
    /// Returns an error as [`wait_for_timeout`](Self::wait_for_timeout) does.
    ///
    /// # Panics
    ///
    /// Panics as [`wait_for`](Self::wait_for) does.
    pub fn wait_for_deadline<F>(&mut self, f: F, deadline: Instant) -> Result<Ref<'_, T>, RecvTimeoutError>
    where
        F: FnMut(&T) -> bool,
    {
        self.wait_for_within(f, Limit::until(Some(deadline))).map_err(timeout_error)
    }

    /// Waits like [`wait_for`](Self::wait_for), and gives up when [cancellation or a
    /// deadline](crate::fiber#stopping) stops the caller.
    ///
    /// # Errors
    ///
    /// Returns the outer error if the caller is stopped and would have to wait. The inner error is
    /// that of [`wait_for`](Self::wait_for).
    ///
    /// # Panics
    ///
    /// Panics as [`wait_for`](Self::wait_for) does.
    #[track_caller]
    pub fn wait_for_cancellable<F>(&mut self, f: F) -> Result<Result<Ref<'_, T>, RecvError>, Stopped>
    where
        F: FnMut(&T) -> bool,
    {
        unless_stopped(self.wait_for_within(f, Limit::STOP))
    }

    fn wait_for_within(
        &mut self,
        is_right: impl FnMut(&T) -> bool,
        limit: Limit,
    ) -> Result<Ref<'_, T>, NotReceived> {
        let before = self.seen;
        let value = self.shared.wait_for(&mut self.seen, limit, is_right)?;
        Ok(Ref::new(value, self.seen != before))
    }

    /// Returns whether both handles receive from the same channel.
    #[must_use]
    pub fn same_channel(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }
}

/// Converts the error of a wait with a time limit.
fn timeout_error(error: NotReceived) -> RecvTimeoutError {
    match error {
        NotReceived::Closed => RecvTimeoutError::Closed,
        NotReceived::TimedOut | NotReceived::Stopped(_) => RecvTimeoutError::Timeout,
    }
}

/// Converts the result of a wait that may be stopped.
#[track_caller]
fn unless_stopped<V>(result: Result<V, NotReceived>) -> Result<Result<V, RecvError>, Stopped> {
    match result {
        Ok(value) => Ok(Ok(value)),
        Err(NotReceived::Stopped(stop)) => Err(Stopped::new(stop, Location::caller())),
        Err(NotReceived::Closed | NotReceived::TimedOut) => Ok(Err(RecvError(()))),
    }
}

impl<T> Clone for Receiver<T> {
    fn clone(&self) -> Self {
        self.shared.add_receiver();
        Self { shared: self.shared.clone(), seen: self.seen }
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.shared.drop_receiver();
    }
}

impl_debug!(Receiver<T>, ..);

// A panic leaves the channel consistent.
impl_unwind_safe!(Receiver<T>);
