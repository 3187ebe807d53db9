//! What a worker does when it has no task: searches for a while, then sleeps. The protocol with producers is in
//! `idle/README.md`.

use std::time::{Duration, Instant};

use super::Worker;
use crate::group::Seat;
use crate::idle::{Patience, Searching, Spin, Verdict};
use crate::queue::deque::Steal;
use crate::stats::WorkerState;
use crate::task::{Context, TaskRef};

/// A driver that concerns others is neglected if nobody has looked into it for so long; so long does a worker sleep that
/// watches over a neglectful one.
const NEGLECT: Duration = Duration::from_millis(1);

/// A worker with so many tasks has many.
const MANY: usize = 64;

/// What a round of searching comes to.
pub(super) enum Round {
    Task(TaskRef),
    /// A task that a driver had.
    Told(TaskRef),
    /// There is something, and it is left alone for a moment.
    Spared,
    Nothing,
    /// It is over, or this worker is not needed any more.
    Over,
}

/// What a worker sees that has lain down.
pub(super) enum Sight {
    Work,
    /// Only tasks that a thief would spare.
    Lone,
    Nothing,
}

impl Worker {
    /// What its own driver has for this worker alone, it finds without a word to others: it has never stopped working. A server under load does so every few
    /// requests. If others are concerned, that is left to a search, on which they rely.
    pub(super) fn look_here(&self) -> Option<TaskRef> {
        let mailbox = self.core.mailbox();
        if !mailbox.is_watching() || mailbox.is_watching_for_others() {
            return None;
        }
        self.counters().looks.add(1);
        self.looks_itself.set(true);
        let is_told = mailbox.look_untold();
        self.has_looked.set(!is_told);
        if !is_told {
            return None;
        }
        self.spin_budget.told();
        self.pick()
    }

    /// Waits for a task. None, when it is over.
    #[cold]
    pub(super) fn find(&self, context: &Context<'_>) -> Option<TaskRef> {
        let task = self.wait_for_task(context)?;
        self.counters().enter(WorkerState::Running);
        self.ask_for_a_watch();
        if let Some(hook) = &self.hooks.on_work {
            self.call_one(|| hook());
        }
        Some(task)
    }

    /// This worker goes to work. It may neglect its driver, or have watched over others' until now. If events in some busy
    /// worker's driver concern others and nobody watches, one of the sleepers is woken to: it looks round, and then sleeps
    /// for a moment at a time. If somebody searches, that one sleeps or goes to work next, and sees to it then.
    pub(crate) fn ask_for_a_watch(&self) {
        if self.core.mailbox().is_watching_for_others() {
            self.group.watch.want();
        }
        // It has a fence, between whatever made a driver watch, or this worker work, and the look at who is idle.
        if self.group.watch.may_lack() && self.neglectful().next().is_some() {
            let _ = self.group.idle.work_arrived(1, || true, |worker| self.wake(worker));
        }
    }

    fn wait_for_task(&self, context: &Context<'_>) -> Option<TaskRef> {
        let mut spin = self.spin_budget.start(self.shared.clock);
        let mut searching = if self.is_surplus() { None } else { self.group.idle.search() };
        loop {
            if let Some(evidence) = searching.take() {
                match self.search(&mut spin) {
                    Round::Task(task) => {
                        if spin.has_waited() {
                            self.spin_budget.found();
                        }
                        return Some(self.found(task, evidence));
                    }
                    Round::Told(task) => {
                        self.spin_budget.told();
                        return Some(self.found(task, evidence));
                    }
                    Round::Over => self.stop_searching(evidence),
                    Round::Spared | Round::Nothing => searching = Some(evidence),
                }
            }
            if self.is_over_here() {
                searching.into_iter().for_each(|evidence| self.stop_searching(evidence));
                return None;
            }
            if self.is_surplus() {
                searching.take().into_iter().for_each(|evidence| self.stop_searching(evidence));
                // It may have watched over others' drivers until now, and does not any more.
                self.ask_for_a_watch();
                match self.wait_as_surplus() {
                    Some(task) => return Some(task),
                    None => continue,
                }
            }
            if let Some(hook) = &self.hooks.before_sleep {
                // Nobody is to rely on a user's code to search.
                searching.take().into_iter().for_each(|evidence| self.stop_searching(evidence));
                // It may take long, or not return: a shutdown is not to take that for being on the way out.
                self.counters().enter(WorkerState::Running);
                self.call(Some(hook), context);
            }
            searching = self.lie_down(searching, &mut spin);
            // Something may have arrived, or been delivered by the driver.
            if let Some(task) = self.pick() {
                return Some(match searching {
                    Some(evidence) => self.found(task, evidence),
                    None => task,
                });
            }
            searching = searching.or_else(|| self.group.idle.search());
        }
    }

