//! Chooses a worker's next task. Ready tasks come first, since they have begun and hold resources.
//! At intervals the other places come first, so that no place waits for ever, however busy another
//! one is.

use super::Worker;
use crate::lifecycle::Stage;
use crate::strategy::Strategy;
use crate::task::{List, TaskRef};

/// Turns are counted in rounds of this length. In the last turn of a round, the worker looks at the
/// inbox, the group's queue and the driver.
const ROUND: u32 = 64;
/// Once in this number of turns, the deque goes before the ready list.
const DEQUE_TURN: u32 = 8;
/// Once in this number of rounds, the deque's oldest task goes before its newest. No more often:
/// tasks that run in the order in which they were made, or in its reverse, free their memory in
/// order too, and each exception makes the allocator slower for good.
const OLDEST_ROUND: u32 = 16;
/// Once in this number of rounds, a worker takes what it would leave to others. Odd, so that both
/// queues of the group have their turn.
const OWN_ROUND: u32 = 15;

/// The most tasks taken from the group's queue at once.
const MOST_TAKEN: usize = 32;

/// The shortest time between two polls of the driver while there is work, in nanoseconds.
const LOOK_INTERVAL: u64 = 20_000;

impl Worker {
    /// Returns whether to begin no more tasks, in a pool that drains or is over. Ends the pool if
    /// its deadline has passed: no thread outside may be waiting for that.
    #[cold]
    pub(super) fn is_to_end(&self) -> bool {
        if self.shared.lifecycle.is_late() {
            self.shared.end(false);
        }
        self.shared.lifecycle.is_over()
    }

    /// Returns the next task of this worker, if it has one.
    #[inline]
    pub(super) fn pick(&self) -> Option<TaskRef> {
        if self.shared.lifecycle.stage() != Stage::Open && self.is_to_end() {
            return None;
        }
        let turn = self.turn.get();
        self.turn.set((turn + 1) % ROUND);
        if turn == ROUND - 1
            && let Some(task) = self.pick_elsewhere()
        {
            return Some(self.instead(task));
        }
        if !turn.is_multiple_of(DEQUE_TURN)
            && let Some(task) = self.core.pop()
        {
            return Some(self.instead(task));
        }
        self.pop_own().or_else(|| self.pick_rarely())
    }

    /// Does what [`pick`](Self::pick) does, if that would take a task from the ready list.
    #[inline]
    pub(crate) fn take_next(&self) -> Option<TaskRef> {
        if !self.is_turn_of_ready() {
            return None;
        }
        let task = self.core.pop()?;
        self.count_turn();
        Some(task)
    }

    /// Adds a task that must run here, and takes the next one as [`take_next`](Self::take_next)
    /// does: it may be the same.
    #[inline]
    pub(crate) fn exchange(&self, task: TaskRef) -> Option<TaskRef> {
        if !self.is_turn_of_ready() {
            self.core.push(task);
            return None;
        }
        self.count_turn();
        Some(self.core.rotate(task))
    }

    /// Returns whether the next task, if any, comes from the ready list, and nothing else has to be
    /// done first.
    #[inline]
    fn is_turn_of_ready(&self) -> bool {
        let turn = self.turn.get();
        let is_elsewhere = turn == ROUND - 1 || turn.is_multiple_of(DEQUE_TURN) && self.deque.len() != 0;
        !is_elsewhere && !self.unannounced.get() && self.shared.lifecycle.stage() == Stage::Open
    }

    #[inline]
    fn count_turn(&self) {
        self.turn.set(self.turn.get() + 1);
        self.counters().tasks.add(1);
    }

    /// Takes a task from the deque: the newest; or the oldest, if it is its turn or the last task
    /// yielded.
    #[inline]
    pub(super) fn pop_own(&self) -> Option<TaskRef> {
        if self.group.strategy == Strategy::Shared {
            return self.pop_shared();
        }
        let oldest = self.oldest_next.get();
        self.oldest_next.set(oldest.saturating_sub(1));
        let task = if oldest != 0 { self.deque.pop_oldest() } else { self.deque.pop() };
        self.unannounced.set(false);
        task.and_then(|task| self.accept(task))
    }

