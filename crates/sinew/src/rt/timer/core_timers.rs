//! The timers of a core: timers that end waits, and timers with callbacks. Knows neither what the
//! core sleeps in nor how fibers are made.
//!
//! # Safety
//!
//! Trusted with waking waiters: the waiter of an armed timer waits, or is about to cancel the timer
//! under the same lock. Also trusted with marking timers with callbacks as due, under that lock.
#![expect(unsafe_code, reason = "waiters are woken")]

use std::ptr::NonNull;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::action::TimerAction;
use super::callback::Callback;
use super::timer_queue::{BATCH, TimerQueue, TimerRing};
use super::timers_guard::{CallbackHints, CallbackWaits, TimersGuard};
use crate::rt::base::{clock, impl_debug, unwind};
use crate::rt::wait::{Cause, Control, WaitTimerId, WaitTimers, Waiter, WakePlace, tls};

/// The core that owns the timers.
pub(crate) trait TimersOwner: Send + Sync {
    /// Wakes the core, which sleeps: an earlier timer was armed.
    fn ring(&self);

    /// Lets idle workers check the timers now and then. The core is awake, and may compute for
    /// long.
    fn ask_for_a_watch(&self);
}

/// The timers of a core.
pub(crate) struct CoreTimers {
    queue: TimerQueue<TimerAction, CallbackWaits>,
    hints: CallbackHints,
    owner: Arc<dyn TimersOwner>,
}

/// A due timer with a callback, and the number of this call.
pub(crate) type DueCallback = (Callback, u64);

impl CoreTimers {
    pub(crate) fn new(owner: Arc<dyn TimersOwner>) -> Self {
        Self { queue: TimerQueue::new(clock::now()), hints: CallbackHints::default(), owner }
    }

    /// Calls `body` under the lock of the timers, from any thread. `body` neither takes this lock
    /// again nor runs user code.
    #[inline]
    pub(crate) fn with_lock<R>(&self, body: impl FnOnce(&mut TimersGuard<'_>) -> R) -> R {
        let mut guard = TimersGuard::new(self.queue.hold(), &self.hints);
        let result = body(&mut guard);
        let afterwards = guard.leave();
        match afterwards.ring {
            // The core handles the rest itself when it is awake.
            TimerRing::Now => self.owner.ring(),
            TimerRing::No if afterwards.asks => self.owner.ask_for_a_watch(),
            TimerRing::No => {}
        }
        result
    }

    /// Ends the waits whose time limits are reached, and returns how many. Adds the due timers with
    /// callbacks to `calls`.
    pub(crate) fn fire(&self, calls: &mut Vec<DueCallback>) -> usize {
        let mut fired = 0;
        self.queue.fire(clock::now, |batch| {
            // With many timers, the memory of their waiters is seldom in the cache, and to fetch
            // many lines at once takes little longer than to fetch one.
            batch.iter().flatten().for_each(TimerAction::prefetch);
            let mut here = [None; BATCH];
            for (due, stack) in batch.into_iter().flatten().zip(&mut here) {
                self.hints.remove(&due);
                match due {
                    TimerAction::Wake(waiter, _) => {
                        // SAFETY: the waiting fiber or thread has to acquire the lock that is held
                        // here, to cancel the timer, before it continues.
                        let (is_woken, fiber) = unsafe { wake(waiter) };
                        fired += usize::from(is_woken);
                        *stack = fiber;
                    }
                    TimerAction::CallbackFiber(timer) => {
                        // SAFETY: a timer is armed at its home, whose lock is held here.
                        let run = unsafe { timer.come_due() };
                        calls.push((timer, run));
                    }
                }
            }
            // SAFETY: these fibers were just woken, and this thread, which alone may run them, has
            // run nothing since.
            here.into_iter()
                .flatten()
                .for_each(|fiber: NonNull<Control>| unsafe { Control::fetch_stack(fiber) });
        });
        fired
    }

    /// Begins a sleep of the core. Returns the longest time that it may last, if there is a limit.
    pub(crate) fn begin_sleep(&self) -> Option<Duration> {
        self.queue.begin_sleep(clock::now)
    }

    /// Ends a sleep of the core.
    pub(crate) fn end_sleep(&self) {
        self.queue.end_sleep(clock::now);
    }

    /// Returns whether no timer is armed, as far as the caller can know.
    pub(crate) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Returns whether idle workers watch these timers.
    pub(crate) fn is_watched(&self) -> bool {
        self.hints.is_watched()
    }

    /// Ends the watch of other workers, unless there is something to watch for.
    pub(crate) fn end_watch(&self) {
        if self.hints.is_watched_in_vain() {
            self.with_lock(|guard| guard.end_watch());
        }
    }

    /// Ends the waits for callbacks that may never end, when the runtime is over.
    pub(crate) fn abandon_waits(&self) {
        self.with_lock(|guard| guard.abandon());
    }

    /// Drops all timers when the runtime is gone. This runs users' destructors, on the calling
    /// thread or fiber.
    pub(crate) fn close(&self) {
        let all = self.with_lock(|guard| guard.close());
        all.for_each(|due| unwind::catch(|| drop(due)));
    }

    /// Returns whether the first timer is overdue by this time.
    pub(crate) fn is_late(&self, now: Instant, by: Duration) -> bool {
        self.queue.is_late(now, by)
    }
}

impl WaitTimers for CoreTimers {
    fn set_wake(&self, when: Instant, waiter: Waiter, wakes: WakePlace) -> Option<WaitTimerId> {
        self.with_lock(|guard| guard.set_wake(when, waiter, wakes))
    }