    /// Whether this worker has nothing more to do, ever.
    fn is_over_here(&self) -> bool {
        self.shared.lifecycle.is_over() || self.is_dismissed()
    }

    /// Searches until something is found or the time is over.
    pub(super) fn search(&self, spin: &mut Spin) -> Round {
        self.counters().searches.add(1);
        self.counters().enter(WorkerState::Searching);
        loop {
            match self.round() {
                Round::Spared if spin.is_over() => self.nap(),
                Round::Nothing if spin.is_over() => return Round::Nothing,
                Round::Spared | Round::Nothing => {}
                found => return found,
            }
            spin.pause(self.shared.clock);
        }
    }

    /// Looks everywhere once.
    pub(super) fn round(&self) -> Round {
        if self.shared.lifecycle.is_over() || self.is_surplus() {
            return Round::Over;
        }
        if let Some(task) = self.pop_here() {
            return Round::Task(task);
        }
        self.weigh();
        let defers = self.defers();
        if !defers && let Some(task) = self.take_shared() {
            return Round::Task(task);
        }
        match self.steal() {
            Round::Nothing if defers => Round::Spared,
            Round::Nothing => match self.steal_remote() {
                Round::Nothing => self.look_everywhere(),
                found => found,
            },
            found => found,
        }
    }

    fn pop_here(&self) -> Option<TaskRef> {
        self.core.receive();
        self.core.pop().or_else(|| self.deque.pop().and_then(|task| self.accept(task)))
    }

    /// Tries all other workers once, from a random one on; or from one on whose lone task it has an eye, lest another one's
    /// distract it.
    pub(super) fn steal(&self) -> Round {
        let seats = self.group.seats().count();
        let watched = self.patience.borrow().victim().filter(|&victim| victim < seats);
        let first = watched.unwrap_or_else(|| self.random() as usize % seats);
        let mut found = Round::Nothing;
        for victim in (first..seats).chain(0..first).filter(|&victim| victim != self.index) {
            let Some(seat) = self.group.seat(victim) else { continue };
            match self.steal_from(victim, seat) {
                Round::Nothing => {}
                Round::Spared => found = Round::Spared,
                task => return task,
            }
        }
        found
    }

    fn steal_from(&self, victim: usize, seat: &Seat) -> Round {
        match seat.thief.len() {
            0 => return Round::Nothing,
            1 if self.look_at_lone(victim, seat.thief.oldest()) != Verdict::Take => return Round::Spared,
            _ => {}
        }
        self.counters().steals_tried.add(1);
        match seat.thief.steal() {
            Steal::Task(task) => {
                self.counters().steals.add(1);
                self.steal_more(seat);
                self.accept(task).map_or(Round::Spared, Round::Task)
            }
            Steal::Empty => Round::Nothing,
            // There may be more: not the time to sleep.
            Steal::Lost => Round::Spared,
        }
    }

    /// Takes half of what a worker has, if that is much. Who has much has it for long: tasks that yield stay where they are,
    /// and taking many one by one has both ends fight for each. Of few only one is taken: they are most likely parents and
    /// children, of which the oldest is the largest. Whoever relied on this searcher relies on its look round when it leaves.
    pub(super) fn steal_more(&self, seat: &Seat) {
        let len = seat.thief.len();
        if len < MANY {
            return;
        }
        for _ in 0..len / 2 {
            match seat.thief.steal() {
                Steal::Task(task) => self.deque.push(task),
                Steal::Empty | Steal::Lost => return,
            }
        }
    }

    pub(super) fn look_at_lone(&self, victim: usize, position: isize) -> Verdict {
        self.patience.borrow_mut().look(victim, position, (self.shared.clock)())
    }

    /// Looks into the own driver, and into those that their workers neglect.
    fn look_everywhere(&self) -> Round {
        let now = self.shared.now();
        let mailbox = self.core.mailbox();
        let mut found = false;
        if !self.has_looked.replace(false) && mailbox.is_watching() {
            self.counters().looks.add(1);
            found |= mailbox.look(now);
        }
        for seat in self.neglectful() {
            if now.saturating_sub(seat.mailbox.looked()) >= NEGLECT.as_nanos() as u64 {
                self.counters().looks_for_others.add(1);
                found |= seat.mailbox.look(now);
            }
        }
        match self.pop_here() {
            Some(task) if found => Round::Told(task),
            Some(task) => Round::Task(task),
            // Delivered to somebody else, perhaps to all.
            None if found => Round::Spared,
            None => Round::Nothing,
        }
    }

