//! The handle that joins a fiber of a scope.

use std::borrow::Cow;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::cancellable::JoinStopped;
use super::handle::{JoinHandle, Result};
use super::join_methods::join_methods;
use super::reference::Fiber;
use crate::rt::{FiberHandle, impl_debug};

/// An owned permission to join a fiber of a scope, and to take its result.
///
/// Like std's, it is [`Send`] and [`Sync`] if the result is [`Send`]:
///
/// ```compile_fail,E0277
/// use sinew::fiber::ScopedJoinHandle;
///
/// fn send<T: Send>() {}
/// send::<ScopedJoinHandle<'_, std::rc::Rc<()>>>();
/// ```
pub struct ScopedJoinHandle<'scope, T> {
    handle: JoinHandle<T>,
    scope: PhantomData<(&'scope (), Takeable<T>)>,
}

/// Stands for the result in a handle. It is [`Send`] and [`Sync`] exactly if `T` is [`Send`],
/// because the owner of the handle may take the result, and a shared handle gives no access to it.
/// Unlike the mutex alone, it is [`Unpin`] for every `T`.
type Takeable<T> = Arc<Mutex<T>>;

impl<T> ScopedJoinHandle<'_, T> {
    pub(super) fn new(handle: FiberHandle<T>) -> Self {
        Self::wrap(JoinHandle::new(handle))
    }

    fn wrap(handle: JoinHandle<T>) -> Self {
        Self { handle, scope: PhantomData }
    }

    join_methods!();
}

impl_debug!(ScopedJoinHandle<'a, T>, ..);
