//! The wait queue under everything that fibers and threads wait in, but for joins and timers. Knows neither what is waited for nor
//! who waits: a fiber or a thread, and once there are futures, a task.
//!
//! How it works, and why no wake-up is lost, is in the README beside this file.
//!
//! # Safety
//!
//! Trusted with nodes on the stacks of those who wait: [`Queue::wait`] comes back only when its node is in no list. And with waking
//! them: a waiter is claimed under the lock of the queue that its node is in.
#![expect(unsafe_code, reason = "nodes are on the stacks of those who wait")]

mod choose;
mod list;
// Models of a queue have loom's mutex instead. This lock has a model of its own.
#[cfg(any(not(loom), test))]
mod lock;
mod many;
#[cfg(all(test, loom))]
mod model;
mod terms;
mod unbound;
mod wakes;

pub(crate) use list::{Node, Place};
pub(crate) use many::{Door, Entered, Entrance, Stay, wait_in_all};
pub(crate) use terms::{GaveUp, Limit, Outcome};
pub(crate) use unbound::FastWait;
pub(crate) use wakes::Wakes;

use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

use self::list::{Epoch, List};
#[cfg(not(loom))]
use self::lock::{Guard, Guarded};
use super::reason::WaitKind;
use super::stop::Stop;
use super::tls;
use super::waiter::Waiter;
use super::wake::Claimed;
use super::word::Cause;
use crate::rt::base::sync::{AtomicBool, Ordering, constant};
#[cfg(loom)]
use crate::rt::base::sync::{Lock as Guarded, MutexGuard as Guard};

/// So many of those who wait longest are looked at for one that is near: more would take longer than to wake one that is not.
const FEW: usize = 32;

/// Those who wait for something, in the order in which they came, and what they wait for, as `S`. Each has a `T` for whoever wakes it.
pub(crate) struct Queue<S, T> {
    inside: Guarded<QueueBody<S, T>>,
    /// Whether anybody waits, for whoever does not have the lock. Changed under it.
    has_waiters: AtomicBool,
}

struct QueueBody<S, T> {
    state: S,
    list: List<T>,
}

impl<S, T> Queue<S, T> {
    constant! {
        pub(crate) fn new(state: S) -> Self {
            Self { inside: Guarded::new(QueueBody { state, list: List::new() }), has_waiters: AtomicBool::new(false) }
        }
    }

