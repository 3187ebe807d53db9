//! The timers of a core under their lock, the moment until which the core sleeps because of them,
//! and other data under the same lock. Knows neither what happens when a timer is due nor what the
//! core sleeps in.
//!
//! A core that is about to sleep determines until when, and records that, under one lock. A thread
//! that arms an earlier timer finds the record and wakes the core, which remembers a wake-up that
//! comes too early. So the core never sleeps through an earlier moment. A model checks this too.

use std::time::{Duration, Instant};

use super::wheels::Timers;
use crate::rt::base::clock;
use crate::rt::base::sync::{AtomicUsize, Lock, MutexGuard, Ordering};
use crate::rt::wait::WaitTimerId;

/// How many timers are handed out before the lock is released for others.
pub(crate) const BATCH: usize = 16;

/// Timers that are handed out at once.
pub(crate) type DueBatch<T> = [Option<T>; BATCH];

/// The timers of a core, with other data under the same lock.
#[derive(Debug)]
pub(crate) struct TimerQueue<T, S = ()> {
    inner: Lock<QueueInner<T, S>>,
    /// How many timers are armed, to be read without the lock.
    set: AtomicUsize,
}

#[derive(Debug)]
struct QueueInner<T, S> {
    timers: Timers<T>,
    sleep: Sleep,
    beside: S,
}

/// The timers of a core, locked until this is [released](Self::release).
#[must_use]
pub(crate) struct QueueGuard<'a, T, S> {
    inner: MutexGuard<'a, QueueInner<T, S>>,
    set: &'a AtomicUsize,
    ring: TimerRing,
}

/// The sleep of the core, as threads that arm timers need it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sleep {
    /// It is awake, or was woken.
    No,
    /// It sleeps, or is about to, and wakes up at this moment by itself.
    Until(Instant),
    /// It sleeps, or is about to, until it is woken.
    UntilCalled,
}

impl Sleep {
    /// Returns whether the core would sleep through this moment.
    fn is_beyond(self, when: Instant) -> bool {
        match self {
            Self::No => false,
            Self::Until(until) => when < until,
            Self::UntilCalled => true,
        }
    }
}

/// Whether the core has to be woken.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimerRing {
    Now,
    No,
}

impl<T, S> QueueGuard<'_, T, S> {
    /// Arms a timer.
    #[inline]
    pub(crate) fn set(&mut self, when: Instant, what: T) -> WaitTimerId {
        if self.inner.sleep.is_beyond(when) {
            // One wake-up is enough.
            self.inner.sleep = Sleep::No;
            self.ring = TimerRing::Now;
        }
        self.inner.timers.set(when, what)
    }

    /// Cancels a timer. Returns `None` if it was already due.
    #[inline]
    pub(crate) fn cancel(&mut self, timer: WaitTimerId) -> Option<T> {
        self.inner.timers.cancel(timer)
    }

    /// Returns the other data under the lock.
    #[inline]
    pub(crate) fn beside(&mut self) -> &mut S {
        &mut self.inner.beside
    }

    /// Releases the lock. Returns whether the core has to be woken.
    #[inline]
    pub(crate) fn release(self) -> TimerRing {
        self.set.store(self.inner.timers.len(), Ordering::Relaxed);
        self.ring
    }

    /// Takes all timers out, in the order of their moments. No timer may be armed afterwards: its
    /// identifier might equal an old one.
    pub(crate) fn take_all(&mut self) -> impl Iterator<Item = T> + use<T, S> {
        /// Later than all moments that wheels can distinguish.
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

    /// Acquires the lock, from any thread.
    #[inline]
    pub(crate) fn hold(&self) -> QueueGuard<'_, T, S> {
        QueueGuard { inner: self.inner.lock(), set: &self.set, ring: TimerRing::No }
    }

    /// Hands out the timers that are due at this moment, some at a time, under the lock: a thread
    /// that cancels one of them waits until it was handed out. `now` is called only if a timer is
    /// armed.
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

    /// Begins a sleep of the core, which ends with [`end_sleep`](Self::end_sleep). Returns how long
    /// it may last from now, or `None` if there is no limit.
    pub(crate) fn begin_sleep(&self, now: impl FnOnce() -> Instant) -> Option<Duration> {
        let mut inner = self.inner.lock();
        let next = inner.timers.next();
        inner.sleep = next.map_or(Sleep::UntilCalled, Sleep::Until);
        drop(inner);
        next.map(|next| next.saturating_duration_since(now()))
    }

    /// Ends a sleep of the core. `now` is called only if no timer is armed: otherwise firing the
    /// timers reads the clock too.
    pub(crate) fn end_sleep(&self, now: impl FnOnce() -> Instant) {
        let mut inner = self.inner.lock();
        inner.sleep = Sleep::No;
        if inner.timers.len() == 0 {
            inner.timers.catch_up(now());
        }
    }

    /// Returns whether the first timer is overdue by this time.
    pub(crate) fn is_late(&self, now: Instant, by: Duration) -> bool {
        self.inner.lock().timers.next().is_some_and(|next| now.saturating_duration_since(next) >= by)
    }

    /// Returns whether no timer is armed, as far as the caller can know.
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

    /// No timer fires early, however often the queue is checked, and a sleep lasts as long as
    /// before, rather than no time at all.
    #[test]
    fn while_the_clock_stands_still_no_timer_fires_and_no_core_spins() {
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

    /// How late a timer may be depends on how far away it is, not on how long the core has slept
    /// without timers.
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
    fn timers_are_taken_out_in_the_order_of_their_moments() {
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
