//! Waiting in several queues at once: one wait, with a node in each of them. Whoever claims it through one of them ends it for all. Knows
//! neither what is waited for nor how many queues there are, which may be of different types.
//!
//! Why that is sound, and why nothing is given twice or lost, is in the README beside this file.
//!
//! # Safety
//!
//! Trusted with nodes in several lists: [`wait_in_all`] comes back only when all of them are in none.
#![expect(unsafe_code, reason = "nodes are lent to queues")]

use std::cell::Cell;

use super::super::reason::WaitOn;
use super::super::waiter::Waiter;
use super::super::word::Cause;
use super::{Limit, Locked, Outcome, Place, Queue, WaitNode};

/// One of several queues to wait in, whatever its type.
pub(crate) trait Door {
    /// Enters the queue, unless there is nothing to wait for. One that is in it by an earlier wait, which nobody has claimed, keeps its
    /// place.
    ///
    /// # Safety
    ///
    /// The waiter is the caller's own, in a wait that it has begun. This stays where it is before the caller [leaves](Self::leave).
    unsafe fn enter(&self, waiter: Waiter) -> Entered;

    /// Leaves the queue, if it is in it. Whether the wait was claimed through it.
    fn leave(&self) -> bool;
}

/// What became of the wait.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entered {
    /// It goes on.
    Waits,
    /// There was nothing to wait for. The caller has ended it, and what there was is taken.
    Took,
    /// There was nothing to wait for, and nothing was taken: the wait has ended by something else.
    Ended,
}

/// A node to wait in a queue by.
pub(crate) struct Stay<T> {
    /// # Invariant
    ///
    /// In no list but that of the queue that was entered by it, and only while `is_entered`.
    node: WaitNode<T>,
    is_entered: Cell<bool>,
}

impl<T> Stay<T> {
    pub(crate) fn new(data: T) -> Self {
        Self { node: WaitNode::new(data), is_entered: Cell::new(false) }
    }

    /// What whoever claims the wait is told, and what it has left. Not while it is in a queue: it is under the lock of that.
    pub(crate) fn data(&self) -> &T {
        debug_assert!(!self.is_entered.get(), "it is whoever's who has the lock");
        &self.node.data
    }

    /// Enters a queue. `place` is called under its lock, and says where to wait, if at all. If not, `take` takes what there is, under the same
    /// hold of the lock; unless the wait has ended by something else. Neither of them panics.
    ///
    /// # Safety
    ///
    /// As for [`Door::enter`]; and if it has entered a queue and not left it, it is this one.
    pub(crate) unsafe fn enter<S>(
        &self,
        queue: &Queue<S, T>,
        waiter: Waiter,
        place: impl FnOnce(&mut Locked<'_, S, T>, &T) -> Option<Place>,
        take: impl FnOnce(&mut Locked<'_, S, T>, &T),
    ) -> Entered {
        let (mut entered, mut own) = (Entered::Waits, None);
        let enter = |locked: &mut Locked<'_, S, T>| {
            let place = place(locked, &self.node.data);
            if place.is_none() {
                // SAFETY: the caller is the one who waits, and has not gone on.
                own = unsafe { waiter.claim(Cause::Event) };
                entered = Entered::Ended;
                if own.is_some() {
                    take(locked, &self.node.data);
                    entered = Entered::Took;
                }
            }
            place
        };
        let is_linked = match self.is_entered.get() {
            // SAFETY: the invariant of `node`, which stays where it is, by the caller's promise.
            true => unsafe { queue.publish_again(&self.node, waiter, enter) },
            // SAFETY: the same.
            false => unsafe { queue.publish(&self.node, waiter, enter) },
        };
        self.is_entered.set(is_linked);
        if let Some(own) = own {
            // A thread that was claimed, if only by itself, does not go on before it is woken.
            own.go();
        }
        entered
    }

    /// Leaves the queue, if it is in it. Whether the wait was claimed through it.
    ///
    /// # Safety
    ///
    /// If it has entered a queue, it is this one.
    pub(crate) unsafe fn leave<S>(&self, queue: &Queue<S, T>) -> bool {
        if !self.is_entered.replace(false) {
            return false;
        }
        let mut locked = queue.lock();
        // SAFETY: the invariant of `node`, and the caller's promise.
        let is_taken_out = unsafe { locked.remove(&self.node) }.is_none();
        is_taken_out && self.node.lost_at.get().is_none()
    }
}

/// A queue, and the node to wait in it.
pub(crate) struct Entrance<'q, S, T, P, K> {
    queue: &'q Queue<S, T>,
    place: P,
    take: K,
    /// # Invariant
    ///
    /// Enters no other queue.
    stay: Stay<T>,
}