    /// Takes a task from the group's queue, which has all tasks that any worker may run.
    fn pop_shared(&self) -> Option<TaskRef> {
        if !self.unannounced.replace(false) {
            return self.take_shared_unless_overloaded();
        }
        // In exchange for the task that yielded. If no task is taken for it, it may still wait,
        // while a worker has lain down.
        self.weigh();
        let may_take = !self.overloaded.get() && !self.is_surplus();
        let task = may_take.then(|| self.group.queue.take_in_exchange()).flatten();
        if task.is_some() {
            return task;
        }
        self.announce(1);
        may_take.then(|| self.take_from_queue()).flatten()
    }

    /// Returns this task, which comes from another place. If a task that yielded is unannounced,
    /// one more task waits there than before: announces it.
    #[inline]
    fn instead(&self, task: TaskRef) -> TaskRef {
        if self.unannounced.replace(false) {
            self.announce(1);
        }
        task
    }

    /// The deque is empty: takes a task from the ready list after all, from the arrived tasks, or
    /// from the group's queue.
    #[inline(never)]
    fn pick_rarely(&self) -> Option<TaskRef> {
        if let Some(task) = self.core.pop() {
            return Some(task);
        }
        self.core.receive();
        self.core.pop().or_else(|| self.take_shared_unless_overloaded())
    }

    /// Once in a round: the other places go first, and idle workers are woken for the tasks that
    /// wait here.
    #[cold]
    fn pick_elsewhere(&self) -> Option<TaskRef> {
        self.core.receive();
        self.look_now_and_then();
        if self.is_surplus() {
            self.share_all();
            return None;
        }
        let round = self.round.get().wrapping_add(1);
        self.round.set(round);
        if round.is_multiple_of(OLDEST_ROUND) {
            self.oldest_next.set(self.oldest_next.get().max(1));
        }
        if self.deque.len() > 1 {
            self.announce(1);
        }
        // All other workers may be stuck in long tasks: then no other worker takes it.
        if round.is_multiple_of(OWN_ROUND) {
            self.take_shared()
        } else {
            self.take_shared_unless_overloaded()
        }
    }

    fn look_now_and_then(&self) {
        let mailbox = self.core.mailbox();
        if !self.looks_itself.replace(false) && mailbox.is_watching() {
            let now = self.shared.now();
            if now.saturating_sub(mailbox.looked()) >= LOOK_INTERVAL {
                self.counters().looks.add(1);
                mailbox.look(now);
            }
        }
    }

    pub(super) fn take_shared_unless_overloaded(&self) -> Option<TaskRef> {
        self.weigh();
        if self.overloaded.get() || self.is_surplus() { None } else { self.take_shared() }
    }

    /// Takes a task that only the group may run; or one from the group's queue, and moves a fair
    /// share of the rest to the deque.
    pub(super) fn take_shared(&self) -> Option<TaskRef> {
        if !self.group.kept.is_empty()
            && self.round.get().wrapping_add(self.vain_rounds.get()).is_multiple_of(2)
        {
            return self.group.kept.take().or_else(|| self.take_from_queue());
        }
        self.take_from_queue().or_else(|| self.group.kept.take())
    }

    pub(super) fn take_from_queue(&self) -> Option<TaskRef> {
        let share = if self.overloaded.get() || self.group.strategy == Strategy::Shared {
            0
        } else {
            self.group.queue.len() / self.group.workers()
        };
        let rest = List::new();
        let task = self.group.queue.take_some(share.min(MOST_TAKEN), |task| rest.push_front(task))?;
        if !rest.is_empty() {
            #[cfg(all(test, not(loom)))]
            super::tests::stock::is_being_moved();
            // The oldest last, since the worker continues with that one.
            std::iter::from_fn(|| rest.pop_front()).for_each(|task| self.deque.push(task));
            // A worker that looked for work meanwhile saw the tasks neither in the queue nor in the
            // deque.
            self.announce(1);
        }
        Some(task)
    }
}
