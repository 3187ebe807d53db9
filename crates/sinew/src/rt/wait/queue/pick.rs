//! Strategies that select the waiter of a queue to claim.
//!
//! # Safety
//!
//! As the queue's: a node in the list is alive, and its owner has to acquire the lock to continue.
#![expect(unsafe_code, reason = "nodes are on the stacks of waiters")]

use std::ptr::NonNull;

use super::super::tls;
use super::super::waiter::Waiter;
use super::list::{Epoch, NodeList};
use super::{Place, WaitNode};

/// A node that was taken out of its list, and its waiter.
pub(super) type Removed<T> = (NonNull<WaitNode<T>>, Waiter);

/// Selects the waiter to claim.
pub(crate) trait Pick<T> {
    /// The end of the queue that a waiter returns to if a waker took it for one that gave up, and
    /// it has not.
    const END: Place = Place::Front;

    /// Takes the node of the selected waiter out.
    fn remove(&self, list: &mut NodeList<T>) -> Option<Removed<T>>;
}

/// The first waiter.
pub(crate) struct First;

/// The last waiter.
pub(crate) struct Last;

/// A waiter that continues on the caller's thread or on no particular thread, if there is one among
/// the first few; else the first waiter.
pub(crate) struct Near;

/// The first waiter whose data satisfies the condition.
pub(crate) struct Such<F>(pub(crate) F);

/// The first waiter that was linked in an epoch or before.
#[derive(Clone, Copy)]
pub(super) struct Until(Epoch);

impl Until {
    pub(super) fn new(last: Epoch) -> Self {
        Self(last)
    }
}

impl<T> Pick<T> for First {
    #[inline]
    fn remove(&self, list: &mut NodeList<T>) -> Option<Removed<T>> {
        list.remove_first()
    }
}

impl<T> Pick<T> for Last {
    const END: Place = Place::Back;

    fn remove(&self, list: &mut NodeList<T>) -> Option<Removed<T>> {
        list.remove_last()
    }
}

/// How many of the first waiters are examined for a near one. To examine more would take longer
/// than to wake a waiter that is not near.
const FEW: usize = 32;

impl<T> Pick<T> for Near {
    #[inline]
    fn remove(&self, list: &mut NodeList<T>) -> Option<Removed<T>> {
        #[cold]
        fn near<T>(list: &mut NodeList<T>) -> Option<Removed<T>> {
            let local = tls::worker_local()?;
            // SAFETY: a node in the list is alive, and so is its owner, which would have to acquire
            // the lock to continue.
            let node = list.first_of(FEW, |waiter| unsafe { !waiter.is_elsewhere(local) })?;
            // SAFETY: it was just found in this list.
            unsafe { list.remove_found(node) }
        }
        let near = if list.len() > 1 { near(list) } else { None };
        near.or_else(|| list.remove_first())
    }
}

impl<T, F: Fn(&T) -> bool> Pick<T> for Such<F> {
    fn remove(&self, list: &mut NodeList<T>) -> Option<Removed<T>> {
        let node = NonNull::from(list.find(&self.0)?);
        // SAFETY: it was just found in this list.
        unsafe { list.remove_found(node) }
    }
}

impl<T> Pick<T> for Until {
    #[inline]
    fn remove(&self, list: &mut NodeList<T>) -> Option<Removed<T>> {
        let node = list.first_until(self.0)?;
        // SAFETY: it was just found in this list.
        unsafe { list.remove_found(node) }
    }
}
