//! The handle that joins a fiber that never leaves its worker.

use std::borrow::Cow;
use std::marker::PhantomData;
use std::rc::Rc;
use std::time::Duration;

use super::cancellable::JoinStopped;
use super::handle::{JoinHandle, Result};
use super::join_methods::join_methods;
use super::reference::Fiber;
use crate::rt::{FiberHandle, impl_debug};

/// An owned permission to join a local fiber, and to take its result. It stays on its worker, as
/// the fiber and its result do. Dropping it detaches the fiber.
pub struct LocalJoinHandle<T> {
    handle: JoinHandle<T>,
    stays: PhantomData<Rc<()>>,
}

impl<T> LocalJoinHandle<T> {
    /// Wraps the handle, for a caller that stays on the worker.
    pub(super) fn new(handle: FiberHandle<T>, _stays: PhantomData<Rc<()>>) -> Self {
        Self::wrap(JoinHandle::new(handle))
    }

    fn wrap(handle: JoinHandle<T>) -> Self {
        Self { handle, stays: PhantomData }
    }

    join_methods!();
}

impl_debug!(LocalJoinHandle<T>, ..);
