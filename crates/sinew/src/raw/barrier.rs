//! The arrivals at a barrier, and the queue of its waiters. Knows neither what the completion does
//! nor its result.
//!
//! All of it is under the lock of the queue. Phases are numbered; the phase of an arrival is over
//! when the current number is higher. The participant that arrives last either ends the phase at
//! once or, if there is a completion, becomes its *ender*: until the ender reports the end, all
//! others wait, and a participant that arrives for the next phase waits before it is counted.
//!
//! A waiter that gives up takes its arrival back, unless all participants have arrived by then. In
//! that case no other participant can delay the end of the phase, and the waiter waits for it.

use std::num::NonZero;

use super::OnceEnd;
use crate::rt::sync::constant;
use crate::rt::{self, GaveUp, Limit, Outcome, Place, Queue, WaitKind};

/// The barrier.
pub(crate) struct RawBarrier {
    queue: Queue<BarrierState, ()>,
}

struct BarrierState {
    phase: u64,
    /// # Invariant
    ///
    /// At most `expected`, and less than `expected` while there is no ender, unless `expected` is
    /// zero.
    arrived: usize,
    expected: usize,
    completion: Completion,
    /// All participants have arrived, and this caller completes the phase.
    ender: Option<NonZero<u64>>,
    /// The completion has failed.
    is_broken: bool,
}

/// What happens between the last arrival and the end of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Completion {
    Nothing,
    /// The participant that arrives last runs a completion, and then calls [`RawBarrier::end`].
    ByLast,
}

/// An arrival in a phase.
#[must_use]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    phase: u64,
    is_last: bool,
}

/// Why a caller may not arrive or wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArrivalRefused {
    /// More than this phase still expects.
    TooMany,
    /// No participant is expected any more.
    Deserted,
    /// The completion has failed.
    Broken,
    /// The caller itself completes the phase.
    Reentered,
}

impl Arrival {
    /// Returns whether it was the last arrival of its phase.
    pub(crate) fn is_last(self) -> bool {
        self.is_last
    }
}

impl RawBarrier {
    constant! {
        pub(crate) fn new(expected: usize, completion: Completion) -> Self {
            let state = BarrierState { phase: 0, arrived: 0, expected, completion, ender: None, is_broken: false };
            Self { queue: Queue::new(state) }
        }
    }

    pub(crate) fn is_broken(&self) -> bool {
        self.queue.lock().is_broken
    }

    /// Arrives `many` times without waiting. If the last arrival is among them, the caller ends the
    /// phase.
    ///
    /// # Errors
    ///
    /// Fails if the caller may not arrive.
    pub(crate) fn arrive(&self, many: usize) -> Result<Arrival, ArrivalRefused> {
        self.queue.lock().arrive(many)
    }

    /// Arrives for the last time, without waiting: later phases expect one participant fewer.
    ///
    /// # Errors
    ///
    /// Fails as [`arrive`](Self::arrive) does.
    pub(crate) fn arrive_and_drop(&self) -> Result<Arrival, ArrivalRefused> {
        let mut state = self.queue.lock();
        state.check_room(1)?;
        state.expected -= 1;
        Ok(state.arrival())
    }

    /// Ends the phase, and wakes all waiters. Only the participant that arrived last may call this.
    pub(crate) fn end(&self, end: OnceEnd) {
        let mut state = self.queue.lock();
        // Without a completion, the phase has already ended.
        if state.ender.take().is_some() {
            match end {
                OnceEnd::Done => state.next(),
                OnceEnd::Failed => state.is_broken = true,
            }
        }
        drop(state);
        // A waiter of this phase has entered the queue under its lock before, so the queue does not
        // seem empty.
        if !self.queue.seems_empty() {
            self.queue.wake_all(|()| ());
        }
    }

    /// Waits until the phase of an arrival is over. The arrival stays, even if the caller gives up.
    ///
    /// # Errors
    ///
    /// Fails if the phase will never be over. The inner result is an error if the limit is reached
    /// first.
    pub(crate) fn wait(
        &self,
        arrival: Arrival,
        mut limit: Limit,
    ) -> Result<Result<(), GaveUp>, ArrivalRefused> {
        let caller = rt::caller();
        while self.queue.lock().is_open(arrival, caller)? {
            let enter =
                |state: &BarrierState| state.is_open(arrival, caller).unwrap_or(false).then_some(Place::Back);
            if let Some(why) =
                gave_up(self.queue.wait(WaitKind::Barrier, (), limit.next_wait(), |state, ()| enter(state)).0)
            {
                return Ok(if self.queue.lock().is_open(arrival, caller)? { Err(why) } else { Ok(()) });
            }
        }
        Ok(Ok(()))
    }

