//! Claiming a waiter that is chosen by its data, and need not be the first.
//!
//! # Safety
//!
//! As the queue's: a node in the list is there, and its owner has to pass the lock to go on.
#![expect(unsafe_code, reason = "nodes are on the stacks of those who wait")]

use std::ptr::NonNull;

use super::super::waiter::Claimed;
use super::Locked;

impl<S, T> Locked<'_, S, T> {
    /// [Claims](Self::claim_or) the first waiter whose data is such.
    pub(crate) fn claim_such_or(
        &mut self,
        is_such: impl Fn(&T) -> bool,
        tell: impl FnOnce(&T),
        take_back: impl FnOnce(&T),
    ) -> Option<Claimed> {
        let node = NonNull::from(self.inside.list.find(is_such)?);
        // SAFETY: a node in the list is there.
        let there = unsafe { node.as_ref() };
        // SAFETY: it is in this list.
        let waiter = unsafe { self.inside.list.remove(there) }?;
        self.claim_removed((node, waiter), tell, take_back)
    }
}
