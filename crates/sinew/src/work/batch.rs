//! The batch of tasks that a consumer gets.

use super::inbox::Inbox;
use super::lane::Lanes;
use crate::rt::impl_debug;

/// An iterator over the tasks that have arrived at an [`ExecutionQueue`](super::ExecutionQueue), in
/// order, the urgent ones first. An urgent task that arrives meanwhile is returned next; other
/// tasks that arrive meanwhile are in the next batch.
///
/// Tasks that the function does not take are also in the next batch, which follows at once. See
/// there for the consequences of [taking
/// nothing](super::ExecutionQueue#a-function-that-takes-nothing).
pub struct Batch<'a, T> {
    inbox: &'a Inbox<T>,
    lanes: &'a mut Lanes<T>,
    /// The number of remaining tasks that are not urgent.
    left: usize,
    is_stopped: bool,
}

impl<'a, T> Batch<'a, T> {
    pub(super) fn new(inbox: &'a Inbox<T>, lanes: &'a mut Lanes<T>) -> Self {
        let left = lanes.normal();
        Self { inbox, lanes, left, is_stopped: false }
    }

    /// Makes the empty batch of the last call.
    pub(super) fn last(inbox: &'a Inbox<T>, lanes: &'a mut Lanes<T>) -> Self {
        Self { inbox, lanes, left: 0, is_stopped: true }
    }

    /// Returns whether this is the last call: the queue was stopped, and no tasks are left. The
    /// batch is empty then.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.is_stopped
    }
}

impl<T> Iterator for Batch<'_, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        if self.inbox.wants_look() {
            self.lanes.add(self.inbox.take());
        }
        if let Some(task) = self.lanes.pop_urgent() {
            return Some(task);
        }
        self.left = self.left.checked_sub(1)?;
        self.lanes.pop_normal()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.lanes.urgent() + self.left, None)
    }
}

impl_debug!(Batch<'a, T>, |batch| { is_stopped: batch.is_stopped, .. });