impl<'q, S, T, P, K> Entrance<'q, S, T, P, K>
where
    P: Fn(&Locked<'_, S, T>, &T) -> Option<Place>,
    K: Fn(&mut Locked<'_, S, T>, &T),
{
    /// Both functions are as those of [`Stay::enter`].
    pub(crate) fn new(queue: &'q Queue<S, T>, data: T, place: P, take: K) -> Self {
        Self { queue, place, take, stay: Stay::new(data) }
    }
}

impl<S, T, P, K> Door for Entrance<'_, S, T, P, K>
where
    P: Fn(&Locked<'_, S, T>, &T) -> Option<Place>,
    K: Fn(&mut Locked<'_, S, T>, &T),
{
    unsafe fn enter(&self, waiter: Waiter) -> Entered {
        // SAFETY: the caller's promise, and the invariant of `stay`.
        unsafe { self.stay.enter(self.queue, waiter, |locked, data| (self.place)(locked, data), &self.take) }
    }

    fn leave(&self) -> bool {
        // SAFETY: the invariant of `stay`.
        unsafe { self.stay.leave(self.queue) }
    }
}

/// So that those of different types may be in one slice.
impl<D: Door + ?Sized> Door for &D {
    unsafe fn enter(&self, waiter: Waiter) -> Entered {
        // SAFETY: the caller's promise.
        unsafe { (**self).enter(waiter) }
    }

    fn leave(&self) -> bool {
        (**self).leave()
    }
}

/// Waits in all of these queues, each of them once, until somebody claims the wait through one of them, or the limit is reached. Goes no further than to
/// the first that says that there is nothing to wait for. Also returns the position of the queue that ended the wait, if one did.
///
/// # Panics
///
/// If the caller is a fiber that must not wait now; no queue has been entered then.
pub(crate) fn wait_in_all<D: Door>(on: WaitOn, doors: &[D], mut limit: Limit) -> (Outcome, Option<usize>) {
    let leaves = Leaves(doors);
    loop {
        let mut took = None;
        let ended = limit.next_wait().wait(on, |waiter| {
            let (is_needed, index) = enter_all(&leaves, waiter);
            took = index;
            is_needed
        });
        let outcome = match ended {
            // It was a poke, and no reason to stop. It keeps its places.
            Ok(Cause::Cancel) => continue,
            _ if took.is_some() => Outcome::NotNeeded,
            Ok(Cause::Event | Cause::Unpark) => Outcome::Woken,
            Ok(Cause::Time) => Outcome::TimedOut,
            Err(stop) => Outcome::Stopped(stop),
        };
        let claimed = leaves.leave();
        return (outcome, took.or(claimed));
    }
}

/// Whether the wait is to be slept through, and the position of the door that had something to take.
fn enter_all<D: Door>(leaves: &Leaves<'_, D>, waiter: Waiter) -> (bool, Option<usize>) {
    for (index, door) in leaves.0.iter().enumerate() {
        // SAFETY: it is the caller's own. It is borrowed by `leaves`, which has it leave before it is gone.
        match unsafe { door.enter(waiter) } {
            Entered::Waits => {}
            Entered::Took => return (false, Some(index)),
            // It is slept through, if only for a moment, since that tells what ended it.
            Entered::Ended => return (true, None),
        }
    }
    (true, None)
}

/// Those to be left, when this is dropped at the latest.
struct Leaves<'d, D: Door>(&'d [D]);

impl<D: Door> Leaves<'_, D> {
    /// The position of the one that the wait was claimed through.
    fn leave(&self) -> Option<usize> {
        self.0
            .iter()
            .enumerate()
            .fold(None, |claimed, (index, door)| if door.leave() { Some(index) } else { claimed })
    }
}

impl<D: Door> Drop for Leaves<'_, D> {
    fn drop(&mut self) {
        self.leave();
    }
}
