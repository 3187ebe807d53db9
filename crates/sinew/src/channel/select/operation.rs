//! An operation that was selected, and is to be done.
//!
//! # Safety
//!
//! Trusted with the type of the message: that of the handle which was selected, and which is known by where it is.
#![expect(unsafe_code, reason = "messages have no type here")]

use std::mem;

use super::arm::Arm;
use super::erased_slot::ErasedSlot;
use super::port::{How, SelectToken};
use crate::channel::{Receiver, RecvError, SendError, Sender};
use crate::rt::{self, impl_debug};

/// An operation that was selected, and must be done now: by [`send`](Self::send) or [`recv`](Self::recv), with the handle that was given to
/// [`Select`](super::Select). It does not wait: there is a message, or room for one.
///
/// Dropping it without that is a panic, since what was selected may be lost.
///
/// It is meant to be done at once. Until then a bounded channel has a place reserved for a message that is to be sent: it is
/// [full](Sender::is_full) if that was the last one, while whoever receives finds nothing there. crossbeam's receivers wait for such a message
/// instead. It goes behind those that others send meanwhile:
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
/// With a capacity of 0, a receiver waits for that message, [whatever its own
/// limits](super#capacity-0-and-select). So neither keep the value for long nor forget it: a place in a
/// channel that keeps messages is never free again then, and a receiver at one of capacity 0 waits for
/// ever.
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

    /// Which one it is: what [`Select::send`](super::Select::send) or [`Select::recv`](super::Select::recv) returned.
    #[must_use]
    pub fn index(&self) -> usize {
        self.arm.index
    }

    /// Sends the message.
    ///
    /// # Errors
    ///
    /// If all receivers are gone. The message is in the error.
    ///
    /// # Panics
    ///
    /// If it was another handle that was selected.
    #[track_caller]
    pub fn send<T>(mut self, s: &Sender<T>, msg: T) -> Result<(), SendError<T>> {
        assert!(self.arm.is_of(s), "passed a sender that wasn't selected");
        self.is_done = true;
        // SAFETY: it is the handle that was selected, and this is the first time.
        unsafe { s.send_selected(self.token.how, msg) }.map_err(SendError)
    }

    /// Receives the message.
    ///
    /// # Errors
    ///
    /// If there is none, and all senders are gone.
    ///
    /// # Panics
    ///
    /// If it was another handle that was selected.
    #[track_caller]
    pub fn recv<T>(mut self, r: &Receiver<T>) -> Result<T, RecvError> {
        assert!(self.arm.is_of(r), "passed a receiver that wasn't selected");
        self.is_done = true;
        let How::Received = self.token.how else { return Err(RecvError) };
        // SAFETY: the handle is there for as long as this, so that no other one can be at the same place: the message is of its type.
        unsafe { self.token.space.take::<T>() }.ok_or(RecvError)
    }
}

impl_debug!(SelectedOperation<'a>, ..);

impl Drop for SelectedOperation<'_> {
    fn drop(&mut self) {
        if self.is_done {
            return;
        }
        // SAFETY: it was selected by this port, and nothing was done.
        unsafe { self.arm.port.abandon(&self.token) };
        // A message goes now, and not while the panic below unwinds: its destructor may panic, too.
        rt::catch_panic(|| drop(mem::replace(&mut self.token.space, ErasedSlot::new())));
        assert!(std::thread::panicking(), "dropped `SelectedOperation` without completing the operation");
    }
}
