//! The short way to wait in a queue where stops count: for fibers that nothing can stop as yet, and that wait for ever. Most do.
//!
//! It has a frame of its own that is small: what a fiber leaves on its stack has to come from far away when it goes on, if there are many.
//!
//! # Safety
//!
//! As the queue's: the node is out of the list when the wait is over.
#![expect(unsafe_code, reason = "nodes are on the stacks of those who wait")]

use super::super::reason::WaitKind;
use super::super::stop::wait_fast;
use super::super::word::{Cause, Ends};
use super::{Locked, Node, Outcome, Place, Queue};

/// How a wait went that was tried the short way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FastWait {
    /// It is over: somebody claimed it, or there was nothing to wait for.
    Over,
    /// Somebody has poked it, and nobody claimed it.
    Poked,
    /// The caller may not go that way.
    Not,
}

impl<S, T> Queue<S, T> {
    /// [Waits](Self::wait) for ever, where stops count: the short way for fibers that nothing stops, which takes little of their stacks. Says how it
    /// went; but for the first way, the caller takes the long one.
    #[inline]
    pub(crate) fn wait_fast(
        &self,
        kind: WaitKind,
        data: T,
        enter: impl FnOnce(&mut Locked<'_, S, T>) -> Option<Place>,
    ) -> FastWait {
        let node = Node::new(data);
        let ended = wait_fast(kind.on(self), Ends::ByEvent, |waiter| {
            // SAFETY: the node is on this stack, and out of the list before it is gone: whoever claims the wait has taken it out, and after a poke
            // `leave` does. Nothing in between panics.
            unsafe { self.publish(&node, waiter, enter) }
        });
        match ended {
            None => FastWait::Not,
            Some(Cause::Cancel) => {
                self.leave(&node, Outcome::NotNeeded);
                FastWait::Poked
            }
            Some(_) => FastWait::Over,
        }
    }
}
