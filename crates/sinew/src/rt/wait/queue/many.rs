//! Waiting in several queues at once: one wait, with a node in each queue. A waker that claims the
//! wait through one of them ends it for all. Knows neither what is waited for nor how many queues
//! there are. Their types may differ.
//!
//! The README beside this file shows that this is sound, and that nothing is given twice or lost.
//!
//! # Safety
//!
//! Trusted with nodes in several lists: [`wait_in_all`] returns only when none of them is in a
//! list.
#![expect(unsafe_code, reason = "nodes are lent to queues")]

use std::cell::Cell;

use super::super::reason::WaitOn;
use super::super::waiter::Waiter;
use super::super::word::Cause;
use super::{Limit, Locked, Outcome, Place, Queue, WaitNode};

/// One of several queues to wait in, of any type.
pub(crate) trait Door {
    /// Enters the queue, unless there is nothing to wait for. A node that is still linked by an
    /// earlier wait, which was not claimed, keeps its place.
    ///
    /// # Safety
    ///
    /// The waiter is the caller's own, in a wait that it has begun. `self` stays where it is until
    /// the caller [leaves](Self::leave).
    unsafe fn enter(&self, waiter: Waiter) -> Entered;

    /// Leaves the queue, if its node was entered. Returns whether the wait was claimed through it.
    fn leave(&self) -> bool;
}

/// The state of the wait after entering a queue.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entered {
    /// The wait is open.
    Waits,
    /// There was nothing to wait for. The caller has ended the wait, and taken what was available.
    Took,
    /// There was nothing to wait for, but nothing was taken: the wait has already ended otherwise.
    Ended,
}

/// A node for waiting in one queue.
pub(crate) struct Stay<T> {
    /// # Invariant
    ///
    /// The node is in no list except that of the queue that was entered with it, and only while
    /// `is_entered`.
    node: WaitNode<T>,
    is_entered: Cell<bool>,
}

impl<T> Stay<T> {
    pub(crate) fn new(data: T) -> Self {
        Self { node: WaitNode::new(data), is_entered: Cell::new(false) }
    }

    /// Returns the data that the node exchanges with a waker. Must not be called while the node is
    /// entered: then the lock of the queue protects the data.
    pub(crate) fn data(&self) -> &T {
        debug_assert!(!self.is_entered.get(), "the lock of the queue protects the data");
        &self.node.data
    }

    /// Enters a queue. `place` is called under its lock, and returns where to wait, if there is
    /// something to wait for. If not, `take` takes what is available, under the same hold of the
    /// lock, unless the wait has already ended otherwise. Neither function panics.
    ///
    /// # Safety
    ///
    /// As for [`Door::enter`]. If this has entered a queue and not left it, it is this one.
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
                // SAFETY: the caller is the waiter, and has not continued.
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
            // SAFETY: as above.
            false => unsafe { queue.publish(&self.node, waiter, enter) },
        };
        self.is_entered.set(is_linked);
        if let Some(own) = own {
            // A claimed thread does not continue before it is woken, even if it has claimed itself.
            own.go();
        }
        entered
    }

    /// Leaves the queue, if this has entered it. Returns whether the wait was claimed through it.
    ///
    /// # Safety
    ///
    /// If this has entered a queue, it is this one.
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

/// A queue, with the node for waiting in it.
pub(crate) struct Entrance<'q, S, T, P, K> {
    queue: &'q Queue<S, T>,
    place: P,
    take: K,
    /// # Invariant
    ///
    /// Never enters another queue.
    stay: Stay<T>,
}

impl<'q, S, T, P, K> Entrance<'q, S, T, P, K>
where
    P: Fn(&Locked<'_, S, T>, &T) -> Option<Place>,
    K: Fn(&mut Locked<'_, S, T>, &T),
{
    /// Creates an entrance to `queue`. Both functions are as those of [`Stay::enter`].
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

/// Lets doors of different types be in one slice.
impl<D: Door + ?Sized> Door for &D {
    unsafe fn enter(&self, waiter: Waiter) -> Entered {
        // SAFETY: the caller's promise.
        unsafe { (**self).enter(waiter) }
    }

    fn leave(&self) -> bool {
        (**self).leave()
    }
}

/// Waits in all of these queues, each of them once, until a waker claims the wait through one of
/// them, or the limit is reached. Stops at the first queue that has nothing to wait for. Also
/// returns the position of the queue that ended the wait, if a queue did.
///
/// # Panics
///
/// If the caller is a fiber that must not wait now. No queue has been entered then.
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
            // A poke without a reason to stop. The nodes keep their places.
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

/// Returns whether to sleep until the wait has ended, and the position of the door that had
/// something to take.
fn enter_all<D: Door>(leaves: &Leaves<'_, D>, waiter: Waiter) -> (bool, Option<usize>) {
    for (index, door) in leaves.0.iter().enumerate() {
        // SAFETY: the waiter is the caller's own. `leaves` borrows the door, and leaves it before
        // it is gone.
        match unsafe { door.enter(waiter) } {
            Entered::Waits => {}
            Entered::Took => return (false, Some(index)),
            // The caller sleeps, if only for a moment, because that returns what ended the wait.
            Entered::Ended => return (true, None),
        }
    }
    (true, None)
}

/// The doors to leave. Dropping this leaves them.
struct Leaves<'d, D: Door>(&'d [D]);

impl<D: Door> Leaves<'_, D> {
    /// Leaves all doors. Returns the position of the one through which the wait was claimed.
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
