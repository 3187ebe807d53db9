//! A barrier where several callers wait for one another, with the names of [`std::sync::Barrier`]
//! and more operations, as in C++.

use std::time::Duration;

use super::Mutex;
use crate::fiber::Stopped;
use crate::limited::{always, unless_stopped};
use crate::raw::{Arrival, ArrivalRefused, Completion, OnceEnd, RawBarrier};
use crate::rt::sync::ignore_poison;
use crate::rt::{GaveUp, Limit, impl_debug, impl_unwind_safe};

/// A point where several fibers and threads wait for one another, phase by phase. A fiber that
/// waits leaves its worker to other fibers.
///
/// It has all methods of [`std::sync::Barrier`], with the same names: [`new`](Self::new),
/// [`wait`](Self::wait) and [`is_leader`](BarrierWaitResult::is_leader). Additions to std:
///
/// - [`with_completion`](Self::with_completion) takes a closure that is called once in each phase,
///   after all participants have arrived and before any of them continues. If it panics, the
///   barrier is poisoned: the panic unwinds the participant that arrived last, and all others,
///   including those that arrive later, panic too instead of waiting for ever.
/// - [`arrive`](Self::arrive) and [`ArrivalToken::wait`] split arriving and waiting: a participant
///   may wait later, or not at all. The `arrive_and_wait` of C++ is `wait` here.
/// - [`arrive_and_drop`](Self::arrive_and_drop) arrives for the last time.
/// - There are waits with a limit: [`wait_timeout`](Self::wait_timeout) and
///   [`wait_cancellable`](Self::wait_cancellable). A wait that reaches its limit takes the arrival
///   back: the participant is still expected, and may arrive again. An arrival by `arrive` is not
///   taken back.
///
/// If more participants arrive one by one than are expected in a phase, the others take part in the
/// next phase, as with std's. Where that is impossible, the call panics: in
/// [`arrive_many`](Self::arrive_many), while the completion runs, and after all participants have
/// left.
///
/// ```
/// use sinew::fiber;
/// use sinew::sync::{Arc, Barrier};
///
/// let barrier = Arc::new(Barrier::new(3));
/// let members = (0..3).map(|_| {
///     let barrier = barrier.clone();
///     fiber::spawn(move || barrier.wait().is_leader())
/// });
/// let leaders = members.collect::<Vec<_>>().into_iter().map(|member| member.join().unwrap());
/// assert_eq!(leaders.filter(|is_leader| *is_leader).count(), 1);
/// ```
pub struct Barrier {
    raw: RawBarrier,
    /// Locked only by the participant that arrived last, so never contended.
    completion: Option<Mutex<Box<dyn FnMut() + Send>>>,
}

// A panic of the completion poisons it.
impl_unwind_safe!(Barrier);

/// The result of a wait at a [`Barrier`]. The counterpart of [`std::sync::BarrierWaitResult`],
/// which only std can construct.
pub struct BarrierWaitResult(bool);

impl BarrierWaitResult {
    /// Returns whether this participant arrived last. Each phase has one such participant, unless
    /// it left by [`Barrier::arrive_and_drop`]. Every wait with the same token returns the same
    /// answer.
    #[must_use]
    pub fn is_leader(&self) -> bool {
        self.0
    }
}

impl Barrier {
    /// Creates a barrier for `n` participants. As with std's, 0 means 1.
    #[inline]
    #[must_use]
    pub const fn new(n: usize) -> Self {
        Self { raw: RawBarrier::new(at_least_one(n), Completion::Nothing), completion: None }
    }

    /// Creates a barrier for `n` participants, with a closure that is called in each phase. The
    /// participant that arrives last calls it, before any participant continues.
    ///
    /// ```
    /// use sinew::fiber;
    /// use sinew::sync::{Arc, Barrier};
    /// use std::sync::atomic::{AtomicU32, Ordering};
    ///
    /// let phases = Arc::new(AtomicU32::new(0));
    /// let count = phases.clone();
    /// let completion = move || drop(count.fetch_add(1, Ordering::Relaxed));
    /// let barrier = Arc::new(Barrier::with_completion(2, completion));
    /// let copy = barrier.clone();
    /// let other = fiber::spawn(move || (0..3).for_each(|_| drop(copy.wait())));
    /// for phase in 1..=3 {
    ///     barrier.wait();
    ///     assert!(phases.load(Ordering::Relaxed) >= phase);
    /// }
    /// other.join().unwrap();
    /// ```
    #[must_use]
    pub fn with_completion(n: usize, completion: impl FnMut() + Send + 'static) -> Self {
        let raw = RawBarrier::new(at_least_one(n), Completion::ByLast);
        Self { raw, completion: Some(Mutex::new(Box::new(completion))) }
    }

