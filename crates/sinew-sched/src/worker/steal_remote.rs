//! Takes work from other groups. The thief owns what it takes. A worker does so only once in a
//! number of search rounds without success, so that other groups help a group only when it has more
//! than it can do.

use super::Worker;
use super::find::Round;
use crate::group::{Group, Nearby};
use crate::idle::Verdict;
use crate::queue::deque::Steal;
use crate::strategy::Strategy;
use crate::task::TaskRef;

/// The most tasks taken from another group's queue at once.
const MOST_TAKEN: usize = 32;

impl Worker {
    /// Looks at other groups, if it is time, after a round of searching in the own group without
    /// success.
    pub(super) fn steal_remote(&self) -> Round {
        let siblings = &self.group.siblings;
        if siblings.is_empty() {
            return Round::Nothing;
        }
        let rounds = self.vain_rounds.get().wrapping_add(1);
        self.vain_rounds.set(rounds);
        match self.steal_nearby(&siblings.near, rounds) {
            Round::Nothing => self.steal_nearby(&siblings.far, rounds),
            found => found,
        }
    }

    fn steal_nearby(&self, nearby: &Nearby, rounds: u32) -> Round {
        if nearby.groups.is_empty() || !rounds.is_multiple_of(nearby.every) {
            return Round::Nothing;
        }
        let first = self.random() as usize % nearby.groups.len();
        let mut found = Round::Nothing;
        for place in (first..nearby.groups.len()).chain(0..first) {
            let number = nearby.groups[place];
            match self.steal_from_group(number, &self.shared.groups()[number]) {
                Round::Nothing => {}
                Round::Spared => found = Round::Spared,
                task => return task,
            }
        }
        found
    }

    fn steal_from_group(&self, number: usize, group: &Group) -> Round {
        if let Some(task) = self.take_from_queue_of(group) {
            return self.has_stolen(task);
        }
        let seats = group.seats().count();
        let first = self.random() as usize % seats;
        let mut found = Round::Nothing;
        for victim in (first..seats).chain(0..first) {
            let Some(seat) = group.seat(victim) else { continue };
            // A lone task most likely is for its own worker: as within the group, it is left there
            // for a moment.
            let is_lone = seat.thief.len() == 1;
            if is_lone && self.look_at_lone(lone_key(number, victim), seat.thief.oldest()) != Verdict::Take {
                found = Round::Spared;
                continue;
            }
            match seat.thief.steal() {
                Steal::Task(task) => {
                    self.steal_more(seat);
                    return self.has_stolen(task);
                }
                Steal::Empty => {}
                Steal::Lost => found = Round::Spared,
            }
        }
        found
    }

    /// Takes a task from another group's queue, and moves a share of the rest to this worker's
    /// deque.
    pub(super) fn take_from_queue_of(&self, group: &Group) -> Option<TaskRef> {
        if group.queue.is_empty() {
            return None;
        }
        let share = match self.group.strategy {
            Strategy::Local => group.queue.len() / (group.workers() + self.group.workers()),
            Strategy::Shared => 0,
        };
        group.queue.take_some(share.min(MOST_TAKEN), |task| self.deque.push(task))
    }

    fn has_stolen(&self, task: TaskRef) -> Round {
        self.counters().steals_remote.add(1);
        self.accept(task).map_or(Round::Spared, Round::Task)
    }
}

/// Returns a key for a worker of another group, which no worker of this group has.
fn lone_key(group: usize, victim: usize) -> usize {
    usize::MAX / 2 + group * crate::idle::MOST_WORKERS + victim
}