    /// Arrives, and waits until the phase is over. The last participant does not wait: it ends the
    /// phase.
    ///
    /// # Errors
    ///
    /// Fails if the caller may not arrive, or the phase will never be over. The inner result is an
    /// error if the limit is reached first; the arrival is taken back then.
    pub(crate) fn arrive_and_wait(&self, limit: Limit) -> Result<Result<Arrival, GaveUp>, ArrivalRefused> {
        let caller = rt::caller();
        // The last participant does not wait, so it may be where waiting is not allowed.
        if let Some(arrival) = self.queue.lock().arrive_if_last()? {
            return Ok(Ok(arrival));
        }
        let (mut limit, mut mine) = (limit, None);
        loop {
            let mut refused = None;
            let (outcome, ()) = self.queue.wait(WaitKind::Barrier, (), limit.next_wait(), |state, ()| {
                state.enter(caller, &mut mine).unwrap_or_else(|why| {
                    refused = Some(why);
                    None
                })
            });
            if let Some(why) = refused {
                return Err(why);
            }
            match (self.queue.lock().after_wait(mine, caller, gave_up(outcome))?, mine) {
                (After::Over, Some(arrival)) => return Ok(Ok(arrival)),
                (After::GaveUp(why), _) => return Ok(Err(why)),
                (After::Ends, _) => limit = Limit::NEVER.later(),
                (After::Waits | After::Over, _) => {}
            }
        }
    }
}

/// What a participant does after a wait.
enum After {
    Over,
    Waits,
    /// The phase is ending, so the participant can no longer give up.
    Ends,
    GaveUp(GaveUp),
}

fn gave_up(outcome: Outcome) -> Option<GaveUp> {
    match outcome {
        Outcome::NotNeeded | Outcome::Woken => None,
        Outcome::TimedOut => Some(GaveUp::TimedOut),
        Outcome::Stopped(stop) => Some(GaveUp::Stopped(stop)),
    }
}

impl BarrierState {
    /// Begins the next phase.
    fn next(&mut self) {
        self.phase += 1;
        self.arrived = 0;
    }

    /// # Errors
    ///
    /// Fails if this number of arrivals is not allowed now.
    fn check_room(&self, many: usize) -> Result<(), ArrivalRefused> {
        match () {
            () if self.is_broken => Err(ArrivalRefused::Broken),
            () if self.expected == 0 => Err(ArrivalRefused::Deserted),
            () if self.ender.is_some() || many > self.expected - self.arrived => Err(ArrivalRefused::TooMany),
            () => Ok(()),
        }
    }

    fn arrive(&mut self, many: usize) -> Result<Arrival, ArrivalRefused> {
        self.check_room(many)?;
        self.arrived += many;
        Ok(self.arrival())
    }

    fn arrive_if_last(&mut self) -> Result<Option<Arrival>, ArrivalRefused> {
        let is_last = self.check_room(1).is_ok() && self.expected - self.arrived == 1;
        is_last.then(|| self.arrive(1)).transpose()
    }

    /// Records an arrival. If it was the last one, the phase ends, or the caller becomes the ender.
    fn arrival(&mut self) -> Arrival {
        let arrival = Arrival { phase: self.phase, is_last: self.arrived == self.expected };
        match self.completion {
            _ if !arrival.is_last => {}
            Completion::Nothing => self.next(),
            Completion::ByLast => self.ender = Some(rt::caller()),
        }
        arrival
    }

    /// Returns whether the phase of an arrival is not over yet.
    ///
    /// # Errors
    ///
    /// Fails if the phase will never be over.
    fn is_open(&self, arrival: Arrival, caller: NonZero<u64>) -> Result<bool, ArrivalRefused> {
        match () {
            () if self.phase > arrival.phase => Ok(false),
            () if self.is_broken => Err(ArrivalRefused::Broken),
            () if self.ender == Some(caller) => Err(ArrivalRefused::Reentered),
            () => Ok(true),
        }
    }

    /// Counts the arrival of a participant that is about to wait, unless it is already counted or
    /// the phase is ending. Returns where to wait, or `None` if no wait is needed.
    fn enter(
        &mut self,
        caller: NonZero<u64>,
        mine: &mut Option<Arrival>,
    ) -> Result<Option<Place>, ArrivalRefused> {
        let waits = match *mine {
            Some(arrival) => self.is_open(arrival, caller)?,
            None if self.ender == Some(caller) => return Err(ArrivalRefused::Reentered),
            None if self.ender.is_some() => true,
            None => !mine.insert(self.arrive(1)?).is_last,
        };
        Ok(waits.then_some(Place::Back))
    }

    fn after_wait(
        &mut self,
        mine: Option<Arrival>,
        caller: NonZero<u64>,
        why: Option<GaveUp>,
    ) -> Result<After, ArrivalRefused> {
        Ok(match (mine, why) {
            (Some(arrival), _) if arrival.is_last || !self.is_open(arrival, caller)? => After::Over,
            (Some(_), Some(_)) if self.ender.is_some() => After::Ends,
            (Some(_), Some(why)) => {
                self.arrived -= 1;
                After::GaveUp(why)
            }
            (None, Some(why)) => After::GaveUp(why),
            (_, None) => After::Waits,
        })
    }
}
