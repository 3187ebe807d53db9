//! The state that the handles of a watch channel share: the value, its version, and the receivers
//! that wait for another version. Knows no handle.
//!
//! # The protocol
//!
//! The [state](VersionWord) is one word: the version of the value, and whether all senders are
//! gone. It changes only under the lock of the queue in which receivers wait. The version changes
//! only while the value is locked to write, too.
//!
//! 1. **No wake-up is lost.** A receiver enters the queue only if the state has nothing new for it,
//!    and looks under the lock of the queue. A sender changes the state under that lock, and wakes
//!    all receivers in the queue afterwards. So a receiver sees the change, or is in the queue when
//!    the sender looks there.
//! 2. **The version that is loaded under the value's lock is that of the value.** No thread changes
//!    the version meanwhile, and the lock orders the load after the last change. So no receiver
//!    marks a value as seen that it has not borrowed.
//! 3. **A receiver that has seen a version borrows that one or a later one.** It loads the state
//!    with acquire, and the sender changes it with release while it holds the value to write. So
//!    the sender took the value's lock before the receiver does, and the receiver waits until it is
//!    released. With relaxed orderings the receiver could lock the value before the sender does,
//!    and read the old one.
//! 4. **A receiver sees the last version before it sees that the senders are gone.** Each sender
//!    counts itself out with release after its last change. The last one does so with acquire and
//!    closes after that, so closing comes after all changes in the order of the word. A receiver
//!    reads both from one load.
//! 5. **What happens before a value is sent, or a sender dropped, is visible to a receiver that
//!    sees this in the state**, by the same pairs. It need not borrow the value for that.
//! 6. **The last receiver** is detected by a [`RawCount`] that reaches zero, with a queue of its
//!    own.
//!
//! The two locks are taken in one order: that of the value, then that of the queue. Receivers are
//! woken when both are free: they take the value's lock next.

use super::super::NotReceived;
use super::state::{Version, VersionChange, VersionWord};
use super::value::{Reading, WatchValue};
use crate::raw::RawCount;
use crate::rt::sync::{AtomicUsize, Ordering};
use crate::rt::{self, GaveUp, Limit, Place, Queue, WaitKind};

/// The channel.
pub(super) struct WatchShared<T> {
    value: WatchValue<T>,
    pub(super) state: VersionWord,
    /// Receivers that wait for another version.
    changes: Queue<(), ()>,
    senders: AtomicUsize,
    receivers: RawCount,
}

impl<T> WatchShared<T> {
    /// Makes a channel with one sender.
    pub(super) fn new(value: T) -> Self {
        Self {
            value: WatchValue::new(value),
            state: VersionWord::new(),
            changes: Queue::new(()),
            senders: AtomicUsize::new(1),
            receivers: RawCount::new(0),
        }
    }

    /// Locks the value to read. Also returns its version.
    ///
    /// # Errors
    ///
    /// Returns an error if the limit is reached before.
    pub(super) fn borrow(&self, limit: Limit) -> Result<(Reading<'_, T>, Version), GaveUp> {
        let value = self.value.read(limit)?;
        Ok((value, self.state.version()))
    }

    /// Changes the value, and wakes the receivers if `modify` returns true. Returns the result of
    /// `modify`. If it panics, no receiver is woken.
    pub(super) fn modify(&self, modify: impl FnOnce(&mut T) -> bool) -> bool {
        rt::spend(1);
        let mut value = self.value.write();
        if !modify(&mut value) {
            return false;
        }
        let queue = self.changes.lock();
        self.state.change();
        let has_waiters = !queue.is_empty();
        drop(queue);
        drop(value);
        if has_waiters {
            self.changes.wake_all(|()| ());
        }
        true
    }

    /// Waits for another version than `seen`.
    ///
    /// # Errors
    ///
    /// Returns an error if there will be no other version, or if the limit is reached before.
    pub(super) fn changed(&self, seen: Version, mut limit: Limit) -> Result<Version, NotReceived> {
        rt::spend(1);
        loop {
            match self.state.change_since(seen) {
                VersionChange::Changed(version) => return Ok(version),
                VersionChange::Closed => return Err(NotReceived::Closed),
                VersionChange::Nothing => {}
            }
            let has_none = || self.state.change_since(seen) == VersionChange::Nothing;
            // A sender that wakes all may wake a receiver that entered the queue after its change:
            // that receiver waits again.
            let (outcome, ()) = self
                .changes
                .wait(WaitKind::Receive, (), limit.next_wait(), |_, ()| has_none().then_some(Place::Back));
            outcome.into_result()?;
        }
    }

    /// Waits until `is_right` returns true for the value, and locks the value to read. Each value
    /// that is passed to `is_right` counts as seen.
    ///
    /// # Errors
    ///
    /// Returns an error as [`changed`](Self::changed) does.
    pub(super) fn wait_for(
        &self,
        seen: &mut Version,
        limit: Limit,
        mut is_right: impl FnMut(&T) -> bool,
    ) -> Result<Reading<'_, T>, NotReceived> {
        rt::spend(1);
        loop {
            let (value, version) = self.borrow(limit)?;
            *seen = version;
            if is_right(&value) {
                return Ok(value);
            }
            drop(value);
            // Not marked as seen before the value is borrowed, which the limit may prevent.
            self.changed(version, limit)?;
        }
    }

    pub(super) fn senders(&self) -> usize {
        self.senders.load(Ordering::Relaxed)
    }

    /// Adds a sender. The caller has a sender, or is making the first one.
    pub(super) fn add_sender(&self) {
        // Relaxed: handing the new handle to other threads orders the rest.
        self.senders.fetch_add(1, Ordering::Relaxed);
    }

    /// Removes a sender.
    pub(super) fn drop_sender(&self) {
        // Release: what this sender sent comes before the close. Acquire: and so does what the
        // other senders sent.
        if self.senders.fetch_sub(1, Ordering::AcqRel) > 1 {
            return;
        }
        let queue = self.changes.lock();
        self.state.close();
        drop(queue);
        self.changes.wake_all(|()| ());
    }

    pub(super) fn receivers(&self) -> usize {
        self.receivers.left()
    }

    pub(super) fn has_receivers(&self) -> bool {
        !self.receivers.is_zero()
    }

    pub(super) fn add_receiver(&self) {
        self.receivers.add(1).expect("each receiver takes more memory than its number");
    }

    pub(super) fn drop_receiver(&self) {
        self.receivers.sub(1).expect("each receiver is counted");
    }

    /// Waits until there is no receiver.
    ///
    /// # Errors
    ///
    /// Returns an error if the limit is reached before.
    pub(super) fn wait_for_close(&self, limit: Limit) -> Result<(), GaveUp> {
        rt::spend(1);
        self.receivers.wait(WaitKind::Closed, limit)
    }
}
