//! The timers of a core under their lock, for whoever sets and cancels them; until when the core sleeps because of them; and what others keep
//! under the same lock. Knows neither what is done when they are due nor what the core sleeps in.
//!
//! A core that is about to sleep finds out until when, and says so, under one lock. Whoever sets an earlier timer finds that there, and rings
//! the core's bell, which remembers it: so an earlier moment is never slept through, whoever sets it. A model says so too.

use std::time::{Duration, Instant};

use super::wheels::Timers;
use crate::rt::base::clock;
use crate::rt::base::sync::{AtomicUsize, Lock, MutexGuard, Ordering};
use crate::rt::wait::WaitTimerId;

/// So many are handed out before others have their turn at the lock.
pub(crate) const BATCH: usize = 16;

/// What is handed out at once.
pub(crate) type DueBatch<T> = [Option<T>; BATCH];

/// The timers of a core, with something else under their lock.
#[derive(Debug)]
pub(crate) struct TimerQueue<T, S = ()> {
    inner: Lock<QueueInner<T, S>>,
    /// How many are set, for a look without the lock.
    set: AtomicUsize,
}

#[derive(Debug)]
struct QueueInner<T, S> {
    timers: Timers<T>,
    sleep: Sleep,
    beside: S,
}

/// The timers of a core, for whoever has their lock: until it is [released](Self::release).
#[must_use]
pub(crate) struct QueueGuard<'a, T, S> {
    inner: MutexGuard<'a, QueueInner<T, S>>,
    set: &'a AtomicUsize,
    ring: TimerRing,
}

/// What whoever sets a timer has to know of the core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sleep {
    /// It is awake, or has been called.
    No,
    /// It sleeps, or is about to, and gets up at this moment by itself.
    Until(Instant),
    /// The same, until it is called.
    UntilCalled,
}

impl Sleep {
    /// Whether it would sleep through this moment.
    fn is_beyond(self, when: Instant) -> bool {
        match self {
            Self::No => false,
            Self::Until(until) => when < until,
            Self::UntilCalled => true,
        }
    }
}

/// Whether the core's bell has to be rung.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimerRing {
    Now,
    No,
}

impl<T, S> QueueGuard<'_, T, S> {
    /// Sets a timer.
    #[inline]
    pub(crate) fn set(&mut self, when: Instant, what: T) -> WaitTimerId {
        if self.inner.sleep.is_beyond(when) {
            // Once is enough.
            self.inner.sleep = Sleep::No;
            self.ring = TimerRing::Now;
        }
        self.inner.timers.set(when, what)
    }

    /// Cancels a timer; none, if it was due.
    #[inline]
    pub(crate) fn cancel(&mut self, timer: WaitTimerId) -> Option<T> {
        self.inner.timers.cancel(timer)
    }

    /// What is under the lock besides.
    #[inline]
    pub(crate) fn beside(&mut self) -> &mut S {
        &mut self.inner.beside
    }

    /// Gives the lock back.
    #[inline]
    pub(crate) fn release(self) -> TimerRing {
        self.set.store(self.inner.timers.len(), Ordering::Relaxed);
        self.ring
    }

    /// Takes all of them away, in the order of their moments. From now on, names of timers may be those of others: none is set any more.
    pub(crate) fn take_all(&mut self) -> impl Iterator<Item = T> + use<T, S> {
        /// Later than all that wheels can tell apart.
        const END: Duration = Duration::from_nanos(u64::MAX);
        let now = clock::now();
        let mut timers = std::mem::replace(&mut self.inner.timers, Timers::new(now));
        std::iter::from_fn(move || timers.pop_due(now + END))
    }
}

impl<T, S> TimerQueue<T, S> {
    pub(crate) fn new(start: Instant) -> Self
    where
        S: Default,
    {
        let inner = QueueInner { timers: Timers::new(start), sleep: Sleep::No, beside: S::default() };
        Self { inner: Lock::new(inner), set: AtomicUsize::new(0) }
    }

