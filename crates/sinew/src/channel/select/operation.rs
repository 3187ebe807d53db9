//! An operation that was selected, and is not completed.
//!
//! # Safety
//!
//! Trusted with the type of the message: it is that of the selected handle, which is recognised by
//! its address.
#![expect(unsafe_code, reason = "messages have no type here")]

use std::mem;

use super::arm::Arm;
use super::erased_slot::ErasedSlot;
use super::port::{How, SelectToken};
use crate::channel::{Receiver, RecvError, SendError, Sender};
use crate::rt::{self, impl_debug};

/// An operation that was selected. The caller must complete it by [`send`](Self::send) or
/// [`recv`](Self::recv), with the handle that was given to [`Select`](super::Select). Completing it
/// does not wait: there is a message, or room for one.
///
/// Dropping it without completing it panics, since the selected message may be lost.
///
/// Complete it at once. Until then, a bounded channel has a slot reserved for a message to be sent.
/// If that was the last slot, the channel is [full](Sender::is_full), while receivers find no
/// message there. crossbeam's receivers wait for such a message instead. The message goes behind
/// those that other senders send in the meantime:
///
/// ```
/// use sinew::channel::{self, Select};
///
/// let (sender, receiver) = channel::bounded(2);
/// let mut select = Select::new();
/// select.send(&sender);
/// let operation = select.select();
/// assert!(receiver.try_recv().unwrap_err().is_empty());
/// sender.send("sent meanwhile").unwrap();
/// assert!(sender.try_send("no room").unwrap_err().is_full());
/// operation.send(&sender, "selected").unwrap();
/// assert_eq!(receiver.try_iter().collect::<Vec<_>>(), ["sent meanwhile", "selected"]);
/// ```
///
/// With a capacity of 0, a receiver waits for that message, [even beyond its own
/// limits](super#capacity-0-and-select). So neither keep the value for long nor forget it. A
/// forgotten operation reserves its slot forever, or makes a receiver at a channel of capacity 0
/// wait forever.
#[must_use]
pub struct SelectedOperation<'a> {
    arm: Arm<'a>,
    token: SelectToken,
    is_done: bool,
}

impl<'a> SelectedOperation<'a> {
    pub(super) fn new(arm: Arm<'a>, token: SelectToken) -> Self {
        Self { arm, token, is_done: false }
    }

    /// Returns the index of the operation, as [`Select::send`](super::Select::send) or
    /// [`Select::recv`](super::Select::recv) returned it.
    #[must_use]
    pub fn index(&self) -> usize {
        self.arm.index
    }

    /// Sends the message.
    ///
    /// # Errors
    ///
    /// Returns an error if all receivers are gone. The error contains the message.
    ///
    /// # Panics
    ///
    /// Panics if `s` is not the selected handle.
    #[track_caller]
    pub fn send<T>(mut self, s: &Sender<T>, msg: T) -> Result<(), SendError<T>> {
        assert!(self.arm.is_of(s), "passed a sender that wasn't selected");
        self.is_done = true;
        // SAFETY: it is the handle that was selected, and this is the only call.
        unsafe { s.send_selected(self.token.how, msg) }.map_err(SendError)
    }

    /// Receives the message.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no message and all senders are gone.
    ///
    /// # Panics
    ///
    /// Panics if `r` is not the selected handle.
    #[track_caller]
    pub fn recv<T>(mut self, r: &Receiver<T>) -> Result<T, RecvError> {
        assert!(self.arm.is_of(r), "passed a receiver that wasn't selected");
        self.is_done = true;
        let How::Received = self.token.how else { return Err(RecvError) };
        // SAFETY: the handle is borrowed for as long as `self` lives, so no other handle can have
        // its address: the message is of its type.
        unsafe { self.token.space.take::<T>() }.ok_or(RecvError)
    }
}

impl_debug!(SelectedOperation<'a>, ..);

impl Drop for SelectedOperation<'_> {
    fn drop(&mut self) {
        if self.is_done {
            return;
        }
        // SAFETY: it was selected by this port, and is not completed.
        unsafe { self.arm.port.abandon(&self.token) };
        // Drops the message now, and not while the panic below unwinds: its destructor may panic,
        // too.
        rt::catch_panic(|| drop(mem::replace(&mut self.token.space, ErasedSlot::new())));
        assert!(std::thread::panicking(), "dropped `SelectedOperation` without completing the operation");
    }
}
