//! The right to join a fiber that never leaves its worker.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::rc::Rc;
use std::time::Duration;

use super::cancellable::JoinStopped;
use super::handle::{JoinHandle, Result};
use super::reference::Fiber;
use crate::rt::Handle;

/// The right to join a local fiber, and to its result, which stays on its worker as the fiber does.
pub struct LocalJoinHandle<T> {
    handle: JoinHandle<T>,
    stays: PhantomData<Rc<()>>,
}

impl<T> LocalJoinHandle<T> {
    pub(super) fn new(handle: Handle<T>, stays: PhantomData<Rc<()>>) -> Self {
        Self { handle: JoinHandle::new(handle), stays }
    }

    /// The fiber that this is about.
    #[must_use]
    pub fn thread(&self) -> &Fiber {
        self.handle.thread()
    }

    /// Waits for the fiber to end, and returns what came out of it.
    ///
    /// # Errors
    ///
    /// If the fiber panicked, with the panic's payload.
    pub fn join(self) -> Result<T> {
        self.handle.join()
    }

    /// Waits for the fiber to end for at most so long.
    ///
    /// # Errors
    ///
    /// If the time is over first: the handle is given back.
    pub fn join_timeout(self, time: Duration) -> std::result::Result<Result<T>, Self> {
        self.handle.join_timeout(time).map_err(|handle| Self { handle, stays: PhantomData })
    }

    /// Cancels the fiber, as [`JoinHandle::cancel`].
    #[track_caller]
    pub fn cancel(&self) {
        self.handle.cancel();
    }

    /// Cancels the fiber, as [`JoinHandle::cancel_with_reason`].
    #[track_caller]
    pub fn cancel_with_reason(&self, reason: impl Into<Cow<'static, str>>) {
        self.handle.cancel_with_reason(reason);
    }

    /// [`join`](Self::join), which cancellation and deadlines of the caller end, as [`JoinHandle::join_cancellable`].
    ///
    /// # Errors
    ///
    /// If the caller is to stop before the fiber has ended: the handle is given back.
    #[track_caller]
    pub fn join_cancellable(self) -> std::result::Result<Result<T>, JoinStopped<Self>> {
        self.handle
            .join_cancellable()
            .map_err(|error| error.map(|handle| Self { handle, stays: PhantomData }))
    }

    /// Whether the fiber has ended.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.handle.is_finished()
    }
}

impl<T> fmt::Debug for LocalJoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalJoinHandle").finish_non_exhaustive()
    }
}
