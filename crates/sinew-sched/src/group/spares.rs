//! Spare workers, which stand in for blocked ones: how many there have to be, and in which seats.
//! Starts none.
//!
//! There are as many spare workers at work as there are blocked workers, if they can be started.
//! When a blocked worker is back, one spare worker becomes surplus: it takes nothing new, stays for
//! the tasks that it has begun, and for a moment longer in case it is needed again.

use std::fmt;

use super::Group;
use super::seat::{Role, Seat};
use crate::stats::Count;
use crate::sync::Lock;

/// The spare workers of a group.
pub(crate) struct Spares {
    counts: Lock<Counts>,
    failed: Count,
}

#[derive(Debug, Default)]
struct Counts {
    /// Workers that are blocked now.
    blocked: usize,
    /// Spare workers that are not surplus.
    working: usize,
}

impl Spares {
    pub(crate) fn new() -> Self {
        Self { counts: Lock::default(), failed: Count::default() }
    }

    pub(crate) fn blocked(&self) -> usize {
        self.counts.lock().blocked
    }

    /// Returns how often a spare worker could not be started.
    pub(crate) fn failed(&self) -> u64 {
        self.failed.get()
    }

    /// Counts a worker that is about to block. It has put the work that it can share into the
    /// group's queue already. Returns the stand-in that the caller has to tell or to start; none,
    /// if there are enough, or if `is_over` returns true and no work is left.
    pub(crate) fn begin_block<'a>(
        &self,
        group: &'a Group,
        is_over: impl FnOnce() -> bool,
    ) -> Option<StandIn<'a>> {
        let mut counts = self.counts.lock();
        counts.blocked += 1;
        if counts.working >= counts.blocked || is_over() {
            return None;
        }
        counts.working += 1;
        Some(choose(group))
    }

    /// Counts a stand-in out for which there is no seat.
    pub(crate) fn give_up(&self) {
        self.note_failure();
        self.counts.lock().working -= 1;
    }

    /// Counts a spare worker that could not be started.
    pub(crate) fn note_failure(&self) {
        self.failed.add_shared(1);
    }

    /// Counts a worker out that leaves its seat, which is not free yet. After that, a spare worker
    /// does not count any more, for any reason that it left, and may be started again.
    pub(crate) fn leave(&self, seat: &Seat) {
        let mut counts = self.counts.lock();
        match seat.role() {
            Role::Regular | Role::Vacant => return,
            Role::Spare => counts.working -= 1,
            // Not counted since it became surplus.
            Role::Surplus => {}
        }
        seat.set_role(Role::Vacant);
    }

    /// Counts a blocked worker that is back.
    pub(crate) fn end_block(&self, group: &Group) {
        let mut counts = self.counts.lock();
        counts.blocked -= 1;
        if counts.working > counts.blocked
            && let Some((_, seat)) = spare(group, Role::Spare)
        {
            counts.working -= 1;
            seat.set_role(Role::Surplus);
            drop(counts);
            seat.mailbox.tell();
        }
    }

    /// Returns whether a surplus worker may end. It may not if it was called again.
    pub(crate) fn may_go(&self, seat: &Seat) -> bool {
        let _counts = self.counts.lock();
        let is_surplus = seat.role() == Role::Surplus;
        if is_surplus {
            seat.set_role(Role::Vacant);
        }
        is_surplus
    }
}

/// The spare worker that stands in for a blocked one.
pub(crate) enum StandIn<'a> {
    /// A worker that was surplus.
    Here(&'a Seat),
    /// A worker that has to be started, in the seat at this index.
    Gone(usize),
    /// A worker that has no seat yet.
    New,
}

/// Chooses a surplus worker, or else a vacant seat, and sets its role.
fn choose(group: &Group) -> StandIn<'_> {
    if let Some((_, seat)) = spare(group, Role::Surplus) {
        seat.set_role(Role::Spare);
        return StandIn::Here(seat);
    }
    match spare(group, Role::Vacant) {
        Some((index, seat)) => {
            seat.set_role(Role::Spare);
            StandIn::Gone(index)
        }
        None => StandIn::New,
    }
}

/// Returns the last of the spare workers that have this role.
fn spare(group: &Group, role: Role) -> Option<(usize, &Seat)> {
    let spares = group.seats().enumerate().skip(group.workers());
    spares.filter(|(_, seat)| seat.role() == role && (role != Role::Vacant || seat.is_free())).last()
}

impl fmt::Debug for Spares {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spares").field("counts", &*self.counts.lock()).finish_non_exhaustive()
    }
}
