//! Balance of begun tasks. Waking the lowest sleeper first does not spread tasks evenly, so a
//! worker with clearly more begun tasks than the mean leaves new ones to other workers. If no other
//! worker takes such a task, the worker runs it itself, so that balance never delays work.

use super::Worker;
use crate::idle::Verdict;
use crate::task::{List, TaskRef};

/// A worker with this number of begun tasks or fewer never has too many.
const FEW: isize = 16;

impl Worker {
    /// Checks again whether this worker has begun too many tasks: more than the mean by an eighth,
    /// and by more than a few.
    pub(super) fn weigh(&self) {
        let own = self.core.owned();
        let overloaded = own > FEW && {
            let workers = self.group.workers().cast_signed();
            (own - FEW) * workers * 8 > self.group.owned() * 9
        };
        self.overloaded.set(overloaded);
    }

    /// Returns a task from the deque; or leaves it to other workers, if it would stay here once
    /// begun and this worker has begun too many.
    #[inline]
    pub(super) fn accept(&self, task: TaskRef) -> Option<TaskRef> {
        if self.overloaded.get() && task.settles() { self.leave_to_others(task) } else { Some(task) }
    }

    #[cold]
    fn leave_to_others(&self, task: TaskRef) -> Option<TaskRef> {
        self.weigh();
        if !self.overloaded.get() {
            return Some(task);
        }
        self.push_all(List::from(task));
        None
    }

    /// Returns whether to leave the tasks in the group's queue to an idle worker for a moment.
    /// Wakes one: producers rely on this worker, which searches and does not take them.
    pub(super) fn defers(&self) -> bool {
        if !self.should_defer(true) || self.group.queue.is_empty() {
            return false;
        }
        let verdict = self.look_at_lone(usize::MAX, 0);
        if verdict == Verdict::SpareAtFirst {
            let _ = self.group.idle.claim(1, |worker| self.wake(worker));
        }
        verdict != Verdict::Take
    }

    /// Returns whether this worker has begun too many tasks and another one has nothing to do.
    /// `searching` says whether this worker is counted as searching.
    pub(super) fn should_defer(&self, searching: bool) -> bool {
        self.overloaded.get() && self.group.idle.has_others(self.index, searching)
    }
}
