//! The right to join a fiber that never leaves its worker.

use std::borrow::Cow;
use std::marker::PhantomData;
use std::rc::Rc;
use std::time::Duration;

use super::cancellable::JoinStopped;
use super::handle::{JoinHandle, Result};
use super::join_methods::join_methods;
use super::reference::Fiber;
use crate::rt::{FiberHandle, impl_debug};

/// The right to join a local fiber, and to its result, which stays on its worker as the fiber does.
pub struct LocalJoinHandle<T> {
    handle: JoinHandle<T>,
    stays: PhantomData<Rc<()>>,
}

impl<T> LocalJoinHandle<T> {
    /// For a caller that stays on the worker.
    pub(super) fn new(handle: FiberHandle<T>, _stays: PhantomData<Rc<()>>) -> Self {
        Self::wrap(JoinHandle::new(handle))
    }

    fn wrap(handle: JoinHandle<T>) -> Self {
        Self { handle, stays: PhantomData }
    }

    join_methods!();
}

impl_debug!(LocalJoinHandle<T>, ..);