    #[inline]
    pub(crate) fn lock(&self) -> Locked<'_, S, T> {
        Locked { inside: self.inside.lock(), has_waiters: &self.has_waiters }
    }

    /// Whether nobody waits, as far as the caller can know without the lock: those who have come before something that it has seen are
    /// not overlooked.
    #[inline]
    pub(crate) fn seems_empty(&self) -> bool {
        !self.has_waiters.load(Ordering::Relaxed)
    }

    pub(crate) fn get_mut(&mut self) -> &mut S {
        &mut self.inside.get_mut().state
    }

    /// Waits in the queue, until somebody claims the waiter or the limit is reached. `enter` is
    /// called under the lock, with what the waiter tells, and says where to wait, if at all; once
    /// more, if somebody has taken the waiter for one that gave up, and it has not. Also returns
    /// what whoever claimed it has left.
    ///
    /// If the wait is claimed, all that the one who did so had done before is seen.
    ///
    /// # Panics
    ///
    /// If the caller is a fiber that must not wait now; `enter` has not been called then.
    #[inline]
    pub(crate) fn wait(
        &self,
        kind: WaitKind,
        data: T,
        limit: Limit,
        enter: impl FnMut(&mut Locked<'_, S, T>, &T) -> Option<Place>,
    ) -> (Outcome, T) {
        self.wait_then(kind, data, limit, enter, || ())
    }

    /// [Waits](Self::wait), and calls `entered` once the waiter can be claimed, and the lock is
    /// free: it neither panics nor waits.
    #[inline]
    pub(crate) fn wait_then(
        &self,
        kind: WaitKind,
        data: T,
        limit: Limit,
        mut enter: impl FnMut(&mut Locked<'_, S, T>, &T) -> Option<Place>,
        entered: impl FnOnce(),
    ) -> (Outcome, T) {
        let (node, mut is_needed) = (Node::new(data), false);
        let mut ended = limit.wait_under_lock(kind.on(self), |waiter| {
            // SAFETY: the node is on this stack, and out of the list before it is gone: whoever claims the wait has taken it out,
            // and `leave` does otherwise. Nothing in between panics.
            is_needed = unsafe { self.publish(&node, waiter, |locked| enter(locked, &node.data)) };
            if is_needed {
                entered();
            }
            is_needed
        });
        if is_needed && matches!(ended, Ok(Cause::Event)) {
            return (Outcome::Woken, node.data);
        }
        if matches!(ended, Ok(Cause::Cancel)) {
            (ended, is_needed) = self.wait_on(kind, &node, limit, &mut enter);
        }
        let outcome = match ended {
            _ if !is_needed && ended.is_ok() => Outcome::NotNeeded,
            // The invariant of `Locked::claim`: it is in no list.
            Ok(Cause::Event | Cause::Unpark) => Outcome::Woken,
            Ok(Cause::Time | Cause::Cancel) => self.leave(&node, Outcome::TimedOut),
            Err(stop) => self.leave(&node, Outcome::Stopped(stop)),
        };
        (outcome, node.data)
    }

    /// Waits on after a poke that was no reason to stop, and has kept its place meanwhile. Never ends by another one; also returns
    /// whether there was something to wait for.
    #[cold]
    fn wait_on(
        &self,
        kind: WaitKind,
        node: &Node<T>,
        limit: Limit,
        enter: &mut impl FnMut(&mut Locked<'_, S, T>, &T) -> Option<Place>,
    ) -> (Result<Cause, Stop>, bool) {
        loop {
            let mut is_needed = false;
            let ended = limit.later().wait(kind.on(self), |waiter| {
                // SAFETY: `wait_then` says why it stays where it is; the queue that it may be in is
                // this one.
                is_needed = unsafe { self.publish_again(node, waiter, |locked| enter(locked, &node.data)) };
                is_needed
            });
            if !matches!(ended, Ok(Cause::Cancel)) {
                return (ended, is_needed);
            }
        }
    }

    /// Enters the queue, if that is needed.
    ///
    /// # Safety
    ///
    /// The node is in no list, and stays where it is until it is out of this one.
    #[inline]
    unsafe fn publish(
        &self,
        node: &Node<T>,
        waiter: Waiter,
        enter: impl FnOnce(&mut Locked<'_, S, T>) -> Option<Place>,
    ) -> bool {
        // SAFETY: the caller's promise.
        unsafe { self.lock().link(node, waiter, enter) }
    }

    /// Goes on in the queue with a new wait, where the node is. If a waker has found the old wait
    /// ended, and taken the node out at one end of the list, the node goes back to that end, if it
    /// is still needed.
    ///
    /// # Safety
    ///
    /// The node is in no list or in this one, and stays where it is until it is out of it.
    unsafe fn publish_again(
        &self,
        node: &Node<T>,
        waiter: Waiter,
        enter: impl FnOnce(&mut Locked<'_, S, T>) -> Option<Place>,
    ) -> bool {
        let mut locked = self.lock();
        if node.renew(waiter) {
            return true;
        }
        let place = node.lost_at.take().unwrap_or(Place::Front);
        // SAFETY: it is in no list, and the caller's promise.
        unsafe { locked.link(node, waiter, |locked| enter(locked).map(|_| place)) }
    }

    /// Takes a node out whose wait was not claimed.
    #[cold]
    fn leave(&self, node: &Node<T>, outcome: Outcome) -> Outcome {
        let mut locked = self.lock();
        // SAFETY: if it is in a list, it is that of this queue.
        unsafe { locked.remove(node) };
        outcome
    }

    /// Wakes all who wait now, in turn, whose nodes are told so. Those who come meanwhile wait, and take nobody's turn, even if they go to the front.
    pub(crate) fn wake_all(&self, mut tell: impl FnMut(&T)) {
        let mut locked = self.lock();
        let now = locked.inside.list.end_epoch();
        loop {
            let mut wakes = Wakes::new();
            while !wakes.is_full()
                && let Some(removed) = locked.remove_until(now)
            {
                let claimed = locked.claim_removed(removed, &mut tell, |_| ());
                claimed.into_iter().for_each(|claimed| wakes.add(claimed));
            }
            let is_over = !wakes.is_full();
            drop(locked);
            wakes.go();
            if is_over {
                return;
            }
            locked = self.lock();
        }
    }
}

/// The right to what is in a queue. Not to be kept across a suspension, nor while others are woken.
pub(crate) struct Locked<'a, S, T> {
    inside: Guard<'a, QueueBody<S, T>>,
    has_waiters: &'a AtomicBool,
}

impl<S, T> Locked<'_, S, T> {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.inside.list.is_empty()
    }

    /// How many wait.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.inside.list.len()
    }

    /// What the first one who waits has told.
    #[inline]
    pub(crate) fn first(&self) -> Option<&T> {
        self.inside.list.first().map(|node| &node.data)
    }

    /// Claims the first one whose wait is still open: it is out of the queue, and goes on when the value says so. `tell` leaves
    /// something for it; also for those who are found to have given up, and do not look.
    #[inline]
    pub(crate) fn claim(&mut self, mut tell: impl FnMut(&T)) -> Option<Claimed> {
        while !self.is_empty() {
            if let Some(claimed) = self.claim_if_waiting(&mut tell) {
                return Some(claimed);
            }
        }
        None
    }

    /// Takes the first one out, and claims it. None, if it has given up, or there is none.
    #[inline]
    pub(crate) fn claim_if_waiting(&mut self, tell: impl FnOnce(&T)) -> Option<Claimed> {
        self.claim_or(tell, |_| ())
    }

    /// The same. If it has given up, `take_back` undoes what `tell` has left for it.
    #[inline]
    pub(crate) fn claim_or(&mut self, tell: impl FnOnce(&T), take_back: impl FnOnce(&T)) -> Option<Claimed> {
        // It is out of the list before it is claimed, since its owner does not look again then.
        let (node, waiter) = self.inside.list.remove_first()?;
        self.claim_removed((node, waiter), tell, take_back)
    }

    #[inline]
    fn claim_removed(
        &mut self,
        (node, waiter): (NonNull<Node<T>>, Waiter),
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
            node.lost_at.set(Some(Place::Front));
            take_back(&node.data);
        }
        claimed
    }

    /// [Claims](Self::claim) one that goes on by the caller's thread, or by itself, if one of the first few does; else the first of all.
    #[inline]
    pub(crate) fn claim_near(&mut self) -> Option<Claimed> {
        let near = if self.len() > 1 { self.remove_near() } else { None };
        let claimed = near.and_then(|removed| self.claim_removed(removed, |_| (), |_| ()));
        claimed.or_else(|| self.claim(|_| ()))
    }

    /// Takes the first one out that came until the end of an epoch.
    #[inline]
    fn remove_until(&mut self, last: Epoch) -> Option<(NonNull<Node<T>>, Waiter)> {
        let node = self.inside.list.first_until(last)?;
        // SAFETY: a node in the list is there.
        let there = unsafe { node.as_ref() };
        // SAFETY: it is in this list.
        let waiter = unsafe { self.inside.list.remove(there) }?;
        Some((node, waiter))
    }

    #[cold]
    fn remove_near(&mut self) -> Option<(NonNull<Node<T>>, Waiter)> {
        let local = tls::worker_local()?;
        // SAFETY: a node in the list is there, and so is its owner, which would have to pass the lock to go on.
        let node = self.inside.list.first_of(FEW, |waiter| unsafe { !waiter.is_elsewhere(local) })?;
        // SAFETY: as above.
        let there = unsafe { node.as_ref() };
        // SAFETY: it is in this list.
        let waiter = unsafe { self.inside.list.remove(there) }?;
        Some((node, waiter))
    }

    /// Whether one waits that is such.
    pub(crate) fn has_such(&self, is_such: impl Fn(&T) -> bool) -> bool {
        self.inside.list.find(is_such).is_some()
    }

    /// Claims the first one whose wait is still open, and exchanges something with it before. With one who is found to have given up,
    /// it is exchanged once more.
    #[inline]
    pub(crate) fn claim_and_swap(&mut self, swap: impl Fn(&T)) -> Option<Claimed> {
        while !self.is_empty() {
            if let Some(claimed) = self.claim_or(&swap, &swap) {
                return Some(claimed);
            }
        }
        None
    }

    /// Puts a node in, where `enter` says, if that is needed.
    ///
    /// # Safety
    ///
    /// As for [`Queue::publish`].
    #[inline]
    unsafe fn link(
        &mut self,
        node: &Node<T>,
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
    unsafe fn remove(&mut self, node: &Node<T>) -> Option<Waiter> {
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

    /// Shows those who do not have the lock that somebody waits, though nobody does yet: for whoever is about to enter, and looks at
    /// something else first.
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
