//! What a worker leaves with its group so that others can reach it. Knows no group.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use crate::mailbox::Mailbox;
use crate::queue::deque::{self, Owner, Thief};
use crate::stats::{Counters, WorkerState};
use crate::sync::{Fence, Lock, full_fence};
use crate::task::List;

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
    owner: Lock<Option<Owner>>,
    role: AtomicU8,
    pub(crate) mailbox: Arc<Mailbox>,
    pub(crate) counters: Arc<Counters>,
}

impl Seat {
    pub(crate) fn new(mailbox: Mailbox, role: Role) -> Self {
        let (owner, thief) = deque::deque();
        let (owner, role) = (Lock::new(Some(owner)), AtomicU8::new(role as u8));
        // Nobody is there yet.
        drop(mailbox.close());
        Self { thief, owner, role, mailbox: Arc::new(mailbox), counters: Arc::default() }
    }

    /// The worker's end of the deque, if nobody sits here. Tasks may be sent from now on.
    pub(crate) fn sit_down(&self) -> Option<Owner> {
        let owner = self.owner.lock().take()?;
        self.mailbox.open();
        Some(owner)
    }

    /// Gives it back. What has arrived and was not taken is returned.
    pub(crate) fn get_up(&self, owner: Owner) -> List {
        let arrived = self.mailbox.close();
        arrived.append(std::iter::from_fn(|| owner.pop_oldest()).collect());
        self.counters.enter(WorkerState::Absent);
        *self.owner.lock() = Some(owner);
        arrived
    }

    /// Whether a worker could sit down.
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

    /// Changed under the lock of the group's spares alone. Whoever does tells the worker, if there is one.
    pub(super) fn set_role(&self, role: Role) {
        self.role.store(role as u8, Ordering::Release);
        full_fence(Fence::Role);
    }
}
