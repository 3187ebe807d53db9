//! Claiming a waiter that need not be the first: one that is chosen by its data, or the last.
//!
//! # Safety
//!
//! As the queue's: a node in the list is there, and its owner has to pass the lock to go on.
#![expect(unsafe_code, reason = "nodes are on the stacks of those who wait")]

use std::ptr::NonNull;

use super::super::wake::Claimed;
use super::{Locked, Place};

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
    /// [Claims](Self::claim) the last waiter whose wait is still open.
    pub(crate) fn claim_last(&mut self) -> Option<Claimed> {
        while let Some((node, waiter)) = self.inside.list.remove_last() {
            let claimed = self.claim_removed((node, waiter), |_| (), |_| ());
            if claimed.is_some() {
                return claimed;
            }
            // SAFETY: its wait was not claimed, so its owner has to pass the lock to go on.
            unsafe { node.as_ref() }.lost_at.set(Some(Place::Back));
        }
        None
    }
}
