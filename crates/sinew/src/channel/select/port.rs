//! The trait of an operation of a select: what each end of a channel provides, independently of the
//! type of its messages.
//!
//! # Safety
//!
//! Trusted with nothing: it states the contract of both sides.
#![expect(unsafe_code, reason = "wait_slots are lent to queues, and messages have no type")]

use std::time::Instant;

use super::erased_slot::ErasedSlot;
use crate::channel::rendezvous::Meets;
use crate::channel::wait_slot::{Handshake, WaitSlot};
use crate::rt::{Entered, Stay, Waiter};

/// The state of an operation that was selected, and is not completed.
pub(in crate::channel) struct SelectToken {
    pub(in crate::channel) how: How,
    /// The message, if one was received.
    pub(in crate::channel) space: ErasedSlot,
    /// Under which condition a receive operation meets a sender.
    pub(in crate::channel) meets: Meets,
}

/// How the operation is to be completed.
#[derive(Clone, Copy, Debug)]
pub(in crate::channel) enum How {
    /// No operation was selected.
    Not,
    /// The other side is gone.
    Closed,
    /// A message is in `space`.
    Received,
    /// A slot is reserved for the message.
    Reserved,
    /// There is always room.
    Unbounded,
    /// A receiver waits for the message at this handshake.
    ///
    /// # Invariant
    ///
    /// The handshake is valid until it has ended.
    Promised(*const Handshake),
}

impl SelectToken {
    pub(in crate::channel) fn new(meets: Meets) -> Self {
        Self { how: How::Not, space: ErasedSlot::new(), meets }
    }
}

/// The memory with which a select waits in one of its channels.
pub(in crate::channel) struct SelectSlot {
    pub(in crate::channel) stay: Stay<WaitSlot>,
    pub(in crate::channel) handshake: Handshake,
    pub(in crate::channel) space: ErasedSlot,
}

impl SelectSlot {
    pub(in crate::channel) fn new() -> Self {
        let nowhere = std::ptr::null();
        Self {
            stay: Stay::new(WaitSlot::without()),
            handshake: Handshake::nowhere(nowhere),
            space: ErasedSlot::new(),
        }
    }
}

/// An end of a channel, with its one operation.
pub(in crate::channel) trait Port {
    /// Selects the operation if it is possible now.
    fn try_select(&self, token: &mut SelectToken) -> bool;

    /// Prepares a select slot, which is not moved any more. All select slots of one select have the
    /// same owner.
    fn prepare(&self, select_slot: &SelectSlot, owner: *const ());

    /// Enters the queue of this end, unless the operation may be possible.
    ///
    /// # Safety
    ///
    /// The contract of [`Door::enter`](crate::rt::Door::enter) applies. The select slot was
    /// prepared for this port, with this owner.
    unsafe fn enter(&self, select_slot: &SelectSlot, waiter: Waiter, owner: *const ()) -> Entered;

    /// Leaves the queue. Returns whether the wait was claimed through it.
    ///
    /// # Safety
    ///
    /// The select slot was used for this port only.
    unsafe fn leave(&self, select_slot: &SelectSlot) -> bool;

    /// Selects the operation after the wait was claimed through this port. Returns false if that
    /// was a spurious wake-up.
    ///
    /// # Safety
    ///
    /// The select slot was used for this port only, and has left its queue.
    unsafe fn accept(&self, select_slot: &SelectSlot, token: &mut SelectToken) -> bool;

    /// Gives up the operation that was selected.
    ///
    /// # Safety
    ///
    /// It was selected by this port, and is not completed.
    unsafe fn abandon(&self, token: &SelectToken);

    /// Returns when the operation may become possible by time alone, if ever.
    fn next(&self) -> Option<Instant>;

    /// Returns a stamp if the operation is not possible now. The stamp changes whenever the
    /// operation becomes possible.
    fn unready_stamp(&self) -> Option<u64>;

    /// Returns whether the operation was impossible at every moment since `stamp` was taken. May
    /// return false although it was.
    fn is_unready_since(&self, stamp: u64) -> bool;

    /// Returns whether the operation is possible now.
    fn is_ready(&self) -> bool;

    /// Enters the queue of watchers, unless the operation is possible.
    ///
    /// # Safety
    ///
    /// The contract of [`Door::enter`](crate::rt::Door::enter) applies.
    unsafe fn enter_to_watch(&self, stay: &Stay<()>, waiter: Waiter) -> Entered;

    /// Leaves the queue of watchers.
    ///
    /// # Safety
    ///
    /// It was used for this port only.
    unsafe fn leave_watching(&self, stay: &Stay<()>);
}
