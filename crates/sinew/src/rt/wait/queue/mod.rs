//! The wait queue under all waits of fibers and threads, except joins and timers. Knows neither
//! what is waited for nor what waits: a fiber or a thread, and later the task of a future.
//!
//! The README beside this file explains how it works, and why no wake-up is lost.
//!
//! # Safety
//!
//! Trusted with nodes on the stacks of their owners: [`Queue::wait`] returns only when its node is
//! in no list. Also trusted with waking: a waiter is claimed under the lock of the queue that its
//! node is in.
#![expect(unsafe_code, reason = "nodes are on the stacks of waiters")]

mod list;
// Models of a queue use loom's mutex instead. This lock has a model of its own.
mod fast_wait;
#[cfg(any(not(loom), test))]
mod lock;
mod locked;
mod many;
#[cfg(all(test, loom))]
mod model;
pub(crate) mod pick;
mod terms;
mod wakes;

pub(crate) use list::{Place, WaitNode};
pub(crate) use locked::Locked;
pub(crate) use many::{Door, Entered, Entrance, Stay, wait_in_all};
pub(crate) use terms::{GaveUp, Limit, Outcome};
pub(crate) use wakes::Wakes;

use self::list::NodeList;
#[cfg(not(loom))]
use self::lock::Guarded;
use super::reason::WaitKind;
use super::stop::Stop;
use super::waiter::Waiter;
use super::word::Cause;
#[cfg(loom)]
use crate::rt::base::sync::Lock as Guarded;
use crate::rt::base::sync::{AtomicBool, Ordering, constant};

/// The waiters for something, in the order of their arrival, and the state `S` that they wait for.
/// Each waiter has a `T`, which it exchanges with its waker.
pub(crate) struct Queue<S, T> {
    inside: Guarded<QueueBody<S, T>>,
    /// Whether there are waiters, for threads that do not hold the lock. Changed under the lock.
    has_waiters: AtomicBool,
}

struct QueueBody<S, T> {
    state: S,
    list: NodeList<T>,
}

impl<S, T> Queue<S, T> {
    constant! {
        pub(crate) fn new(state: S) -> Self {
            Self { inside: Guarded::new(QueueBody { state, list: NodeList::new() }), has_waiters: AtomicBool::new(false) }
        }
    }

    #[inline]
    pub(crate) fn lock(&self) -> Locked<'_, S, T> {
        Locked { inside: self.inside.lock(), has_waiters: &self.has_waiters }
    }

    /// Returns whether the queue is empty, as far as the caller can know without the lock. It does
    /// not miss waiters that arrived before something that the caller has seen.
    #[inline]
    pub(crate) fn seems_empty(&self) -> bool {
        !self.has_waiters.load(Ordering::Relaxed)
    }

    pub(crate) fn get_mut(&mut self) -> &mut S {
        &mut self.inside.get_mut().state
    }

    /// Waits in the queue until a waker claims the waiter or the limit is reached. `enter` is
    /// called under the lock, with the waiter's data, and returns where to wait, if there is
    /// something to wait for. It is called once more if a waker has taken the waiter for one that
    /// gave up, and it has not. Also returns the data, with what the waker has left in it.
    ///
    /// If the wait is claimed, the caller sees everything that the waker did before.
    ///
    /// # Panics
    ///
    /// If the caller is a fiber that must not wait now. `enter` has not been called then.
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

    /// [Waits](Self::wait), and calls `entered` once the waiter can be claimed and the lock is
    /// free. `entered` neither panics nor waits.
    #[inline]
    pub(crate) fn wait_then(
        &self,
        kind: WaitKind,
        data: T,
        limit: Limit,
        mut enter: impl FnMut(&mut Locked<'_, S, T>, &T) -> Option<Place>,
        entered: impl FnOnce(),
    ) -> (Outcome, T) {
        let (node, mut is_needed) = (WaitNode::new(data), false);
        let mut ended = limit.wait_under_lock(kind.on(self), |waiter| {
            // SAFETY: the node is on this stack, and out of the list before it is gone: a waker
            // that claims the wait has taken it out, and `leave` does otherwise. Nothing in between
            // panics.
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
            // The invariant of `Locked::claim`: the node is in no list.
            Ok(Cause::Event | Cause::Unpark) => Outcome::Woken,
            Ok(Cause::Time | Cause::Cancel) => self.leave(&node, Outcome::TimedOut),
            Err(stop) => self.leave(&node, Outcome::Stopped(stop)),
        };
        (outcome, node.data)
    }

    /// Continues to wait after a poke that was no reason to stop. The node has kept its place
    /// meanwhile. Never ends by a poke. Also returns whether there was something to wait for.
    #[cold]
    fn wait_on(
        &self,
        kind: WaitKind,
        node: &WaitNode<T>,
        limit: Limit,
        enter: &mut impl FnMut(&mut Locked<'_, S, T>, &T) -> Option<Place>,
    ) -> (Result<Cause, Stop>, bool) {
        loop {
            let mut is_needed = false;
            let ended = limit.later().wait_unusually(kind.on(self), &mut |waiter| {
                // SAFETY: `wait_then` argues why the node stays where it is. If it is in a queue,
                // it is this one.
                is_needed = unsafe { self.publish_again(node, waiter, |locked| enter(locked, &node.data)) };
                is_needed
            });
            if !matches!(ended, Ok(Cause::Cancel)) {
                return (ended, is_needed);
            }
        }
    }

    /// Enters the queue, if `enter` asks for it.
    ///
    /// # Safety
    ///
    /// The node is in no list, and stays where it is until it is out of this one.
    #[inline]
    unsafe fn publish(
        &self,
        node: &WaitNode<T>,
        waiter: Waiter,
        enter: impl FnOnce(&mut Locked<'_, S, T>) -> Option<Place>,
    ) -> bool {
        // SAFETY: the caller's promise.
        unsafe { self.lock().link(node, waiter, enter) }
    }

    /// Continues in the queue with a new wait, at the place of the node. If a waker has found that
    /// the old wait had ended, and has taken the node out at one end of the list, the node goes
    /// back to that end, if the wait is still needed.
    ///
    /// # Safety
    ///
    /// The node is in no list or in this one, and stays where it is until it is out of it.
    unsafe fn publish_again(
        &self,
        node: &WaitNode<T>,
        waiter: Waiter,
        enter: impl FnOnce(&mut Locked<'_, S, T>) -> Option<Place>,
    ) -> bool {
        let mut locked = self.lock();
        if node.renew(waiter) {
            return true;
        }
        let place = node.lost_at.take().unwrap_or(Place::Front);
        // SAFETY: the node is in no list; the rest is the caller's promise.
        unsafe { locked.link(node, waiter, |locked| enter(locked).map(|_| place)) }
    }

    /// Takes out a node whose wait was not claimed.
    #[cold]
    fn leave(&self, node: &WaitNode<T>, outcome: Outcome) -> Outcome {
        let mut locked = self.lock();
        // SAFETY: if the node is in a list, it is that of this queue.
        unsafe { locked.remove(node) };
        outcome
    }

    /// Wakes all present waiters in turn, and calls `tell` for their nodes. Waiters that arrive
    /// meanwhile stay, and take no other waiter's turn, even if they enter at the front.
    pub(crate) fn wake_all(&self, mut tell: impl FnMut(&T)) {
        let mut locked = self.lock();
        let now = locked.end_epoch();
        loop {
            let mut wakes = Wakes::new();
            while !wakes.is_full()
                && let Some(claimed) = locked.claim(now, &mut tell, |_| ())
            {
                wakes.add(claimed);
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
