//! Selecting: of several operations on channels, waits until one can be done, and does that one.
//!
//! It tries all of them. If none can be done, it waits in the queues of all of them at once, and tries again, unless whoever ended the wait has left
//! a message, or room for one. How messages that are yet to be made are sent is in the README of the channels.
//!
//! # Safety
//!
//! Trusted with ports: a token and a select slot are used by the port that they are of.
#![expect(unsafe_code, reason = "select_slots are lent to queues")]

mod arm;
mod doors;
mod erased_slot;
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
use self::port::SelectToken;
use super::error::{ReadyTimeoutError, SelectTimeoutError, TryReadyError, TrySelectError};
use super::rendezvous::Meets;
use super::{Receiver, Sender};
use crate::fiber::Stopped;
use crate::rt::{self, GaveUp, Limit, Outcome, WaitKind, impl_debug, wait_in_all};

/// So many operations are selected from without allocation.
const FEW: usize = 8;

/// A set of operations, of which one is to be done: the first that can be, or one of those that can be now, by chance. As crossbeam-channel's; the
/// macro [`select!`](crate::select) is made of it.
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
/// It stays on its thread or fiber, unlike crossbeam's: what it selects from may have messages that cannot be sent elsewhere.
///
/// ```compile_fail,E0277
/// fn is_send<T: Send>() {}
/// is_send::<sinew::channel::Select<'_>>();
/// ```
///
/// It takes no receivers of [`oneshot`](super::oneshot) and [`broadcast`](super::broadcast): these modules say what to use instead. Of all that
/// waits here, only [`select_cancellable`](Self::select_cancellable) is ended by [cancellation and deadlines](crate::fiber#stopping); the macros
/// have no such form.
///
/// An operation on a channel whose other side is gone can be done: it fails. Up to eight operations on messages of up to 40 bytes are
/// selected from without any allocation.
#[derive(Clone)]
pub struct Select<'a> {
    /// In the first places, if they are few.
    few: [Option<Arm<'a>>; FEW],
    /// All of them, if not. These are no `SmallVec`, which would have to be younger than all handles.
    many: Vec<Option<Arm<'a>>>,
    len: usize,
    next_index: usize,
    is_biased: bool,
}

impl<'a> Select<'a> {
    /// Without operations. Of those that can be done, one is taken by chance.
    #[must_use]
    pub fn new() -> Self {
        Self { few: [None; FEW], many: Vec::new(), len: 0, next_index: 0, is_biased: false }
    }

    /// Without operations. Of those that can be done, the first one is taken.
    #[must_use]
    pub fn new_biased() -> Self {
        Self { is_biased: true, ..Self::new() }
    }

    /// Adds that of sending by this handle. Returns its index.
    pub fn send<T>(&mut self, s: &'a Sender<T>) -> usize {
        self.add(s)
    }

    /// Adds that of receiving by this handle. Returns its index.
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

    /// The operations, none of which is missing.
    fn places(&mut self) -> &mut [Option<Arm<'a>>] {
        if self.many.is_empty() { &mut self.few[..self.len] } else { &mut self.many }
    }

