//! Blocking sections: a worker that blocks hands its movable tasks over, and a spare worker stands
//! in for it. Tasks that cannot move wait.

use std::time::Duration;

use super::Worker;
use crate::group::{Role, Seat, StandIn};
use crate::lifecycle::Beginning;
use crate::stats::WorkerState;
use crate::task::{List, TaskRef};

/// How long a surplus worker stays in case it is needed again: long enough for a thread that blocks
/// again and again.
const LINGER: Duration = Duration::from_millis(200);

impl Worker {
    /// Runs a closure that may block the thread.
    pub(crate) fn block<R>(&self, body: impl FnOnce() -> R) -> R {
        self.begin_block();
        let _unblock = Unblock(self);
        body()
    }

    /// Begins a blocking section. Sections are counted, and the worker is blocked until all have
    /// ended, in any order.
    pub(crate) fn begin_block(&self) {
        let sections = self.sections.get();
        self.sections.set(sections + 1);
        // A task inside another section may have let this one run, so there may be new tasks to
        // hand over.
        self.share_all();
        if sections == 0 {
            self.counters().enter(WorkerState::Blocked);
            self.call_stand_in();
        }
    }

    /// Tells or starts a spare worker to stand in for this one, if one can be had.
    fn call_stand_in(&self) {
        let spares = &self.group.spares;
        // Not under a lock: starting a worker runs the user's code.
        match spares.begin_block(&self.group, || self.shared.lifecycle.is_over()) {
            None => {}
            Some(StandIn::Here(seat)) => {
                seat.mailbox.tell();
            }
            Some(StandIn::Gone(index)) => self.start_stand_in(index),
            Some(StandIn::New) => {
                let make = |index| self.shared.starter.seat(self.group.number_of(index), Role::Spare);
                match self.group.add_seat(make) {
                    Ok(index) => self.start_stand_in(index),
                    Err(_) => spares.give_up(),
                }
            }
        }
    }

    /// Starts a worker for a seat that is free and has its role set.
    fn start_stand_in(&self, index: usize) {
        let started = self.shared.starter.start(&self.shared, &self.group, index, Beginning::unwatched());
        // If no thread runs, the seat is free again. If one runs all the same, it is a worker like
        // any other.
        if started.is_err() {
            self.group.spares.note_failure();
        }
    }

    /// Ends a blocking section, if there is one.
    pub(crate) fn end_block(&self) {
        let sections = self.sections.get();
        self.sections.set(sections.saturating_sub(1));
        if sections == 1 {
            self.group.spares.end_block(&self.group);
            self.counters().enter(WorkerState::Running);
        }
    }

    /// Puts all tasks that any worker may run into the group's queue, and announces them.
    pub(super) fn share_all(&self) {
        // Oldest first, since the queue keeps this order.
        let tasks: List = std::iter::from_fn(|| self.deque.pop_oldest()).collect();
        let is_unannounced = self.unannounced.replace(false);
        if !tasks.is_empty() {
            self.push_all(tasks);
        } else if is_unannounced {
            // The task that yielded is in the group's queue already.
            self.announce(1);
        }
    }

    /// Returns whether this worker is a spare one that is not needed any more.
    #[inline]
    pub(super) fn is_surplus(&self) -> bool {
        self.is_spare && self.own_seat().role() == Role::Surplus
    }

    fn own_seat(&self) -> &Seat {
        self.group.seat(self.index).expect("a worker has a seat")
    }

    /// Runs only tasks that have begun here, until this worker is needed again or may end. Returns
    /// none in both cases; in the second, its role is [`Role::Vacant`].
    pub(super) fn wait_as_surplus(&self) -> Option<TaskRef> {
        self.share_all();
        while !self.shared.lifecycle.is_over() {
            self.core.receive();
            // After the arrived tasks were taken: a caller that needs this worker again sets the
            // role first, and tells the worker then.
            if !self.is_surplus() {
                return None;
            }
            if let Some(task) = self.core.pop() {
                return Some(task);
            }
            self.linger();
        }
        None
    }

    fn linger(&self) {
        let until = (self.core.owned() <= 0).then(|| (self.shared.clock)() + LINGER);
        // `sleep_until` has a fence before this check: the worker sees a change of its role by a
        // caller that found no need to wake it.
        self.sleep_until(until, || self.is_surplus());
        self.core.receive();
        // The worker was not needed for the whole time.
        let is_over = until.is_some_and(|until| (self.shared.clock)() >= until);
        if is_over && self.core.ready() == 0 {
            self.group.spares.may_go(self.own_seat());
        }
    }

    /// Returns whether this worker was spare and may end.
    pub(super) fn is_dismissed(&self) -> bool {
        self.is_spare && self.own_seat().role() == Role::Vacant
    }
}

/// Ends a blocking section, also if its body panics.
struct Unblock<'a>(&'a Worker);

impl Drop for Unblock<'_> {
    fn drop(&mut self) {
        self.0.end_block();
    }
}
