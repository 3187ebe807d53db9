//! A point where several wait for one another, with the names of [`std::sync::Barrier`] and what C++ has beyond.

use std::time::Duration;

use super::Mutex;
use crate::fiber::Stopped;
use crate::limited::{always, unless_stopped};
use crate::raw::{Arrival, ArrivalRefused, Completion, OnceEnd, RawBarrier};
use crate::rt::sync::ignore_poison;
use crate::rt::{GaveUp, Limit, impl_debug, impl_unwind_safe};

/// A point where several wait for one another, phase by phase, for fibers and threads alike: a fiber that waits gives its worker to
/// others.
///
/// It has all that [`std::sync::Barrier`] has, with the same names: [`new`](Self::new), [`wait`](Self::wait) and
/// [`is_leader`](BarrierWaitResult::is_leader). What is beyond:
///
/// - [`with_completion`](Self::with_completion): a closure that is called once in each phase, when all have come and before anybody
///   goes on. If it panics, the barrier is poisoned: the panic is that of whoever came last, and all others, those who wait
///   and those who come later, panic too instead of waiting for ever.
/// - [`arrive`](Self::arrive) and [`ArrivalToken::wait`]: to come first, and wait later, or not at all. What C++ calls
///   `arrive_and_wait` is `wait` here.
/// - [`arrive_and_drop`](Self::arrive_and_drop): to come for the last time.
/// - Waits that end: [`wait_timeout`](Self::wait_timeout) and [`wait_cancellable`](Self::wait_cancellable). Whoever gives up has not
///   come: it is expected as before, and may come again. An arrival by `arrive` stays.
///
/// More than are expected in a phase take part in the next one if they come one by one, as with std's. Where that cannot
/// be, it is a panic: at [`arrive_many`](Self::arrive_many), while the completion runs, or once all have left.
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
    /// Locked by whoever came last, and so never by two.
    completion: Option<Mutex<Box<dyn FnMut() + Send>>>,
}

// A panic of the completion poisons it.
impl_unwind_safe!(Barrier);

/// What a wait at a [`Barrier`] has come to. The twin of [`std::sync::BarrierWaitResult`], which nobody but std can make.
pub struct BarrierWaitResult(bool);

impl BarrierWaitResult {
    /// Whether it was this one who came last. One in each phase is, unless that has left by [`Barrier::arrive_and_drop`]; it hears so each time
    /// that it waits by the same token.
    #[must_use]
    pub fn is_leader(&self) -> bool {
        self.0
    }
}

impl Barrier {
    /// One where so many wait for one another. Zero are taken for one, as with std's.
    #[inline]
    #[must_use]
    pub const fn new(n: usize) -> Self {
        Self { raw: RawBarrier::new(at_least_one(n), Completion::Nothing), completion: None }
    }

    /// The same, and has the closure called in each phase by whoever comes last, when all have come and before anybody goes on.
    ///
    /// ```
    /// use sinew::fiber;
    /// use sinew::sync::{Arc, Barrier};
    /// use std::sync::atomic::{AtomicU32, Ordering};
    ///
    /// let phases = Arc::new(AtomicU32::new(0));
    /// let count = phases.clone();
    /// let barrier = Arc::new(Barrier::with_completion(2, move || drop(count.fetch_add(1, Ordering::Relaxed))));
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

    /// Comes, and waits until all have come.
    ///
    /// # Panics
    ///
    /// If it is poisoned, or the completion panics. If all have left. If it is called by the completion. If the caller would have to
    /// wait, and is inside [`no_suspend`](crate::fiber::no_suspend).
    #[track_caller]
    pub fn wait(&self) -> BarrierWaitResult {
        always(self.wait_to(Limit::NEVER))
    }

    /// [`wait`](Self::wait), for at most so long. None, if not all have come by then: the caller has not come either then.
    ///
    /// If all have, it waits for the completion, however long that takes.
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
    /// As [`wait`](Self::wait).
    #[track_caller]
    pub fn wait_timeout(&self, time: Duration) -> Option<BarrierWaitResult> {
        self.wait_to(Limit::lasting(time)).ok()
    }

    /// [`wait`](Self::wait), where [cancellation and deadlines](crate::fiber#stopping) count.
    ///
    /// # Errors
    ///
    /// If the caller is to stop before all have come: it has not come either then.
    ///
    /// # Panics
    ///
    /// As [`wait`](Self::wait).
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

