//! Lowest-first chooses whom to wake, not who owns: a worker with clearly more begun tasks than others leaves new ones to
//! them. Work that nobody else is there to take it does itself, so that balance never costs time.

use super::Worker;
use crate::idle::Verdict;
use crate::task::{List, TaskRef};

/// So many begun tasks are never too many,
const FEW: isize = 16;

impl Worker {
    /// Looks again whether this worker has begun too many tasks: more than the mean by an eighth, and not just a few.
    pub(super) fn weigh(&self) {
        let own = self.core.owned();
        let overloaded = own > FEW && {
            let workers = self.group.workers().cast_signed();
            (own - FEW) * workers * 8 > self.group.owned() * 9
        };
        self.overloaded.set(overloaded);
    }

    /// Takes a task from the deque for good, or leaves it to others if it would stay here and too many do.
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

    /// Whether to leave what is in the group's queue to others for a moment, since there are others. One of them is woken:
    /// producers rely on this worker, who searches and does not take.
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

    /// Whether this worker has begun too many tasks, and somebody else has nothing to do. `searching` says whether this one
    /// is counted as searching.
    pub(super) fn should_defer(&self, searching: bool) -> bool {
        self.overloaded.get() && self.group.idle.has_others(self.index, searching)
    }
}
