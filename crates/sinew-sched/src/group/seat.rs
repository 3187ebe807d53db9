//! What a worker leaves with its group so that others can reach it. Knows no group.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::mailbox::Mailbox;
use crate::queue::deque::{self, Owner, Thief};
use crate::stats::{Counters, WorkerState};

/// What the worker of a seat is there for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Role {
    /// Is always there.
    Regular = 0,
    /// Stands in for a worker that is blocked.
    Spare = 1,
    /// Has stood in, and is not needed any more: takes nothing new, and goes when what it has begun has ended.
    Surplus = 2,
    /// Is gone.
    Vacant = 3,
}

/// A worker, as others reach it. It outlives the worker's thread.
pub(crate) struct Seat {
    pub(crate) thief: Thief,
    /// The worker's end of the deque, while nobody sits here.
    owner: Mutex<Option<Owner>>,
    role: AtomicU8,
    pub(crate) mailbox: Arc<Mailbox>,
    pub(crate) counters: Arc<Counters>,
}

impl Seat {
    pub(crate) fn new(mailbox: Mailbox, role: Role) -> Self {
        let (owner, thief) = deque::deque();
        let (owner, role) = (Mutex::new(Some(owner)), AtomicU8::new(role as u8));
        Self { thief, owner, role, mailbox: Arc::new(mailbox), counters: Arc::default() }
    }

    /// The worker's end of the deque, if nobody sits here.
    pub(crate) fn sit_down(&self) -> Option<Owner> {
        self.lock().take()
    }

    /// Gives it back.
    pub(crate) fn get_up(&self, owner: Owner) {
        *self.lock() = Some(owner);
    }

    /// Whether a worker has begun here, and not stopped.
    pub(crate) fn is_taken(&self) -> bool {
        self.counters.state() != WorkerState::Absent
    }

    pub(crate) fn role(&self) -> Role {
        match self.role.load(Ordering::Acquire) {
            0 => Role::Regular,
            1 => Role::Spare,
            2 => Role::Surplus,
            _ => Role::Vacant,
        }
    }

    /// Whether the worker is surplus, and has nothing to do.
    pub(super) fn is_lingering(&self) -> bool {
        self.role() == Role::Surplus && self.counters.state() == WorkerState::Sleeping
    }

    /// Changed under the lock of the group's spares alone.
    pub(super) fn set_role(&self, role: Role) {
        self.role.store(role as u8, Ordering::Release);
    }

    fn lock(&self) -> MutexGuard<'_, Option<Owner>> {
        self.owner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