    /// Comes, and does not wait: that is up to the token. Whoever comes last calls the completion.
    ///
    /// ```
    /// use sinew::fiber;
    /// use sinew::sync::{Arc, Barrier};
    ///
    /// let barrier = Arc::new(Barrier::new(2));
    /// let copy = barrier.clone();
    /// let other = fiber::spawn(move || drop(copy.wait()));
    /// let token = barrier.arrive();
    /// // Something else may be done here.
    /// token.wait();
    /// other.join().unwrap();
    /// ```
    ///
    /// # Panics
    ///
    /// If it is poisoned, or the completion panics. If all have come in this phase, and the completion runs. If all have left.
    #[track_caller]
    pub fn arrive(&self) -> ArrivalToken<'_> {
        self.arrive_many(1)
    }

    /// So many come at once. With none, it is a token of one who looks on: it does not count, and may wait for the phase to end.
    ///
    /// # Panics
    ///
    /// As [`arrive`](Self::arrive). If it is more than are still expected in this phase.
    #[track_caller]
    pub fn arrive_many(&self, n: usize) -> ArrivalToken<'_> {
        let arrival = allowed(self.raw.arrive(n));
        self.complete(arrival);
        ArrivalToken { barrier: self, arrival }
    }

    /// Comes for the last time: in this phase it counts, and in all later ones one fewer is expected.
    ///
    /// # Panics
    ///
    /// As [`arrive`](Self::arrive).
    #[track_caller]
    pub fn arrive_and_drop(&self) {
        let arrival = allowed(self.raw.arrive_and_drop());
        self.complete(arrival);
    }

    /// Whether the completion has panicked.
    #[must_use]
    pub fn is_poisoned(&self) -> bool {
        self.raw.is_broken()
    }

    /// If this one came last, the phase ends.
    fn complete(&self, arrival: Arrival) {
        if arrival.is_last() {
            let mut ending = CompletionGuard { raw: &self.raw, end: OnceEnd::Failed };
            if let Some(completion) = &self.completion {
                // A panic poisons the barrier too, so that nobody comes here again.
                ignore_poison(completion.lock())();
            }
            ending.end = OnceEnd::Done;
        }
    }
}

/// Zero are taken for one.
const fn at_least_one(n: usize) -> usize {
    if n == 0 { 1 } else { n }
}

/// The last one ends a phase. If the completion panics, this is dropped as it was made.
struct CompletionGuard<'a> {
    raw: &'a RawBarrier,
    end: OnceEnd,
}

impl Drop for CompletionGuard<'_> {
    fn drop(&mut self) {
        self.raw.end(self.end);
    }
}

/// What was done, if it may be done.
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
            panic!("a `Barrier` expects nobody any more: all have left by `arrive_and_drop`")
        }
        ArrivalRefused::Broken => {
            panic!("Barrier instance has previously been poisoned: its completion panicked")
        }
        ArrivalRefused::Reentered => {
            panic!("the completion of a `Barrier` waits for the same barrier, and so for itself")
        }
    }
}

/// That somebody has come to a [`Barrier`], by which it can wait for the phase to end. It has come whether it waits or not.
#[must_use = "it has come; whoever does not wait drops the token by `let _ =`"]
pub struct ArrivalToken<'a> {
    barrier: &'a Barrier,
    arrival: Arrival,
}

impl ArrivalToken<'_> {
    /// Waits until all have come, and the completion has run.
    ///
    /// # Panics
    ///
    /// If the barrier is poisoned. If it is called by the completion. If the caller would have to wait, and is inside
    /// [`no_suspend`](crate::fiber::no_suspend).
    #[track_caller]
    pub fn wait(self) -> BarrierWaitResult {
        always(self.wait_to(Limit::NEVER))
    }

    /// [`wait`](Self::wait), for at most so long. None, if not all have come by then: the arrival stays.
    ///
    /// # Panics
    ///
    /// As [`wait`](Self::wait).
    #[track_caller]
    pub fn wait_timeout(&self, time: Duration) -> Option<BarrierWaitResult> {
        self.wait_to(Limit::lasting(time)).ok()
    }

    /// [`wait`](Self::wait), where [cancellation and deadlines](crate::fiber#stopping) count.
    ///
    /// # Errors
    ///
    /// If the caller is to stop before all have come: the arrival stays.
    ///
    /// # Panics
    ///
    /// As [`wait`](Self::wait).
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