    /// Workers that run, and whose drivers concern others. A surplus one that sleeps has no place among the sleepers; its state
    /// changes before it asks for a watch itself.
    fn neglectful(&self) -> impl Iterator<Item = &Seat> {
        let is_busy = |(index, seat): &(usize, &Seat)| {
            !self.group.idle.is_sleeping(*index) && seat.counters.state() != WorkerState::Sleeping
        };
        let busy = self.group.seats().enumerate().filter(is_busy).map(|(_, seat)| seat);
        busy.filter(|seat| seat.mailbox.is_watching_for_others())
    }

    /// A searcher has a task. Whoever relied on its searching relies on this.
    fn found(&self, task: TaskRef, evidence: Searching) -> TaskRef {
        self.patience.borrow_mut().forget();
        self.stop_searching(evidence);
        task
    }

    fn stop_searching(&self, evidence: Searching) {
        // `leave` has a fence.
        if self.group.idle.leave(evidence) {
            self.shared.announce(&self.group, 1, |worker| self.wake(worker));
            self.shared.announce_for_siblings(&self.group);
        }
    }

    /// A short sleep of a searcher, who goes on searching: producers rely on it, so it takes no longer than a wake would.
    fn nap(&self) {
        self.core.mailbox().sleep(Some(Patience::LIMIT), &self.counters().naps);
    }

    /// Sleeps, unless there is something to do. Returns whether the worker is to search.
    pub(super) fn lie_down(&self, searching: Option<Searching>, spin: &mut Spin) -> Option<Searching> {
        self.group.idle.lie_down(self.index, searching);
        match self.sight() {
            Sight::Nothing => {
                let begun = (self.shared.clock)();
                self.sleep();
                // There was nothing before, and nothing has been received yet: it is from the driver.
                match self.core.ready() != 0 || self.deque.len() != 0 {
                    true => self.spin_budget.told(),
                    false => self.spin_budget.slept((self.shared.clock)().saturating_duration_since(begun)),
                }
                let claimed = self.group.idle.get_up(self.index);
                // Whoever was not called looks round once, and lies down again.
                self.core.receive();
                let called = claimed.is_some() || self.core.ready() != 0;
                *spin = if called { self.spin_budget.start(self.shared.clock) } else { Spin::spent() };
                claimed
            }
            sight => {
                let claimed = self.group.idle.get_up(self.index);
                let searching = claimed.unwrap_or_else(|| self.group.idle.search_anyway());
                if matches!(sight, Sight::Lone) && spin.is_over() {
                    self.nap();
                }
                Some(searching)
            }
        }
    }

    /// What there is for a worker that has lain down: whatever is not seen here will be announced.
    pub(super) fn sight(&self) -> Sight {
        if !self.core.mailbox().is_empty() || self.core.ready() != 0 || self.deque.len() != 0 {
            return Sight::Work;
        }
        if self.shared.lifecycle.is_over() || self.is_surplus() {
            return Sight::Work;
        }
        let most = self.group.seats().map(|seat| seat.thief.len()).max().unwrap_or(0);
        if !self.group.kept.is_empty() {
            return Sight::Work;
        }
        match (self.group.queue.is_empty(), most) {
            (true, 0) if self.shared.needs_help(&self.group) => {
                // The next round looks there, however seldom others do: else this worker would neither help nor sleep.
                self.vain_rounds.set(u32::MAX);
                Sight::Work
            }
            (true, 0) => Sight::Nothing,
            (true, 1) => Sight::Lone,
            (false, 0 | 1) if self.should_defer(false) => Sight::Lone,
            _ => Sight::Work,
        }
    }

    /// Sleeps; for a moment only, if there are drivers to watch over and nobody else does.
    fn sleep(&self) {
        if self.neglectful().next().is_none() {
            return self.sleep_until(None, || true);
        }
        self.group.watch.keep(|watches| {
            self.sleep_until(watches.then(|| (self.shared.clock)() + NEGLECT), || true);
        });
    }

    /// Sleeps until called, or this moment; not at all, if it `may` not once it counts as asleep. Nobody calls when the deadline
    /// of a pool that drains passes, so it ends then too.
    pub(super) fn sleep_until(&self, moment: Option<Instant>, may: impl FnOnce() -> bool) {
        self.counters().enter(WorkerState::Sleeping);
        self.shared.fall();
        let moment = [moment, self.shared.lifecycle.deadline()].into_iter().flatten().min();
        let left = moment.map(|moment| moment.saturating_duration_since((self.shared.clock)()));
        if may() {
            self.core.mailbox().sleep(left, &self.counters().sleeps);
        }
        self.shared.awake.rise();
        self.counters().enter(WorkerState::Searching);
        if self.shared.lifecycle.is_late() {
            self.shared.end(false);
        }
    }

    pub(super) fn random(&self) -> u32 {
        // xorshift: good enough to spread thieves.
        let mut x = self.random.get();
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        self.random.set(x);
        x
    }
}