    /// Arrives, and waits until all participants have arrived.
    ///
    /// # Panics
    ///
    /// Panics if the barrier is poisoned, or the completion panics. Panics if all participants have
    /// left, or the completion calls this. Panics if the caller would have to wait and is inside
    /// [`no_suspend`](crate::fiber::no_suspend).
    #[track_caller]
    pub fn wait(&self) -> BarrierWaitResult {
        always(self.wait_to(Limit::NEVER))
    }

    /// Arrives and waits as [`wait`](Self::wait) does, but at most for `time`. Returns `None` if
    /// not all participants have arrived in that time. The arrival of the caller is then taken
    /// back.
    ///
    /// If all have arrived, it waits for the completion, however long that takes.
    ///
    /// ```
    /// use sinew::sync::Barrier;
    /// use std::time::Duration;
    ///
    /// let barrier = Barrier::new(2);
    /// assert!(barrier.wait_timeout(Duration::from_millis(1)).is_none());
    /// let _ = barrier.arrive();
    /// assert!(barrier.wait_timeout(Duration::ZERO).unwrap().is_leader());
    /// ```
    ///
    /// # Panics
    ///
    /// Panics as [`wait`](Self::wait) does.
    #[track_caller]
    pub fn wait_timeout(&self, time: Duration) -> Option<BarrierWaitResult> {
        self.wait_to(Limit::lasting(time)).ok()
    }

    /// Arrives and waits as [`wait`](Self::wait) does, but [cancellation and
    /// deadlines](crate::fiber#stopping) end the wait.
    ///
    /// # Errors
    ///
    /// Returns an error if the caller is stopped before all participants have arrived. The arrival
    /// of the caller is then taken back.
    ///
    /// # Panics
    ///
    /// Panics as [`wait`](Self::wait) does.
    #[track_caller]
    pub fn wait_cancellable(&self) -> Result<BarrierWaitResult, Stopped> {
        unless_stopped(self.wait_to(Limit::STOP))
    }

    #[track_caller]
    fn wait_to(&self, limit: Limit) -> Result<BarrierWaitResult, GaveUp> {
        let arrival = allowed(self.raw.arrive_and_wait(limit))?;
        self.complete(arrival);
        Ok(BarrierWaitResult(arrival.is_last()))
    }

    /// Arrives without waiting. The token can wait for the end of the phase. The participant that
    /// arrives last calls the completion.
    ///
    /// ```
    /// use sinew::fiber;
    /// use sinew::sync::{Arc, Barrier};
    ///
    /// let barrier = Arc::new(Barrier::new(2));
    /// let copy = barrier.clone();
    /// let other = fiber::spawn(move || drop(copy.wait()));
    /// let token = barrier.arrive();
    /// // Other work can be done here.
    /// token.wait();
    /// other.join().unwrap();
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if the barrier is poisoned, or the completion panics. Panics if all participants of
    /// this phase have arrived and the completion is running. Panics if all participants have left.
    #[track_caller]
    pub fn arrive(&self) -> ArrivalToken<'_> {
        self.arrive_many(1)
    }

    /// Arrives `n` times at once. With 0, the token belongs to an observer: it does not count as an
    /// arrival, and can wait for the end of the phase.
    ///
    /// # Panics
    ///
    /// Panics as [`arrive`](Self::arrive) does. Panics if `n` exceeds the number of arrivals that
    /// this phase still expects.
    #[track_caller]
    pub fn arrive_many(&self, n: usize) -> ArrivalToken<'_> {
        let arrival = allowed(self.raw.arrive(n));
        self.complete(arrival);
        ArrivalToken { barrier: self, arrival }
    }

    /// Arrives for the last time: this phase counts the arrival, and all later phases expect one
    /// participant fewer.
    ///
    /// ```
    /// use sinew::sync::Barrier;
    ///
    /// let barrier = Barrier::new(2);
    /// barrier.arrive_and_drop();
    /// assert!(barrier.wait().is_leader());
    /// // From the next phase on, the barrier has one participant.
    /// assert!(barrier.wait().is_leader());
    /// ```
    ///
    /// # Panics
    ///
    /// Panics as [`arrive`](Self::arrive) does.
    #[track_caller]
    pub fn arrive_and_drop(&self) {
        let arrival = allowed(self.raw.arrive_and_drop());
        self.complete(arrival);
    }

    /// Returns whether the completion has panicked.
    #[must_use]
    pub fn is_poisoned(&self) -> bool {
        self.raw.is_broken()
    }

    /// Ends the phase if this arrival was the last one.
    fn complete(&self, arrival: Arrival) {
        if arrival.is_last() {
            let mut ending = CompletionGuard { raw: &self.raw, end: OnceEnd::Failed };
            if let Some(completion) = &self.completion {
                // A panic poisons the barrier too, so this lock is not acquired again.
                ignore_poison(completion.lock())();
            }
            ending.end = OnceEnd::Done;
        }
    }
}

