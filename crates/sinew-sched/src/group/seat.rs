//! A seat: the part of a worker that other threads reach through its group. Knows no group.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use crate::mailbox::Mailbox;
use crate::queue::deque::{self, Owner, Thief};
use crate::stats::{Counters, WorkerState};
use crate::sync::{Fence, Lock, full_fence};
use crate::task::List;

/// The role of the worker in a seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Role {
    /// The worker is always there.
    Regular = 0,
    /// The worker stands in for a blocked one.
    Spare = 1,
    /// The worker stood in, and is not needed any more: it takes nothing new, and ends when the
    /// tasks that it has begun have ended.
    Surplus = 2,
    /// The worker is gone.
    Vacant = 3,
}

/// A worker, as other threads reach it. The seat outlives the worker's thread.
pub(crate) struct Seat {
    pub(crate) thief: Thief,
    /// The owner's end of the deque, while the seat has no worker.
    owner: Lock<Option<Owner>>,
    role: AtomicU8,
    pub(crate) mailbox: Arc<Mailbox>,
    pub(crate) counters: Arc<Counters>,
}

impl Seat {
    pub(crate) fn new(mailbox: Mailbox, role: Role) -> Self {
        let (owner, thief) = deque::deque();
        let (owner, role) = (Lock::new(Some(owner)), AtomicU8::new(role as u8));
        // The seat has no worker yet.
        drop(mailbox.close());
        Self { thief, owner, role, mailbox: Arc::new(mailbox), counters: Arc::default() }
    }

    /// Returns the owner's end of the deque, if the seat has no worker. Tasks may be sent to the
    /// seat from now on.
    pub(crate) fn sit_down(&self) -> Option<Owner> {
        let owner = self.owner.lock().take()?;
        self.mailbox.open();
        Some(owner)
    }

    /// Gives the owner's end back. Returns the tasks that have arrived and were not taken.
    pub(crate) fn get_up(&self, owner: Owner) -> List {
        let arrived = self.mailbox.close();
        arrived.append(std::iter::from_fn(|| owner.pop_oldest()).collect());
        self.counters.enter(WorkerState::Absent);
        *self.owner.lock() = Some(owner);
        arrived
    }

    /// Returns whether the seat has no worker.
    pub(crate) fn is_free(&self) -> bool {
        self.owner.lock().is_some()
    }

    pub(crate) fn role(&self) -> Role {
        match self.role.load(Ordering::Acquire) {
            0 => Role::Regular,
            1 => Role::Spare,
            2 => Role::Surplus,
            _ => Role::Vacant,
        }
    }

    /// Changes the role. Only under the lock of the group's spares. The caller tells the worker
    /// afterwards, if there is one.
    pub(super) fn set_role(&self, role: Role) {
        self.role.store(role as u8, Ordering::Release);
        full_fence(Fence::Role);
    }
}
