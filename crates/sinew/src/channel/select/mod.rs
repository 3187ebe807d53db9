//! Select: waits until one of several operations on channels can be done, and does it.
//!
//! It tries all operations. If none can be done, it waits in the queues of all channels at once,
//! and tries again, unless the thread that ended the wait has left a message, or room for one. How
//! messages that are produced late are sent is in the README of the channels.
//!
//! # Safety
//!
//! Trusted with ports: a token and a select slot are used only by the port to which they belong.
#![expect(unsafe_code, reason = "select_slots are lent to queues")]

mod arm;
mod doors;
mod erased_slot;
mod error;
mod macros;
#[cfg(all(test, loom))]
mod model;
mod nothing;
#[cfg(all(test, loom))]
mod nothing_model;
mod operation;
mod port;
mod ports;
mod shuffle;

pub use operation::SelectedOperation;
pub(super) use port::Port;

use std::panic::Location;
use std::time::{Duration, Instant};

use smallvec::SmallVec;

use self::arm::Arm;
use self::doors::{Seated, Watching};
pub use self::error::{ReadyTimeoutError, SelectTimeoutError, TryReadyError, TrySelectError};
use self::port::SelectToken;
use super::rendezvous::Meets;
use super::{Receiver, Sender};
use crate::fiber::Stopped;
use crate::rt::{self, GaveUp, Limit, Outcome, WaitKind, impl_debug, wait_in_all};

/// The number of operations up to which a select does not allocate.
const FEW: usize = 8;

/// A set of operations on channels, of which one is done: the first that becomes possible, or a
/// random one of those that are possible now. The API is that of crossbeam-channel. The macro
/// [`select!`](crate::select) is based on it.
///
/// ```
/// use sinew::channel::{self, Select};
///
/// let (sender, numbers) = channel::unbounded();
/// let (_keep, words) = channel::unbounded::<&str>();
/// sender.send(7).unwrap();
///
/// let mut select = Select::new();
/// let from_numbers = select.recv(&numbers);
/// let _from_words = select.recv(&words);
/// let operation = select.select();
/// assert_eq!(operation.index(), from_numbers);
/// assert_eq!(operation.recv(&numbers), Ok(7));
/// ```
///
/// It is not `Send`, unlike crossbeam's, since the messages of its channels may not be `Send`:
///
/// ```compile_fail,E0277
/// fn is_send<T: Send>() {}
/// is_send::<sinew::channel::Select<'_>>();
/// ```
///
/// It does not accept receivers of [`oneshot`](super::oneshot) and [`broadcast`](super::broadcast):
/// these modules say what to use instead. Only [`select_cancellable`](Self::select_cancellable) is
/// ended by [cancellation and deadlines](crate::fiber#stopping); the macros have no such form.
///
/// An operation on a channel whose other side is gone is possible, and its result is an error. A
/// select of up to eight operations on messages of up to 40 bytes does not allocate.
#[derive(Clone)]
pub struct Select<'a> {
    /// The operations, at the front, if there are few.
    few: [Option<Arm<'a>>; FEW],
    /// All operations, if there are many. Not a `SmallVec`, which all handles would have to outlive
    /// strictly.
    many: Vec<Option<Arm<'a>>>,
    len: usize,
    next_index: usize,
    is_biased: bool,
}

impl<'a> Select<'a> {
    /// Makes a set without operations. Of several possible operations, a random one is selected.
    #[must_use]
    pub fn new() -> Self {
        Self { few: [None; FEW], many: Vec::new(), len: 0, next_index: 0, is_biased: false }
    }

    /// Makes a set without operations. Of several possible operations, the first that was added is
    /// selected.
    #[must_use]
    pub fn new_biased() -> Self {
        Self { is_biased: true, ..Self::new() }
    }

    /// Adds the operation of sending through `s`. Returns its index.
    pub fn send<T>(&mut self, s: &'a Sender<T>) -> usize {
        self.add(s)
    }

    /// Adds the operation of receiving through `r`. Returns its index.
    pub fn recv<T>(&mut self, r: &'a Receiver<T>) -> usize {
        self.add(r)
    }

    fn add(&mut self, handle: &'a impl Port) -> usize {
        let index = self.next_index;
        let arm = Some(Arm::new(handle, index));
        if self.len == FEW && self.many.is_empty() {
            self.many.extend(self.few);
        }
        match self.len {
            0..FEW if self.many.is_empty() => self.few[self.len] = arm,
            _ => self.many.push(arm),
        }
        self.len += 1;
        self.next_index += 1;
        index
    }

    /// Returns the operations; no element is `None`.
    fn places(&mut self) -> &mut [Option<Arm<'a>>] {
        if self.many.is_empty() { &mut self.few[..self.len] } else { &mut self.many }
    }

