//! Workers that stand in for blocked ones. Knows how to start one, not what a thread is.
//!
//! There are as many spare workers at work as there are blocked ones, if they can be had. When a blocked worker is back, one
//! spare is surplus: it takes nothing new, stays for what it has begun, and for a moment longer in case it is needed again.

use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Group;
use super::seat::{Role, Seat};
use crate::stats::Count;

/// Makes seats for workers, and starts threads for them.
pub(crate) trait Starter: Send + Sync {
    /// A seat for the worker of this number.
    fn seat(&self, worker: usize, role: Role) -> io::Result<Seat>;

    /// Starts the worker of this number, whose seat is there and free.
    fn start(&self, group: &Arc<Group>, worker: usize) -> io::Result<()>;
}

/// The spare workers of a group.
pub(crate) struct Spares {
    starter: Box<dyn Starter>,
    counts: Mutex<Counts>,
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
    pub(crate) fn new(starter: Box<dyn Starter>) -> Self {
        Self { starter, counts: Mutex::default(), failed: Count::default() }
    }

    pub(crate) fn starter(&self) -> &dyn Starter {
        &*self.starter
    }

    pub(crate) fn blocked(&self) -> usize {
        self.lock().blocked
    }

    /// How often a spare worker was not to be had.
    pub(crate) fn failed(&self) -> u64 {
        self.failed.get()
    }

    /// A worker is about to block. What it had to share is in the group's queue already.
    pub(crate) fn begin_block(&self, group: &Arc<Group>) {
        let mut counts = self.lock();
        counts.blocked += 1;
        if counts.working < counts.blocked {
            match self.call_spare(group) {
                Ok(()) => counts.working += 1,
                // The others do its work, however few they are.
                Err(_) => self.failed.add_shared(1),
            }
        }
    }

    /// A surplus worker, or else a vacant seat, or else a new one.
    fn call_spare(&self, group: &Arc<Group>) -> io::Result<()> {
        if let Some((_, seat)) = spare(group, Role::Surplus) {
            seat.set_role(Role::Spare);
            seat.mailbox.tell();
            return Ok(());
        }
        let index = match spare(group, Role::Vacant) {
            Some((index, _)) => index,
            None => {
                let new = group.add_seat(|index| self.starter.seat(index, Role::Vacant))?;
                new.ok_or_else(|| io::Error::from(io::ErrorKind::QuotaExceeded))?
            }
        };
        let seat = group.seat(index).expect("it was just found or made");
        seat.set_role(Role::Spare);
        self.starter.start(group, index).inspect_err(|_| seat.set_role(Role::Vacant))
    }

    /// A worker is back.
    pub(crate) fn end_block(&self, group: &Group) {
        let mut counts = self.lock();
        counts.blocked -= 1;
        if counts.working > counts.blocked
            && let Some((_, seat)) = spare(group, Role::Spare)
        {
            counts.working -= 1;
            seat.set_role(Role::Surplus);
            seat.mailbox.tell();
        }
    }

    /// A surplus worker wants to go. Whether it may: it may have been called again.
    pub(crate) fn may_go(&self, seat: &Seat) -> bool {
        let _counts = self.lock();
        let is_surplus = seat.role() == Role::Surplus;
        if is_surplus {
            seat.set_role(Role::Vacant);
        }
        is_surplus
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The last worker in a role, of those that are spare.
fn spare(group: &Group, role: Role) -> Option<(usize, &Seat)> {
    let spares = group.seats().enumerate().skip(group.workers());
    spares.filter(|(_, seat)| seat.role() == role && (role != Role::Vacant || !seat.is_taken())).last()
}

impl fmt::Debug for Spares {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spares").field("counts", &*self.lock()).finish_non_exhaustive()
    }
}