    /// Takes the lock, from any thread.
    #[inline]
    pub(crate) fn hold(&self) -> QueueGuard<'_, T, S> {
        QueueGuard { inner: self.inner.lock(), set: &self.set, ring: TimerRing::No }
    }

    /// Hands out those that are due at this moment, some at a time, under the lock: who cancels one waits until it was handed out. The time is
    /// asked for only if any is set.
    pub(crate) fn fire(&self, now: impl FnOnce() -> Instant, mut due: impl FnMut(DueBatch<T>)) {
        if self.is_empty() {
            return;
        }
        let now = now();
        loop {
            let mut inner = self.inner.lock();
            let mut batch = [const { None }; BATCH];
            let next = std::iter::from_fn(|| inner.timers.pop_due(now));
            let fired = batch.iter_mut().zip(next).map(|(slot, what)| *slot = Some(what)).count();
            self.set.store(inner.timers.len(), Ordering::Relaxed);
            due(batch);
            drop(inner);
            if fired < BATCH {
                return;
            }
        }
    }

    /// The core is about to sleep, and ends that by [`end_sleep`](Self::end_sleep). How long it may, as of this moment; for ever, if none.
    pub(crate) fn begin_sleep(&self, now: impl FnOnce() -> Instant) -> Option<Duration> {
        let mut inner = self.inner.lock();
        let next = inner.timers.next();
        inner.sleep = next.map_or(Sleep::UntilCalled, Sleep::Until);
        drop(inner);
        next.map(|next| next.saturating_duration_since(now()))
    }

    /// It does not sleep any more. The time is asked for only if none is set: whoever fires the others asks too.
    pub(crate) fn end_sleep(&self, now: impl FnOnce() -> Instant) {
        let mut inner = self.inner.lock();
        inner.sleep = Sleep::No;
        if inner.timers.len() == 0 {
            inner.timers.catch_up(now());
        }
    }

    /// Whether the first one is past its time by so much.
    pub(crate) fn is_late(&self, now: Instant, by: Duration) -> bool {
        self.inner.lock().timers.next().is_some_and(|next| now.saturating_duration_since(next) >= by)
    }

    /// Whether none is set, as far as the caller can know.
    pub(crate) fn is_empty(&self) -> bool {
        self.set.load(Ordering::Relaxed) == 0
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn fire(timers: &TimerQueue<u32>, now: Instant) -> Vec<u32> {
        let mut fired = Vec::new();
        timers.fire(|| now, |batch| fired.extend(batch.into_iter().flatten()));
        fired
    }

    /// Nothing is early, however often somebody looks, and whoever sleeps is told to sleep for as long as before: not for no time at all.
    #[test]
    fn a_clock_that_stands_still_has_nothing_fire_and_nobody_spin() {
        let start = Instant::now();
        let timers = TimerQueue::<u32>::new(start);
        for (number, micros) in [(1, 0), (2, 1), (3, 50), (4, 20_000)] {
            let mut held = timers.hold();
            held.set(start + Duration::from_micros(micros), number);
            assert_eq!(held.release(), TimerRing::No);
        }
        assert_eq!(fire(&timers, start), [1]);
        for _ in 0..100 {
            assert_eq!(fire(&timers, start), [] as [u32; 0]);
            assert!(timers.begin_sleep(|| start) >= Some(Duration::from_micros(1)));
            timers.end_sleep(|| start);
        }
        assert_eq!(fire(&timers, start + Duration::from_secs(1)), [2, 3, 4]);
        assert_eq!(timers.begin_sleep(|| start), None);
    }

    /// How late a timer may be depends on how far off it is, not on how long the core has slept without any.
    #[test]
    fn a_long_sleep_makes_the_next_timer_no_later() {
        let start = Instant::now();
        let timers = TimerQueue::<u32>::new(start);
        assert_eq!(timers.begin_sleep(|| start), None);
        let up = start + Duration::from_secs(1);
        timers.end_sleep(|| up);
        let mut held = timers.hold();
        held.set(up + Duration::from_micros(20), 1);
        let _ = held.release();
        assert!(timers.begin_sleep(|| up) <= Some(Duration::from_micros(30)));
    }

    #[test]
    fn what_is_taken_away_comes_in_the_order_of_its_moments() {
        let start = Instant::now();
        let timers = TimerQueue::<u32>::new(start);
        let mut held = timers.hold();
        let far = Duration::from_secs(500 * 365 * 86_400);
        for (number, time) in [(3, far), (1, Duration::ZERO), (2, Duration::from_secs(5))] {
            held.set(start + time, number);
        }
        let all = held.take_all();
        let _ = held.release();
        assert!(timers.is_empty());
        assert!(all.eq([1, 2, 3]));
    }
}
