//! The right to join a fiber.
//!
//! # Safety
//!
//! Trusted with who may have a result: one that stays on its worker is behind a
//! [`LocalJoinHandle`](super::LocalJoinHandle), which stays too.
#![expect(unsafe_code, reason = "handles may be sent whatever is known of the type of the result")]

use std::any::Any;
use std::borrow::Cow;
use std::panic::Location;
use std::time::Duration;

use super::cancellable::JoinStopped;
use super::reference::Fiber;
use super::stopped::Stopped;
use crate::rt::{self, FiberHandle, impl_debug};

/// What comes out of a fiber: what its body returned, or the panic that ended it.
///
/// A fiber that did not end before its runtime was shut down gives [`Discarded`](super::Discarded) as an error, or
/// [`Abandoned`](super::Abandoned) if it had begun.
pub type Result<T> = std::result::Result<T, Box<dyn Any + Send + 'static>>;

/// The right to join a fiber, and to its result. Dropping it detaches the fiber: the result is dropped when the fiber ends; if
/// it has ended already, here and now.
///
/// There is no `JoinHandleExt` as threads have: no thread belongs to a fiber.
pub struct JoinHandle<T> {
    handle: FiberHandle<T>,
}

// SAFETY: the bounds of all who make fibers demand that the result may be sent, but where the handle is inside one that stays.
unsafe impl<T> Send for JoinHandle<T> {}
// SAFETY: a shared handle gives nothing of the result away.
unsafe impl<T> Sync for JoinHandle<T> {}

impl<T> JoinHandle<T> {
    #[inline]
    pub(super) fn new(handle: FiberHandle<T>) -> Self {
        Self { handle }
    }

    /// The fiber that this is about. The name is std's, as if a fiber were a thread.
    #[must_use]
    pub fn thread(&self) -> &Fiber {
        Fiber::wrap(self.handle.fiber())
    }

    /// Waits for the fiber to end, and returns what came out of it.
    ///
    /// A fiber waits without holding its worker up; a plain thread blocks. All that the fiber did comes before this returns, its
    /// fiber-locals' destructors included.
    ///
    /// # Errors
    ///
    /// If the fiber panicked, with the panic's payload; or if its runtime was shut down before it ended, as [`Result`] says.
    ///
    /// # Panics
    ///
    /// If a fiber joins itself.
    #[inline]
    pub fn join(self) -> Result<T> {
        self.handle.wait(None);
        self.handle.take()
    }

    /// Waits for the fiber to end for at most so long.
    ///
    /// # Errors
    ///
    /// If the time is over first: the handle is given back.
    pub fn join_timeout(self, time: Duration) -> std::result::Result<Result<T>, Self> {
        // A moment beyond the clock's end never comes.
        let until = rt::now().checked_add(time);
        if self.handle.wait(until) { Ok(self.handle.take()) } else { Err(self) }
    }

    /// Cancels the fiber: its [`checkpoint`](super::checkpoint)s and the waits that observe cancellation fail from now on, and so do
    /// those of the fibers in its scopes. It does not wait. If the fiber has ended, this does nothing; if it has not begun, it still
    /// runs.
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

    /// The same, with a reason, which is in the [error](Stopped::reason). Of several cancels the first one's counts.
    ///
    /// ```
    /// use sinew::fiber;
    ///
    /// let fiber = fiber::spawn(fiber::park_cancellable);
    /// fiber.cancel_with_reason("nobody asks any more");
    /// assert_eq!(fiber.join().unwrap().unwrap_err().reason(), Some("nobody asks any more"));
    /// ```
    #[track_caller]
    pub fn cancel_with_reason(&self, reason: impl Into<Cow<'static, str>>) {
        self.handle.cancel(Location::caller(), Some(reason.into()));
    }

    /// [`join`](Self::join), which cancellation and deadlines of the caller end. The fiber that is joined does not hear of it.
    ///
    /// # Errors
    ///
    /// If the caller is to stop before the fiber has ended: the handle is given back.
    #[track_caller]
    pub fn join_cancellable(self) -> std::result::Result<Result<T>, JoinStopped<Self>> {
        let at = Location::caller();
        match self.handle.wait_or_stop() {
            Ok(()) => Ok(self.handle.take()),
            Err(stop) => Err(JoinStopped { handle: self, stopped: Stopped::new(stop, at) }),
        }
    }

    /// Whether the fiber has ended, so that a join would not wait.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.handle.is_done()
    }
}

impl_debug!(JoinHandle<T>, ..);
