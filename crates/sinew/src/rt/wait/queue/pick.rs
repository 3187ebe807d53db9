//! Which waiter of a queue is claimed.
//!
//! # Safety
//!
//! As the queue's: a node in the list is there, and its owner has to pass the lock to go on.
#![expect(unsafe_code, reason = "nodes are on the stacks of those who wait")]

use std::ptr::NonNull;

use super::super::tls;
use super::super::waiter::Waiter;
use super::list::{Epoch, NodeList};
use super::{Place, WaitNode};

/// A node that was taken out of its list, and its waiter.
pub(super) type Removed<T> = (NonNull<WaitNode<T>>, Waiter);

/// Which waiter to claim.
pub(crate) trait Pick<T> {
    /// The end of the queue that a waiter goes back to which was taken for one that has given up,
    /// and has not.
    const END: Place = Place::Front;

    /// Takes the node of the waiter out.
    fn remove(&self, list: &mut NodeList<T>) -> Option<Removed<T>>;
}

/// The waiter that has waited longest.
pub(crate) struct First;

/// The waiter that came last.
pub(crate) struct Last;

/// A waiter that continues on the caller's thread, or by itself, if one of the first few does; else
/// the first one.
pub(crate) struct Near;

/// The first waiter whose data is such.
pub(crate) struct Such<F>(pub(crate) F);

/// The first waiter that came in an epoch, or before.
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

/// How many of those who wait longest are looked at for one that is near: more would take longer
/// than to wake one that is not.
const FEW: usize = 32;

impl<T> Pick<T> for Near {
    #[inline]
    fn remove(&self, list: &mut NodeList<T>) -> Option<Removed<T>> {
        #[cold]
        fn near<T>(list: &mut NodeList<T>) -> Option<Removed<T>> {
            let local = tls::worker_local()?;
            // SAFETY: a node in the list is there, and so is its owner, which would have to pass
            // the lock to go on.
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
