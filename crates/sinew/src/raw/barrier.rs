//! Who has come to a barrier, and who waits there. Knows neither what completes a phase nor what it leaves.
//!
//! All of it is under the lock of the queue. Phases are numbered; one is over when its number is. Whoever comes last either ends the
//! phase by coming, or, where something completes it, is its *ender*: until that says so, all wait, and whoever comes for the next
//! phase waits before it counts.
//!
//! One that gives up takes its arrival back, unless all have come by then: the phase ends without being held up by anybody then, and
//! it waits for that.

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
    /// No more than `expected`, and fewer while there is no ender, unless nobody is expected any more.
    arrived: usize,
    expected: usize,
    completion: Completion,
    /// All have come, and this one completes the phase.
    ender: Option<NonZero<u64>>,
    /// The completion has failed.
    is_broken: bool,
}

/// Whether something completes a phase before it is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Completion {
    Nothing,
    /// Whoever comes last, which calls [`RawBarrier::end`] then.
    ByLast,
}

/// Somebody has come.
#[must_use]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    phase: u64,
    is_last: bool,
}

/// Why nobody may come or wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArrivalRefused {
    /// More than are expected in this phase.
    TooMany,
    /// Nobody is expected any more.
    Deserted,
    /// The completion has failed.
    Broken,
    /// The caller is the one who completes the phase.
    Reentered,
}

impl Arrival {
    /// Whether it was the last one of its phase.
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

    /// So many come, and do not wait here. If they are the last, the caller ends the phase.
    ///
    /// # Errors
    ///
    /// If they may not come.
    pub(crate) fn arrive(&self, many: usize) -> Result<Arrival, ArrivalRefused> {
        self.queue.lock().arrive(many)
    }

    /// One comes who is not expected in later phases, and does not wait here.
    ///
    /// # Errors
    ///
    /// As [`arrive`](Self::arrive).
    pub(crate) fn arrive_and_drop(&self) -> Result<Arrival, ArrivalRefused> {
        let mut state = self.queue.lock();
        state.check_room(1)?;
        state.expected -= 1;
        Ok(state.arrival())
    }

    /// For whoever came last: the phase is over, and all who wait go on.
    pub(crate) fn end(&self, end: OnceEnd) {
        let mut state = self.queue.lock();
        // Without anything that completes it, it has ended already.
        if state.ender.take().is_some() {
            match end {
                OnceEnd::Done => state.next(),
                OnceEnd::Failed => state.is_broken = true,
            }
        }
        drop(state);
        // Whoever waits for this phase has had the lock before, and is not overlooked.
        if !self.queue.seems_empty() {
            self.queue.wake_all(|()| ());
        }
    }

    /// Waits until the phase of an arrival is over. It stays, also if the caller gives up.
    ///
    /// # Errors
    ///
    /// If it never will be. Inside, if the limit is reached before.
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

    /// One comes, and waits until the phase is over, unless it is the last one: then the caller ends it.
    ///
    /// # Errors
    ///
    /// If it may not come, or the phase never will be over. Inside, if the limit is reached before: it has not come then.
    pub(crate) fn arrive_and_wait(&self, limit: Limit) -> Result<Result<Arrival, GaveUp>, ArrivalRefused> {
        let caller = rt::caller();
        // The last one does not wait, and may be where it must not.
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

/// What comes after a wait.
enum After {
    Over,
    Waits,
    /// It cannot give up any more.
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
    /// The next phase begins.
    fn next(&mut self) {
        self.phase += 1;
        self.arrived = 0;
    }

    /// # Errors
    ///
    /// If so many may not come now.
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

    /// Somebody has come. If all have, the phase is over, or about to be.
    fn arrival(&mut self) -> Arrival {
        let arrival = Arrival { phase: self.phase, is_last: self.arrived == self.expected };
        match self.completion {
            _ if !arrival.is_last => {}
            Completion::Nothing => self.next(),
            Completion::ByLast => self.ender = Some(rt::caller()),
        }
        arrival
    }

    /// Whether the phase of an arrival is not over yet.
    ///
    /// # Errors
    ///
    /// If it never will be.
    fn is_open(&self, arrival: Arrival, caller: NonZero<u64>) -> Result<bool, ArrivalRefused> {
        match () {
            () if self.phase > arrival.phase => Ok(false),
            () if self.is_broken => Err(ArrivalRefused::Broken),
            () if self.ender == Some(caller) => Err(ArrivalRefused::Reentered),
            () => Ok(true),
        }
    }

    /// One who is about to wait comes, unless it has, or the phase is about to end. Where to wait, if that is needed.
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
