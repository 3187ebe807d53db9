//! The short way to wait in a queue where stops count: for fibers that nothing can stop as yet, and that wait for ever. Most do.
//!
//! It has a frame of its own that is small: what a fiber leaves on its stack has to come from far away when it goes on, if there are many.
//!
//! # Safety
//!
//! As the queue's: the node is out of the list when the wait is over.
#![expect(unsafe_code, reason = "nodes are on the stacks of those who wait")]

use super::super::reason::WaitKind;
use super::super::stop::meet;
use super::super::suspend::{Manner, RunningFiber, can_suspend, wait_on_fiber};
use super::super::word::{Cause, Ends};
use super::{Locked, Outcome, Place, Queue, WaitNode};

impl<S, T> Queue<S, T> {
    /// [Waits](Self::wait) for ever, where stops count: the short way for a fiber that nobody has begun to stop and that has nothing in force. Returns none
    /// if the fiber is not such, or not any more; and [`Cause::Cancel`] if it was poked, which may be a reason to stop: the caller takes the long way then.
    #[inline]
    pub(crate) fn wait_fast(
        &self,
        (local, control): RunningFiber,
        kind: WaitKind,
        data: T,
        enter: impl FnOnce(&mut Locked<'_, S, T>) -> Option<Place>,
    ) -> Option<Cause> {
        // SAFETY: it runs, so it is there.
        let this = unsafe { control.as_ref() };
        if !can_suspend(local, this) || !this.is_unstoppable() {
            return None;
        }
        let (node, mut is_unstoppable) = (WaitNode::new(data), true);
        let how = (kind.on(self), Ends::EventOrCancel, None, Manner::Suspend);
        let cause = wait_on_fiber(local, control, how, |waiter| {
            // The wait is open from here on for cancellers.
            meet();
            is_unstoppable = this.is_unstoppable();
            // SAFETY: the node is on this stack, and out of the list before it is gone: a waker that claims the wait has taken it out, and after a poke
            // `leave` does. Nothing in between panics.
            is_unstoppable && unsafe { self.publish(&node, waiter, enter) }
        });
        if cause == Cause::Cancel {
            self.leave(&node, Outcome::NotNeeded);
        }
        is_unstoppable.then_some(cause)
    }
}