    fn arms(&self) -> impl Iterator<Item = &Arm<'a>> + Clone {
        let places = if self.many.is_empty() { &self.few[..self.len] } else { &self.many };
        places.iter().flatten()
    }

    /// Removes an operation. The others keep their indices.
    ///
    /// # Panics
    ///
    /// Panics if there is no operation with this index: it was never added, or it is already
    /// removed.
    #[track_caller]
    pub fn remove(&mut self, index: usize) {
        assert!(index < self.next_index, "index out of bounds; {index} >= {}", self.next_index);
        let place = self.arms().position(|arm| arm.index == index).expect("no operation with this index");
        self.places()[place..].rotate_left(1);
        self.many.pop();
        self.len -= 1;
    }

    /// Selects an operation that is possible now. The caller must complete it by
    /// [`SelectedOperation::send`] or [`SelectedOperation::recv`].
    ///
    /// A receive operation on a channel of capacity 0 that meets another `select` [waits for its
    /// message](super#capacity-0-and-select).
    ///
    /// # Errors
    ///
    /// Returns an error if there was a moment during the call at which no operation was possible.
    pub fn try_select(&mut self) -> Result<SelectedOperation<'a>, TrySelectError> {
        self.mix();
        loop {
            if let Some(operation) = self.attempt(Meets::IfOthersRun) {
                return Ok(operation);
            }
            if nothing::is_certain(self.arms()) {
                return Err(TrySelectError);
            }
        }
    }

    /// Waits until an operation is possible, and selects it. The caller must complete it by
    /// [`SelectedOperation::send`] or [`SelectedOperation::recv`].
    ///
    /// # Panics
    ///
    /// Panics if there are no operations, or if the caller would have to wait inside
    /// [`no_suspend`](crate::fiber::no_suspend).
    #[track_caller]
    pub fn select(&mut self) -> SelectedOperation<'a> {
        assert!(self.len > 0, "{}", NONE);
        match self.select_to(Limit::NEVER) {
            Ok(operation) => operation,
            Err(_) => unreachable!("nothing else ends the wait"),
        }
    }

    /// Selects an operation like [`select`](Self::select), and gives up after `timeout`.
    ///
    /// A receive operation on a channel of capacity 0 that meets another `select` waits for its
    /// message [beyond that time](super#capacity-0-and-select).
    ///
    /// # Errors
    ///
    /// Returns an error if no operation became possible until the time was over.
    ///
    /// # Panics
    ///
    /// Panics if the caller would have to wait inside [`no_suspend`](crate::fiber::no_suspend).
    pub fn select_timeout(&mut self, timeout: Duration) -> Result<SelectedOperation<'a>, SelectTimeoutError> {
        self.select_to(Limit::lasting(timeout)).map_err(|_| SelectTimeoutError)
    }

    /// Selects an operation like [`select`](Self::select), and gives up at `deadline`, with the
    /// exception that [`select_timeout`](Self::select_timeout) describes.
    ///
    /// # Errors
    ///
    /// Returns an error as [`select_timeout`](Self::select_timeout) does.
    ///
    /// # Panics
    ///
    /// Panics as [`select_timeout`](Self::select_timeout) does.
    pub fn select_deadline(
        &mut self,
        deadline: Instant,
    ) -> Result<SelectedOperation<'a>, SelectTimeoutError> {
        self.select_to(Limit::until(Some(deadline))).map_err(|_| SelectTimeoutError)
    }

    /// Selects an operation like [`select`](Self::select), and gives up when [cancellation or a
    /// deadline](crate::fiber#stopping) stops the caller, with the exception that
    /// [`select_timeout`](Self::select_timeout) describes.
    ///
    /// # Errors
    ///
    /// Returns an error if the caller is stopped while it waits, or is already stopped and no
    /// operation is possible.
    ///
    /// # Panics
    ///
    /// Panics as [`select`](Self::select) does.
    #[track_caller]
    pub fn select_cancellable(&mut self) -> Result<SelectedOperation<'a>, Stopped> {
        assert!(self.len > 0, "{}", NONE);
        let at = Location::caller();
        self.select_to(Limit::STOP).map_err(|gave_up| match gave_up {
            GaveUp::Stopped(stop) => Stopped::new(stop, at),
            GaveUp::TimedOut => unreachable!("it has no time"),
        })
    }

    /// Returns the index of an operation that is possible now. Another receiver or sender may do it
    /// before the caller.
    ///
    /// # Errors
    ///
    /// Returns an error if there was a moment during the call at which no operation was possible.
    pub fn try_ready(&mut self) -> Result<usize, TryReadyError> {
        loop {
            if let Some(index) = self.find_ready() {
                return Ok(index);
            }
            if nothing::is_certain(self.arms()) {
                return Err(TryReadyError);
            }
        }
    }

    /// Returns the index of an operation that is possible now, if one pass finds one.
    fn find_ready(&mut self) -> Option<usize> {
        self.mix();
        self.arms().find(|arm| arm.port.is_ready()).map(|arm| arm.index)
    }

    /// Waits until an operation is possible, and returns its index. Another receiver or sender may
    /// do it before the caller.
    ///
    /// # Panics
    ///
    /// Panics as [`select`](Self::select) does.
    #[track_caller]
    pub fn ready(&mut self) -> usize {
        assert!(self.len > 0, "{}", NONE);
        match self.ready_to(Limit::NEVER) {
            Ok(index) => index,
            Err(_) => unreachable!("nothing else ends the wait"),
        }
    }

    /// Waits like [`ready`](Self::ready), and gives up after `timeout`.
    ///
    /// # Errors
    ///
    /// Returns an error if no operation became possible until the time was over.
    ///
    /// # Panics
    ///
    /// Panics as [`select_timeout`](Self::select_timeout) does.
    pub fn ready_timeout(&mut self, timeout: Duration) -> Result<usize, ReadyTimeoutError> {
        self.ready_to(Limit::lasting(timeout)).map_err(|_| ReadyTimeoutError)
    }

    /// Waits like [`ready`](Self::ready), and gives up at `deadline`.
    ///
    /// # Errors
    ///
    /// Returns an error as [`ready_timeout`](Self::ready_timeout) does.
    ///
    /// # Panics
    ///
    /// Panics as [`select_timeout`](Self::select_timeout) does.
    pub fn ready_deadline(&mut self, deadline: Instant) -> Result<usize, ReadyTimeoutError> {
        self.ready_to(Limit::until(Some(deadline))).map_err(|_| ReadyTimeoutError)
    }

    /// Shuffles the operations, unless the select is biased, so that none is preferred.
    fn mix(&mut self) {
        if !self.is_biased {
            shuffle::mix(self.places());
        }
    }

    fn attempt(&self, meets: Meets) -> Option<SelectedOperation<'a>> {
        let mut token = SelectToken::new(meets);
        let arm = self.arms().find(|arm| arm.port.try_select(&mut token))?;
        Some(SelectedOperation::new(*arm, token))
    }

    fn select_to(&mut self, mut limit: Limit) -> Result<SelectedOperation<'a>, GaveUp> {
        rt::spend(1);
        self.mix();
        loop {
            if let Some(operation) = self.attempt(Meets::Anyhow) {
                return Ok(operation);
            }
            match self.wait(limit.next_wait()) {
                Ok(Some(operation)) => return Ok(operation),
                Ok(None) => {}
                Err(GaveUp::TimedOut) if !limit.is_over() => {}
                // An operation that became possible at the last moment is still selected.
                Err(gave_up) => return self.attempt(Meets::Anyhow).ok_or(gave_up),
            }
        }
    }

    /// Waits in all channels. Returns `None` if an operation may be possible now.
    #[inline(never)]
    fn wait(&self, limit: Limit) -> Result<Option<SelectedOperation<'a>>, GaveUp> {
        let mut doors = SmallVec::<[Seated<'a>; FEW]>::new();
        for arm in self.arms() {
            doors.push(Seated::new(*arm));
        }
        let owner = doors.as_ptr().cast();
        for door in &mut doors {
            door.prepare(owner);
        }
        let (outcome, index) = wait_in_all(WaitKind::Select.on(self), &doors, self.sooner(limit));
        let Outcome::Woken = outcome else { return outcome.into_result().map(|()| None) };
        let door = index.map(|index| &doors[index]);
        let mut token = SelectToken::new(Meets::Anyhow);
        // SAFETY: the select slot belongs to this port, and has left its queue.
        let accepted = door.filter(|door| unsafe { door.arm.port.accept(&door.select_slot, &mut token) });
        let arm = accepted.map(|door| door.arm);
        Ok(arm.map(|arm| SelectedOperation::new(arm, token)))
    }

    /// Returns the limit, or the time of the next message that is due if that is earlier.
    fn sooner(&self, limit: Limit) -> Limit {
        limit.or_until(self.arms().filter_map(|arm| arm.port.next()).min())
    }

    fn ready_to(&mut self, mut limit: Limit) -> Result<usize, GaveUp> {
        rt::spend(1);
        loop {
            if let Some(index) = self.find_ready() {
                return Ok(index);
            }
            let doors: SmallVec<[Watching<'a>; FEW]> =
                self.arms().map(|arm| Watching::new(arm.port)).collect();
            match wait_in_all(WaitKind::Select.on(self), &doors, self.sooner(limit.next_wait()))
                .0
                .into_result()
            {
                Err(GaveUp::TimedOut) if !limit.is_over() => {}
                Err(gave_up) => return self.find_ready().ok_or(gave_up),
                Ok(()) => {}
            }
        }
    }
}

const NONE: &str = "no operations have been added to `Select`";

impl Default for Select<'_> {
    fn default() -> Self {
        Self::new()
    }
}

impl_debug!(Select<'a>, ..);