    fn arms(&self) -> impl Iterator<Item = &Arm<'a>> + Clone {
        let places = if self.many.is_empty() { &self.few[..self.len] } else { &self.many };
        places.iter().flatten()
    }

    /// Takes an operation out. The others keep their indices.
    ///
    /// # Panics
    ///
    /// If there is none of this index: it was never added, or taken out before.
    #[track_caller]
    pub fn remove(&mut self, index: usize) {
        assert!(index < self.next_index, "index out of bounds; {index} >= {}", self.next_index);
        let place = self.arms().position(|arm| arm.index == index).expect("no operation with this index");
        self.places()[place..].rotate_left(1);
        self.many.pop();
        self.len -= 1;
    }

    /// Selects an operation that can be done now. It must be done: by [`SelectedOperation::send`] or
    /// [`SelectedOperation::recv`].
    ///
    /// If it receives from a channel of capacity 0 and meets another `select`, it
    /// [waits for the message](super#capacity-0-and-select) of that one.
    ///
    /// # Errors
    ///
    /// If there is none: there was a moment during the call at which none of them could be done.
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

    /// Waits until an operation can be done, and selects it. It must be done: by [`SelectedOperation::send`] or [`SelectedOperation::recv`].
    ///
    /// # Panics
    ///
    /// If there are no operations; if the caller would have to wait, and is inside [`no_suspend`](crate::fiber::no_suspend).
    #[track_caller]
    pub fn select(&mut self) -> SelectedOperation<'a> {
        assert!(self.len > 0, "{}", NONE);
        match self.select_to(Limit::NEVER) {
            Ok(operation) => operation,
            Err(_) => unreachable!("nothing else ends the wait"),
        }
    }

    /// [`select`](Self::select), for at most so long.
    ///
    /// If it receives from a channel of capacity 0 and meets another `select`, it waits for the message of
    /// that one [beyond that time](super#capacity-0-and-select).
    ///
    /// # Errors
    ///
    /// If none could be done in that time.
    ///
    /// # Panics
    ///
    /// If the caller would have to wait, and is inside [`no_suspend`](crate::fiber::no_suspend).
    pub fn select_timeout(&mut self, timeout: Duration) -> Result<SelectedOperation<'a>, SelectTimeoutError> {
        self.select_to(Limit::lasting(timeout)).map_err(|_| SelectTimeoutError)
    }

    /// [`select`](Self::select), until this moment at the latest, with the exception of
    /// [`select_timeout`](Self::select_timeout).
    ///
    /// # Errors
    ///
    /// As [`select_timeout`](Self::select_timeout).
    ///
    /// # Panics
    ///
    /// As [`select_timeout`](Self::select_timeout).
    pub fn select_deadline(
        &mut self,
        deadline: Instant,
    ) -> Result<SelectedOperation<'a>, SelectTimeoutError> {
        self.select_to(Limit::until(Some(deadline))).map_err(|_| SelectTimeoutError)
    }

    /// [`select`](Self::select), where [cancellation and deadlines](crate::fiber#stopping) count, but for
    /// the wait that is the exception of [`select_timeout`](Self::select_timeout).
    ///
    /// # Errors
    ///
    /// If the caller is to stop before an operation can be done, or was to stop already and none can.
    ///
    /// # Panics
    ///
    /// As [`select`](Self::select).
    #[track_caller]
    pub fn select_cancellable(&mut self) -> Result<SelectedOperation<'a>, Stopped> {
        assert!(self.len > 0, "{}", NONE);
        let at = Location::caller();
        self.select_to(Limit::STOP).map_err(|gave_up| match gave_up {
            GaveUp::Stopped(stop) => Stopped::new(stop, at),
            GaveUp::TimedOut => unreachable!("it has no time"),
        })
    }

    /// Returns the index of an operation that can be done now. Another receiver or sender may do it
    /// before the caller.
    ///
    /// # Errors
    ///
    /// If there is none: there was a moment during the call at which none of them could be done.
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

    /// The index of an operation that can be done now, if one is found in one pass.
    fn find_ready(&mut self) -> Option<usize> {
        self.mix();
        self.arms().find(|arm| arm.port.is_ready()).map(|arm| arm.index)
    }

    /// Waits until an operation can be done, and returns its index. Somebody else may do it before the caller.
    ///
    /// # Panics
    ///
    /// As [`select`](Self::select).
    #[track_caller]
    pub fn ready(&mut self) -> usize {
        assert!(self.len > 0, "{}", NONE);
        match self.ready_to(Limit::NEVER) {
            Ok(index) => index,
            Err(_) => unreachable!("nothing else ends the wait"),
        }
    }

    /// [`ready`](Self::ready), for at most so long.
    ///
    /// # Errors
    ///
    /// If none could be done in that time.
    ///
    /// # Panics
    ///
    /// As [`select_timeout`](Self::select_timeout).
    pub fn ready_timeout(&mut self, timeout: Duration) -> Result<usize, ReadyTimeoutError> {
        self.ready_to(Limit::lasting(timeout)).map_err(|_| ReadyTimeoutError)
    }

    /// [`ready`](Self::ready), until this moment at the latest.
    ///
    /// # Errors
    ///
    /// As [`ready_timeout`](Self::ready_timeout).
    ///
    /// # Panics
    ///
    /// As [`select_timeout`](Self::select_timeout).
    pub fn ready_deadline(&mut self, deadline: Instant) -> Result<usize, ReadyTimeoutError> {
        self.ready_to(Limit::until(Some(deadline))).map_err(|_| ReadyTimeoutError)
    }

    /// So that none of those that can be done is before the others.
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
                // What came at the last moment is not left behind.
                Err(gave_up) => return self.attempt(Meets::Anyhow).ok_or(gave_up),
            }
        }
    }

    /// Waits in all channels. None, if an operation may be possible now.
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
        // SAFETY: it is that of the port, and has left.
        let accepted = door.filter(|door| unsafe { door.arm.port.accept(&door.select_slot, &mut token) });
        let arm = accepted.map(|door| door.arm);
        Ok(arm.map(|arm| SelectedOperation::new(arm, token)))
    }

    /// Or until something comes by the clock.
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