/// Returns `n`, or 1 instead of 0.
const fn at_least_one(n: usize) -> usize {
    if n == 0 { 1 } else { n }
}

/// Ends the phase when it is dropped. If the completion panics, `end` still has its first value.
struct CompletionGuard<'a> {
    raw: &'a RawBarrier,
    end: OnceEnd,
}

impl Drop for CompletionGuard<'_> {
    fn drop(&mut self) {
        self.raw.end(self.end);
    }
}

/// Returns the result of an operation that the barrier allowed.
#[track_caller]
fn allowed<T>(result: Result<T, ArrivalRefused>) -> T {
    result.unwrap_or_else(|refused| refuse(refused))
}

#[cold]
#[track_caller]
fn refuse(refused: ArrivalRefused) -> ! {
    match refused {
        ArrivalRefused::TooMany => panic!("more arrive at a `Barrier` than it expects in this phase"),
        ArrivalRefused::Deserted => {
            panic!("all participants of this `Barrier` have left by `arrive_and_drop`")
        }
        ArrivalRefused::Broken => {
            panic!("Barrier instance has previously been poisoned: its completion panicked")
        }
        ArrivalRefused::Reentered => {
            panic!("the completion of a `Barrier` waits for the same barrier, and so for itself")
        }
    }
}

/// An arrival at a [`Barrier`], which can wait for the end of the phase. The arrival counts even if
/// the token does not wait.
#[must_use = "the arrival counts already: to not wait, drop the token with `let _ =`"]
pub struct ArrivalToken<'a> {
    barrier: &'a Barrier,
    arrival: Arrival,
}

impl ArrivalToken<'_> {
    /// Waits until all participants have arrived and the completion has run.
    ///
    /// # Panics
    ///
    /// Panics if the barrier is poisoned. Panics if the completion calls this. Panics if the caller
    /// would have to wait and is inside [`no_suspend`](crate::fiber::no_suspend).
    #[track_caller]
    pub fn wait(self) -> BarrierWaitResult {
        always(self.wait_to(Limit::NEVER))
    }

    /// Waits as [`wait`](Self::wait) does, but at most for `time`. Returns `None` if not all
    /// participants have arrived in that time. The arrival still counts.
    ///
    /// # Panics
    ///
    /// Panics as [`wait`](Self::wait) does.
    #[track_caller]
    pub fn wait_timeout(&self, time: Duration) -> Option<BarrierWaitResult> {
        self.wait_to(Limit::lasting(time)).ok()
    }

    /// Waits as [`wait`](Self::wait) does, but [cancellation and deadlines](crate::fiber#stopping)
    /// end the wait.
    ///
    /// # Errors
    ///
    /// Returns an error if the caller is stopped before all participants have arrived. The arrival
    /// still counts.
    ///
    /// # Panics
    ///
    /// Panics as [`wait`](Self::wait) does.
    #[track_caller]
    pub fn wait_cancellable(&self) -> Result<BarrierWaitResult, Stopped> {
        unless_stopped(self.wait_to(Limit::STOP))
    }

    #[track_caller]
    fn wait_to(&self, limit: Limit) -> Result<BarrierWaitResult, GaveUp> {
        allowed(self.barrier.raw.wait(self.arrival, limit))?;
        Ok(BarrierWaitResult(self.arrival.is_last()))
    }
}

impl_debug!(Barrier, ..);

impl_debug!(BarrierWaitResult, |result| { is_leader: result.is_leader() });

impl_debug!(ArrivalToken<'a>, |token| { is_leader: token.arrival.is_last(), .. });