    fn cancel_wake(&self, timer: WaitTimerId) {
        self.with_lock(|guard| guard.cancel_wake(timer));
    }
}

/// Ends a wait whose time limit is reached. Returns whether it did, and the fiber that therefore
/// continues on this worker only.
///
/// # Safety
///
/// As for [`Waiter::wake`].
unsafe fn wake(waiter: Waiter) -> (bool, Option<NonNull<Control>>) {
    // SAFETY: the caller's promise.
    let fiber = tls::worker_local().and_then(|local| unsafe { waiter.fiber_of(local) });
    // SAFETY: as above.
    let is_woken = unsafe { waiter.wake(Cause::Time) };
    (is_woken, fiber.filter(|_| is_woken))
}

impl_debug!(CoreTimers, ..);

/// A core that is awake, for tests.
#[cfg(all(test, not(loom)))]
pub(crate) struct Awake;

#[cfg(all(test, not(loom)))]
impl TimersOwner for Awake {
    fn ring(&self) {}

    fn ask_for_a_watch(&self) {}
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::rt::wait::reason::WaitKind;
    use crate::rt::wait::word::Ends;

    #[test]
    fn a_look_counts_the_waits_that_it_ends() {
        let (timers, mut calls) = (CoreTimers::new(Arc::new(Awake)), Vec::new());
        let block = tls::thread_block();
        let wait = block.begin_wait(WaitKind::Sleep.alone(), Ends::ByEvent);
        assert!(timers.set_wake(clock::now(), Waiter::thread(block, wait), WakePlace::Here).is_some());
        assert_eq!(timers.fire(&mut calls), 1);
        assert_eq!(block.sleep(wait, None), Cause::Time);
        assert_eq!(timers.fire(&mut calls), 0);
        assert!(calls.is_empty());
    }

    #[test]
    fn others_watch_while_a_timer_concerns_them() {
        let timers = CoreTimers::new(Arc::new(Awake));
        let block = tls::thread_block();
        for _ in 0..3 {
            let wait = block.begin_wait(WaitKind::Sleep.alone(), Ends::ByEvent);
            let later = clock::now() + Duration::from_secs(3_600);
            let timer = timers
                .set_wake(later, Waiter::thread(block, wait), WakePlace::Anywhere)
                .expect("it is not over");
            assert!(timers.is_watched() && !timers.hints.is_watched_in_vain());
            timers.end_watch();
            assert!(timers.is_watched(), "there is a timer");
            timers.cancel_wake(timer);
            assert!(timers.hints.is_watched_in_vain());
            timers.end_watch();
            assert!(!timers.is_watched());
            assert_eq!(block.cancel(wait), Cause::Event);
        }
    }
}
