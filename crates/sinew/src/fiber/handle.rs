//! The handle that joins a fiber.
//!
//! # Safety
//!
//! Trusted to keep a result on its thread if it must not be sent: the handle of a fiber that stays
//! on its worker is wrapped in a [`LocalJoinHandle`](super::LocalJoinHandle), which is not `Send`
//! either.
#![expect(unsafe_code, reason = "a handle is `Send` and `Sync` for every type of result")]

use std::any::Any;
use std::borrow::Cow;
use std::panic::Location;
use std::time::Duration;

use super::cancellable::JoinStopped;
use super::reference::Fiber;
use super::stopped::Stopped;
use crate::rt::{self, FiberHandle, impl_debug};

/// The result of a fiber: the value that its body returned, or the payload of the panic that ended
/// it.
///
/// If the runtime was shut down before the fiber ended, the error is
/// [`Discarded`](super::Discarded), or [`Abandoned`](super::Abandoned) if the fiber had begun.
pub type Result<T> = std::result::Result<T, Box<dyn Any + Send + 'static>>;

/// An owned permission to join a fiber, and to take its result. Dropping it detaches the fiber: the
/// result is dropped when the fiber ends, or by this drop if it has ended already.
///
/// There is no counterpart of std's `JoinHandleExt`, because no thread belongs to a fiber.
pub struct JoinHandle<T> {
    handle: FiberHandle<T>,
}

// SAFETY: every function that spawns a fiber demands that the result is `Send`, except those whose
// handle is wrapped in one that is not `Send`.
unsafe impl<T> Send for JoinHandle<T> {}
// SAFETY: no method of a shared handle gives access to the result.
unsafe impl<T> Sync for JoinHandle<T> {}

impl<T> JoinHandle<T> {
    #[inline]
    pub(super) fn new(handle: FiberHandle<T>) -> Self {
        Self { handle }
    }

    /// Returns a handle to the fiber. The method has its name from std.
    #[must_use]
    pub fn thread(&self) -> &Fiber {
        Fiber::wrap(self.handle.fiber())
    }

    /// Waits for the fiber to end, and returns its result.
    ///
    /// A fiber that waits lets others run on its worker; a plain thread blocks. Everything that the
    /// fiber did happens before this returns, including the destructors of its fiber-locals.
    ///
    /// # Errors
    ///
    /// Returns the panic's payload if the fiber panicked, or an error if its runtime was shut down
    /// before it ended, as [`Result`] states.
    ///
    /// # Panics
    ///
    /// Panics if a fiber joins itself.
    #[inline]
    pub fn join(self) -> Result<T> {
        self.handle.wait(None);
        self.handle.take()
    }

    /// Waits for the fiber to end, but for at most `time`.
    ///
    /// # Errors
    ///
    /// Returns the handle as the error if the fiber has not ended within the time.
    pub fn join_timeout(self, time: Duration) -> std::result::Result<Result<T>, Self> {
        // A time that overflows the clock never comes.
        let until = rt::now().checked_add(time);
        if self.handle.wait(until) { Ok(self.handle.take()) } else { Err(self) }
    }

    /// Cancels the fiber: from now on its [`checkpoint`](super::checkpoint)s and the waits that
    /// observe cancellation fail, and so do those of the fibers in its scopes. This does not wait.
    /// It does nothing if the fiber has ended. A fiber that has not begun still runs.
    ///
    /// ```
    /// use sinew::fiber;
    ///
    /// let fiber = fiber::spawn(|| fiber::park_cancellable().is_err());
    /// fiber.cancel();
    /// assert!(fiber.join().unwrap());
    /// ```
    #[track_caller]
    pub fn cancel(&self) {
        self.handle.cancel(Location::caller(), None);
    }

    /// Cancels the fiber with a reason, which the [error](Stopped::reason) contains. Of several
    /// cancels the first one counts.
    ///
    /// ```
    /// use sinew::fiber;
    ///
    /// let fiber = fiber::spawn(fiber::park_cancellable);
    /// fiber.cancel_with_reason("the request was withdrawn");
    /// let stopped = fiber.join().unwrap().unwrap_err();
    /// assert_eq!(stopped.reason(), Some("the request was withdrawn"));
    /// ```
    #[track_caller]
    pub fn cancel_with_reason(&self, reason: impl Into<Cow<'static, str>>) {
        self.handle.cancel(Location::caller(), Some(reason.into()));
    }

    /// Waits as [`join`](Self::join) does, but returns early when the caller is cancelled or its
    /// deadline passes. This does not cancel the fiber that is joined.
    ///
    /// # Errors
    ///
    /// Returns an error that contains the handle if the caller was cancelled, or its deadline has
    /// passed, before the fiber has ended.
    #[track_caller]
    pub fn join_cancellable(self) -> std::result::Result<Result<T>, JoinStopped<Self>> {
        let at = Location::caller();
        match self.handle.wait_or_stop() {
            Ok(()) => Ok(self.handle.take()),
            Err(stop) => Err(JoinStopped { handle: self, stopped: Stopped::new(stop, at) }),
        }
    }

    /// Returns whether the fiber has ended, so that a join would not wait.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.handle.is_done()
    }
}

impl_debug!(JoinHandle<T>, ..);
