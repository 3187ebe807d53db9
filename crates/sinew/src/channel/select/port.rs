//! One operation of a select: what an end of a channel must be able to do, whatever the type of its messages.
//!
//! # Safety
//!
//! Trusted with nothing: it says what is promised on either side.
#![expect(unsafe_code, reason = "wait_slots are lent to queues, and messages have no type")]

use std::time::Instant;

use super::erased_slot::ErasedSlot;
use crate::channel::rendezvous::Meets;
use crate::channel::wait_slot::{Handshake, WaitSlot};
use crate::rt::{Entered, Stay, Waiter};

/// An operation that was selected, and is yet to be done.
pub(in crate::channel) struct SelectToken {
    pub(in crate::channel) how: How,
    /// The message, if one was received.
    pub(in crate::channel) space: ErasedSlot,
    /// How far it goes to receive.
    pub(in crate::channel) meets: Meets,
}

/// How it is to be done.
#[derive(Clone, Copy, Debug)]
pub(in crate::channel) enum How {
    /// Nothing was selected.
    Not,
    /// The other side is gone.
    Closed,
    /// A message is in the space.
    Received,
    /// There is a place for a message.
    Reserved,
    /// There is always one.
    Unbounded,
    /// One who receives waits for the message there.
    ///
    /// # Invariant
    ///
    /// It is there until it is over.
    Promised(*const Handshake),
}

impl SelectToken {
    pub(in crate::channel) fn new(meets: Meets) -> Self {
        Self { how: How::Not, space: ErasedSlot::new(), meets }
    }
}

/// Where one who selects waits in one of its channels.
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

/// An end of a channel.
pub(in crate::channel) trait Port {
    /// Selects the operation, if it can be done now.
    fn try_select(&self, token: &mut SelectToken) -> bool;

    /// Makes a select slot ready to wait in, which stays where it is from now on. All select slots
    /// of the one who waits have the same owner.
    fn prepare(&self, select_slot: &SelectSlot, owner: *const ());

    /// Enters the queue of this end, unless the operation may be possible.
    ///
    /// # Safety
    ///
    /// As for [`Door::enter`](crate::rt::Door::enter). The select slot was made ready for this
    /// port, by this owner.
    unsafe fn enter(&self, select_slot: &SelectSlot, waiter: Waiter, owner: *const ()) -> Entered;

    /// Leaves it. Whether the wait was claimed through it.
    ///
    /// # Safety
    ///
    /// The select slot was used for this port only.
    unsafe fn leave(&self, select_slot: &SelectSlot) -> bool;

    /// The wait was claimed through it: selects the operation, unless that was for nothing.
    ///
    /// # Safety
    ///
    /// The select slot was used for this port only, and has left.
    unsafe fn accept(&self, select_slot: &SelectSlot, token: &mut SelectToken) -> bool;

    /// Nothing will be done about what was selected.
    ///
    /// # Safety
    ///
    /// It was selected by this port, and not done.
    unsafe fn abandon(&self, token: &SelectToken);

    /// When it may become possible without anybody's doing, if ever.
    fn next(&self) -> Option<Instant>;

    /// Returns a stamp if the operation cannot be done now. The stamp changes whenever the operation
    /// becomes possible.
    fn unready_stamp(&self) -> Option<u64>;

    /// Whether the operation was impossible at every moment since `stamp` was taken. May be false
    /// though it was.
    fn is_unready_since(&self, stamp: u64) -> bool;

    /// Whether it can be done now.
    fn is_ready(&self) -> bool;

    /// Waits until that may have changed, unless it is ready.
    ///
    /// # Safety
    ///
    /// As for [`Door::enter`](crate::rt::Door::enter).
    unsafe fn enter_to_watch(&self, stay: &Stay<()>, waiter: Waiter) -> Entered;

    /// # Safety
    ///
    /// It was used for this port only.
    unsafe fn leave_watching(&self, stay: &Stay<()>);
}
