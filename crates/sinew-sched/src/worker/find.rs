//! What a worker does when it has no task: it searches for a while, then sleeps. The protocol with
//! producers is in `idle/README.md`.

use std::time::{Duration, Instant};

use super::Worker;
use crate::group::Seat;
use crate::idle::{Patience, Searching, Spin, Verdict};
use crate::queue::deque::Steal;
use crate::stats::WorkerState;
use crate::task::{Context, TaskRef};

/// A driver that concerns others is neglected if it was not polled for this time. A worker that
/// watches over such drivers sleeps for this time.
const NEGLECT: Duration = Duration::from_millis(1);

/// A worker with this number of tasks has many.
const MANY: usize = 64;

/// The result of a round of searching.
pub(super) enum Round {
    Task(TaskRef),
    /// A task that a driver had.
    Told(TaskRef),
    /// There is a task, and it is left alone for a moment.
    Spared,
    Nothing,
    /// The pool is over, or this worker is not needed any more.
    Over,
}

/// What a worker sees that has lain down.
pub(super) enum Sight {
    Work,
    /// Only tasks that a thief would leave alone.
    Lone,
    Nothing,
}

impl Worker {
    /// Polls the worker's own driver, if its events only concern this worker. The worker does not
    /// count as idle for that; a server under load does it every few requests. If other workers are
    /// concerned, a search polls the driver, and they rely on that search.
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

    /// Waits for a task. Returns none when this worker is to end.
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

    /// Asks for the watch over drivers, for a worker that goes to work: it may neglect its driver,
    /// or have kept the watch until now. If a busy worker's driver concerns others and no worker
    /// keeps the watch, wakes a sleeper, which looks around, and then sleeps for a moment at a
    /// time. A searcher needs no wake: it sleeps or goes to work next, and does the same then.
    pub(crate) fn ask_for_a_watch(&self) {
        if self.core.mailbox().is_watching_for_others() {
            self.group.watch.want();
        }
        // `may_lack` has a fence, between what made a driver watch, or this worker work, and the
        // read of the idle workers.
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
                // This worker may have kept the watch until now, and does not any more.
                self.ask_for_a_watch();
                match self.wait_as_surplus() {
                    Some(task) => return Some(task),
                    None => continue,
                }
            }
            if let Some(hook) = &self.hooks.before_sleep {
                // No producer may rely on a search while the user's code runs.
                searching.take().into_iter().for_each(|evidence| self.stop_searching(evidence));
                // The hook may take long, or not return: a shutdown must not count this worker as
                // leaving.
                self.counters().enter(WorkerState::Running);
                self.call(Some(hook), context);
            }
            searching = self.lie_down(searching, &mut spin);
            // A task may have arrived, or the driver may have delivered one.
            if let Some(task) = self.pick() {
                return Some(match searching {
                    Some(evidence) => self.found(task, evidence),
                    None => task,
                });
            }
            searching = searching.or_else(|| self.group.idle.search());
        }
    }

    /// Returns whether this worker has nothing more to do, ever.
    fn is_over_here(&self) -> bool {
        self.shared.lifecycle.is_over() || self.is_dismissed()
    }

    /// Searches until a task is found or the time is over.
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

    /// Tries all other workers once. Starts with the one whose lone task it watches, so that
    /// another lone task does not replace that one; else with a random one.
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
            // There may be more: the worker does not sleep yet.
            Steal::Lost => Round::Spared,
        }
    }

    /// Takes half of a worker's tasks if it has many. Such a worker keeps them for long, since
    /// tasks that yield stay there, and at each single steal both ends would compete. Of a few
    /// tasks only one is taken: most likely they are parents and children, and the oldest is the
    /// largest. Producers that rely on this searcher rely on its look around when it leaves.
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

    /// Polls the worker's own driver, and the drivers that their workers neglect.
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
            // Delivered to another worker, perhaps to any.
            None if found => Round::Spared,
            None => Round::Nothing,
        }
    }

    /// Returns the workers that run and whose drivers concern others. A surplus worker that sleeps
    /// is not among the sleepers; its state changes before it asks for a watch itself.
    fn neglectful(&self) -> impl Iterator<Item = &Seat> {
        let is_busy = |(index, seat): &(usize, &Seat)| {
            !self.group.idle.is_sleeping(*index) && seat.counters.state() != WorkerState::Sleeping
        };
        let busy = self.group.seats().enumerate().filter(is_busy).map(|(_, seat)| seat);
        busy.filter(|seat| seat.mailbox.is_watching_for_others())
    }

    /// Ends the search of a worker that has a task. Producers that rely on searchers rely on this.
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

    /// Sleeps as a searcher, which producers rely on: no longer than a wake would take.
    fn nap(&self) {
        self.core.mailbox().sleep(Some(Patience::LIMIT), &self.counters().naps);
    }

    /// Sleeps, unless there is work. Returns the evidence if the worker has to search.
    pub(super) fn lie_down(&self, searching: Option<Searching>, spin: &mut Spin) -> Option<Searching> {
        self.group.idle.lie_down(self.index, searching);
        match self.sight() {
            Sight::Nothing => {
                let begun = (self.shared.clock)();
                self.sleep();
                // There was nothing before, and no inbox was read since: the tasks are from the
                // driver.
                match self.core.ready() != 0 || self.deque.len() != 0 {
                    true => self.spin_budget.told(),
                    false => self.spin_budget.slept((self.shared.clock)().saturating_duration_since(begun)),
                }
                let claimed = self.group.idle.get_up(self.index);
                // A worker that was not called looks around once, and lies down again.
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

    /// Returns what a worker sees that has lain down. Work that it does not see here is announced
    /// later.
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
                // The next round looks there, however rarely others do: else this worker would
                // neither help nor sleep.
                self.vain_rounds.set(u32::MAX);
                Sight::Work
            }
            (true, 0) => Sight::Nothing,
            (true, 1) => Sight::Lone,
            (false, 0 | 1) if self.should_defer(false) => Sight::Lone,
            _ => Sight::Work,
        }
    }

    /// Sleeps; for a moment only, if there are drivers to watch and no other worker keeps the
    /// watch.
    fn sleep(&self) {
        if self.neglectful().next().is_none() {
            return self.sleep_until(None, || true);
        }
        self.group.watch.keep(|watches| {
            self.sleep_until(watches.then(|| (self.shared.clock)() + NEGLECT), || true);
        });
    }

    /// Sleeps until called or until this moment. Once counted as asleep, sleeps only if `may`
    /// returns true. No thread calls at the deadline of a drain, so the sleep ends then too.
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
