//! Which task is next, of those that a worker has: ready ones first, since they have begun and hold what they hold; every so often
//! the others, so that no place waits for ever, however busy another one is.

use super::Worker;
use crate::lifecycle::Stage;
use crate::strategy::Strategy;
use crate::task::{List, TaskRef};

/// Turns are counted in rounds of this many. In the last one the inbox, the group's queue and the driver are looked at.
const ROUND: u32 = 64;
/// Every so many turns, the deque goes before the ready list.
const DEQUE_TURN: u32 = 8;
/// Every so many rounds, its oldest task goes before its newest. No more often: tasks that run in the order they were made
/// in, or in its reverse, free their memory in order too, and each exception makes the allocator slower for good.
const OLDEST_ROUND: u32 = 16;
/// Every so many rounds, a worker takes what it would leave to others. Odd, so that both queues of the group have their turn.
const OWN_ROUND: u32 = 15;

/// The most tasks taken from the group's queue at once.
const MOST_TAKEN: usize = 32;

/// Drivers are looked into at most this often while there is work, in nanoseconds.
const LOOK_INTERVAL: u64 = 20_000;

impl Worker {
    /// The pool drains, or is over. Whether to begin nothing more: a deadline that nobody outside waits for is seen here.
    #[cold]
    pub(super) fn is_to_end(&self) -> bool {
        if self.shared.lifecycle.is_late() {
            self.shared.end(false);
        }
        self.shared.lifecycle.is_over()
    }

    /// The next task from where this worker has some.
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

    /// As [`pick`](Self::pick), where that comes down to the ready list.
    #[inline]
    pub(crate) fn take_next(&self) -> Option<TaskRef> {
        if !self.is_turn_of_ready() {
            return None;
        }
        let task = self.core.pop()?;
        self.count_turn();
        Some(task)
    }

    /// Adds a task that must run here, and takes the next one as [`take_next`](Self::take_next) does: it may be the same.
    #[inline]
    pub(crate) fn exchange(&self, task: TaskRef) -> Option<TaskRef> {
        if !self.is_turn_of_ready() {
            self.core.push(task);
            return None;
        }
        self.count_turn();
        Some(self.core.rotate(task))
    }

    /// Whether the ready list is where the next task comes from, if there is one, and nothing else is to be seen to.
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

    /// From the deque: the newest, or the oldest if it is its turn or the last task has let others go first.
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

    /// From the group's queue, where all is that anyone may run.
    fn pop_shared(&self) -> Option<TaskRef> {
        if !self.unannounced.replace(false) {
            return self.take_shared_unless_overloaded();
        }
        // In exchange for the one that went back there. If none is taken for it, that one may still wait, and somebody has lain down.
        self.weigh();
        let may_take = !self.overloaded.get() && !self.is_surplus();
        let task = may_take.then(|| self.group.queue.take_in_exchange()).flatten();
        if task.is_some() {
            return task;
        }
        self.announce(1);
        may_take.then(|| self.take_from_queue()).flatten()
    }

    /// This task is taken from elsewhere. If one has gone back to the deque or the queue without a word, one more waits there than
    /// before.
    #[inline]
    fn instead(&self, task: TaskRef) -> TaskRef {
        if self.unannounced.replace(false) {
            self.announce(1);
        }
        task
    }

    /// Nothing in the deque: from the ready list after all, or what has arrived, or from the group's queue.
    #[inline(never)]
    fn pick_rarely(&self) -> Option<TaskRef> {
        if let Some(task) = self.core.pop() {
            return Some(task);
        }
        self.core.receive();
        self.core.pop().or_else(|| self.take_shared_unless_overloaded())
    }

    /// Once in a while: what waits elsewhere goes first, and idle workers hear of what waits here.
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
        // The others may all be stuck in what they do: then nobody else comes for it.
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

    /// A task that only the group may run, or one from the group's queue, and a fair share of the rest into the deque.
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
            // The oldest last, since that is where the worker goes on.
            std::iter::from_fn(|| rest.pop_front()).for_each(|task| self.deque.push(task));
            // A worker that looked for work meanwhile saw them neither in the queue nor in the
            // deque.
            self.announce(1);
        }
        Some(task)
    }
}
