//! A queue under its lock: which waiters there are, and claiming one of them.
//!
//! # Safety
//!
//! As the queue's: a node in the list is there, and its owner has to pass the lock to go on.
#![expect(unsafe_code, reason = "nodes are on the stacks of those who wait")]

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

/// The right to what is in a queue. Not to be kept across a suspension, nor while others are woken.
pub(crate) struct Locked<'a, S, T> {
    pub(super) inside: Guard<'a, QueueBody<S, T>>,
    pub(super) has_waiters: &'a AtomicBool,
}

impl<S, T> Locked<'_, S, T> {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.inside.list.is_empty()
    }

    /// What the first one who waits has told.
    #[inline]
    pub(crate) fn first(&self) -> Option<&T> {
        self.inside.list.first().map(|node| &node.data)
    }

    /// Claims a waiter whose wait is still open, if there is one among those to pick: it is out of
    /// the queue, and continues when the returned value says so. `tell` leaves something for it
    /// before. If a waiter is found to have given up, `take_back` undoes that, and the next one is
    /// tried.
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

    /// [Claims](Self::claim) the waiter that is picked, and tries no other if it has given up.
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

    /// Claims a waiter that was taken out: before that, since its owner does not look again then.
    #[inline]
    fn claim_removed(
        &mut self,
        (node, waiter): Removed<T>,
        end: Place,
        tell: impl FnOnce(&T),
        take_back: impl FnOnce(&T),
    ) -> Option<Claimed> {
        self.note_waiters();
        // SAFETY: its owner would have to pass the lock to go on, so it is there.
        let node = unsafe { node.as_ref() };
        tell(&node.data);
        // SAFETY: its owner would have to pass the lock to go on without being claimed.
        let claimed = unsafe { waiter.claim(Cause::Event) };
        if claimed.is_none() {
            // For the same reason the node is there: its owner was claimed by nobody through it.
            node.lost_at.set(Some(end));
            take_back(&node.data);
        }
        claimed
    }

    /// Ends the present epoch of the queue.
    pub(super) fn end_epoch(&mut self) -> Until {
        Until::new(self.inside.list.end_epoch())
    }

    /// Whether one waits that is such.
    pub(crate) fn has_such(&self, is_such: impl Fn(&T) -> bool) -> bool {
        self.inside.list.find(is_such).is_some()
    }

    /// Puts a node in, where `enter` says, if that is needed.
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

    /// Takes a node out. None, if it is in no list.
    ///
    /// # Safety
    ///
    /// If it is in a list, it is this one.
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

    /// Shows a waiter to threads that do not have the lock, before there is one: for a caller that
    /// is about to enter, and looks at something else first.
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
