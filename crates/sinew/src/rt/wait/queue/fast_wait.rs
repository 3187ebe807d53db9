//! The fast path of a wait that may be stopped: for fibers that no stop can reach yet, and waits
//! without a time limit. Most waits are such.
//!
//! It has a small frame of its own. With many fibers, what a fiber leaves on its stack has to be
//! loaded from far away when it continues.
//!
//! # Safety
//!
//! As the queue's: the node is out of the list when the wait is over.
#![expect(unsafe_code, reason = "nodes are on the stacks of waiters")]

use super::super::reason::WaitKind;
use super::super::stop::meet;
use super::super::suspend::{Manner, RunningFiber, can_suspend, wait_on_fiber};
use super::super::word::{Cause, Ends};
use super::{Locked, Outcome, Place, Queue, WaitNode};

impl<S, T> Queue<S, T> {
    /// [Waits](Self::wait) without a time limit where stops count, for a fiber that is not being
    /// stopped and has no ambient values in force. Returns `None` if that does not hold, or no
    /// longer holds. Returns [`Cause::Cancel`] if the fiber was poked, which may be a reason to
    /// stop. In both cases the caller takes the slow path.
    #[inline]
    pub(crate) fn wait_fast(
        &self,
        (local, control): RunningFiber,
        kind: WaitKind,
        data: T,
        enter: impl FnOnce(&mut Locked<'_, S, T>) -> Option<Place>,
    ) -> Option<Cause> {
        // SAFETY: the fiber runs, so its control block is alive.
        let this = unsafe { control.as_ref() };
        if !can_suspend(local, this) || !this.is_unstoppable() {
            return None;
        }
        let (node, mut is_unstoppable) = (WaitNode::new(data), true);
        let how = (kind.on(self), Ends::EventOrCancel, None, Manner::Suspend);
        let cause = wait_on_fiber(local, control, how, |waiter| {
            // From here on, cancellers see the open wait.
            meet();
            is_unstoppable = this.is_unstoppable();
            // SAFETY: the node is on this stack, and out of the list before it is gone: a waker
            // that claims the wait has taken it out, and after a poke `leave` does. Nothing in
            // between panics.
            is_unstoppable && unsafe { self.publish(&node, waiter, enter) }
        });
        if cause == Cause::Cancel {
            self.leave(&node, Outcome::NotNeeded);
        }
        is_unstoppable.then_some(cause)
    }
}
