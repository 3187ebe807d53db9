//! A worker that blocks hands on what may move, and a spare one stands in for it. What cannot move waits.

use std::time::Duration;

use super::Worker;
use crate::group::{Role, Seat, StandIn};
use crate::lifecycle::Beginning;
use crate::stats::WorkerState;
use crate::task::{List, TaskRef};

/// How long a surplus worker stays in case it is needed again: long enough for a thread that blocks again and again.
const LINGER: Duration = Duration::from_millis(200);

impl Worker {
    /// Runs something that may block the thread.
    pub(crate) fn block<R>(&self, body: impl FnOnce() -> R) -> R {
        self.begin_block();
        let _unblock = Unblock(self);
        body()
    }

    /// One more blocking section: they are counted, and the worker is blocked until all have ended, in whatever order.
    pub(crate) fn begin_block(&self) {
        let sections = self.sections.get();
        self.sections.set(sections + 1);
        // A task that is in another section may have let this one run, so that there may be something new to hand on.
        self.share_all();
        if sections == 0 {
            self.counters().enter(WorkerState::Blocked);
            self.call_stand_in();
        }
    }

    /// Has another worker take this one's place, if one is to be had.
    fn call_stand_in(&self) {
        let spares = &self.group.spares;
        // Not under a lock: starting a worker is a user's code.
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

    /// Starts a worker for a seat that is free and whose role is set.
    fn start_stand_in(&self, index: usize) {
        let started = self.shared.starter.start(&self.shared, &self.group, index, Beginning::unwatched());
        // If there is no thread, the seat has been left already. If there is one all the same, it
        // is a worker as any other.
        if started.is_err() {
            self.group.spares.note_failure();
        }
    }

    /// One less, if there is any.
    pub(crate) fn end_block(&self) {
        let sections = self.sections.get();
        self.sections.set(sections.saturating_sub(1));
        if sections == 1 {
            self.group.spares.end_block(&self.group);
            self.counters().enter(WorkerState::Running);
        }
    }

    /// Puts all that anyone may run into the group's queue, and says so.
    pub(super) fn share_all(&self) {
        // Oldest first: it is the order that the queue keeps.
        let tasks: List = std::iter::from_fn(|| self.deque.pop_oldest()).collect();
        let is_unannounced = self.unannounced.replace(false);
        if !tasks.is_empty() {
            self.push_all(tasks);
        } else if is_unannounced {
            // It lies in the group's queue already.
            self.announce(1);
        }
    }

    /// Whether this worker is a spare one that is not needed any more.
    #[inline]
    pub(super) fn is_surplus(&self) -> bool {
        self.is_spare && self.own_seat().role() == Role::Surplus
    }

    fn own_seat(&self) -> &Seat {
        self.group.seat(self.index).expect("a worker has a seat")
    }

    /// Does what it has begun and nothing else, until it is needed again or may go. None in both cases; in the second, its
    /// role says so.
    pub(super) fn wait_as_surplus(&self) -> Option<TaskRef> {
        self.share_all();
        while !self.shared.lifecycle.is_over() {
            self.core.receive();
            // After what has arrived was taken: who calls this worker again says so first, and tells it then.
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
        // Behind a fence: whoever has called this worker and found no need to tell it is seen here.
        self.sleep_until(until, || self.is_surplus());
        self.core.receive();
        // Nobody called for the whole time.
        let is_over = until.is_some_and(|until| (self.shared.clock)() >= until);
        if is_over && self.core.ready() == 0 {
            self.group.spares.may_go(self.own_seat());
        }
    }

    /// Whether this worker was spare and has been let go.
    pub(super) fn is_dismissed(&self) -> bool {
        self.is_spare && self.own_seat().role() == Role::Vacant
    }
}

/// Ends a blocking section, however it ends.
struct Unblock<'a>(&'a Worker);

impl Drop for Unblock<'_> {
    fn drop(&mut self) {
        self.0.end_block();
    }
}
