//! A queue whose lock is held: looking at its waiters, and claiming one of them.
//!
//! # Safety
//!
//! As the queue's: a node in the list is alive, and its owner has to acquire the lock to continue.
#![expect(unsafe_code, reason = "nodes are on the stacks of waiters")]

use std::ops::{Deref, DerefMut};

use super::super::waiter::Waiter;
use super::super::wake::Claimed;
use super::super::word::Cause;
#[cfg(not(loom))]
use super::lock::Guard;
use super::pick::{Pick, Removed, Until};
use super::{Place, QueueBody, WaitNode};
#[cfg(loom)]
use crate::rt::base::sync::MutexGuard as Guard;
use crate::rt::base::sync::{AtomicBool, Ordering};

/// The right to access the state and the list of a queue. Must not be kept across a suspension, nor
/// while others are woken.
pub(crate) struct Locked<'a, S, T> {
    pub(super) inside: Guard<'a, QueueBody<S, T>>,
    pub(super) has_waiters: &'a AtomicBool,
}

impl<S, T> Locked<'_, S, T> {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.inside.list.is_empty()
    }

    /// Returns the data of the first waiter.
    #[inline]
    pub(crate) fn first(&self) -> Option<&T> {
        self.inside.list.first().map(|node| &node.data)
    }

    /// Claims a waiter whose wait is still open, if there is one among those that `pick` selects.
    /// The claimed waiter is out of the queue, and continues when the caller wakes it through the
    /// returned value. Before the claim, `tell` leaves something in its node. If the waiter turns
    /// out to have given up, `take_back` undoes that, and the next waiter is tried.
    #[inline]
    pub(crate) fn claim<P: Pick<T>>(
        &mut self,
        pick: P,
        mut tell: impl FnMut(&T),
        mut take_back: impl FnMut(&T),
    ) -> Option<Claimed> {
        while !self.is_empty() {
            let removed = pick.remove(&mut self.inside.list)?;
            let claimed = self.claim_removed(removed, P::END, &mut tell, &mut take_back);
            if claimed.is_some() {
                return claimed;
            }
        }
        None
    }

    /// [Claims](Self::claim) the waiter that `pick` selects, and tries no other if that one has
    /// given up.
    #[inline]
    pub(crate) fn try_claim<P: Pick<T>>(
        &mut self,
        pick: P,
        tell: impl FnOnce(&T),
        take_back: impl FnOnce(&T),
    ) -> Option<Claimed> {
        let removed = pick.remove(&mut self.inside.list)?;
        self.claim_removed(removed, P::END, tell, take_back)
    }

    /// Claims a waiter that was taken out of the list. It is taken out before the claim, since its
    /// owner does not look at the list again afterwards.
    #[inline]
    fn claim_removed(
        &mut self,
        (node, waiter): Removed<T>,
        end: Place,
        tell: impl FnOnce(&T),
        take_back: impl FnOnce(&T),
    ) -> Option<Claimed> {
        self.note_waiters();
        // SAFETY: the owner would have to acquire the lock to continue, so the node is alive.
        let node = unsafe { node.as_ref() };
        tell(&node.data);
        // SAFETY: the owner would have to acquire the lock to continue without being claimed.
        let claimed = unsafe { waiter.claim(Cause::Event) };
        if claimed.is_none() {
            // The node is alive for the same reason: its owner was not claimed through it.
            node.lost_at.set(Some(end));
            take_back(&node.data);
        }
        claimed
    }

    /// Ends the present epoch of the queue.
    pub(super) fn end_epoch(&mut self) -> Until {
        Until::new(self.inside.list.end_epoch())
    }

    /// Returns whether there is a waiter whose data satisfies the condition.
    pub(crate) fn has_such(&self, is_such: impl Fn(&T) -> bool) -> bool {
        self.inside.list.find(is_such).is_some()
    }

    /// Links a node at the place that `enter` returns, if it returns one.
    ///
    /// # Safety
    ///
    /// As for `Queue::publish`.
    #[inline]
    pub(super) unsafe fn link(
        &mut self,
        node: &WaitNode<T>,
        waiter: Waiter,
        enter: impl FnOnce(&mut Self) -> Option<Place>,
    ) -> bool {
        let Some(place) = enter(self) else {
            self.note_waiters();
            return false;
        };
        // SAFETY: the caller's promise.
        unsafe { self.inside.list.insert(place, node, waiter) };
        self.announce();
        true
    }

    /// Takes a node out. Returns `None` if it is in no list.
    ///
    /// # Safety
    ///
    /// If the node is in a list, it is this one.
    #[inline]
    pub(super) unsafe fn remove(&mut self, node: &WaitNode<T>) -> Option<Waiter> {
        // SAFETY: the caller's promise.
        let waiter = unsafe { self.inside.list.remove(node) };
        self.note_waiters();
        waiter
    }

    #[inline]
    fn note_waiters(&self) {
        if self.is_empty() {
            self.has_waiters.store(false, Ordering::Relaxed);
        }
    }

    /// Announces a waiter to threads that do not hold the lock, before it is linked. For a caller
    /// that is about to enter, and has to check something else in between.
    #[inline]
    pub(crate) fn announce(&mut self) {
        self.has_waiters.store(true, Ordering::Relaxed);
    }
}

impl<S, T> Deref for Locked<'_, S, T> {
    type Target = S;

    #[inline]
    fn deref(&self) -> &S {
        &self.inside.state
    }
}

impl<S, T> DerefMut for Locked<'_, S, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut S {
        &mut self.inside.state
    }
}
