//! What a worker sleeps in: epoll, and the core's timers.
//!
//! # Safety
//!
//! Trusted with waking waiters: a timer that is set has its waiter waiting, or about to cancel it under the same lock.
#![expect(unsafe_code, reason = "waiters are woken")]

use std::any::Any;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use sinew_sched::{Core, Driver};

use super::alarms::{Alarms, BATCH, Ring};
use super::epoll::Epoll;
use super::local::Local;
use super::run;
use super::starving;
use super::timers::TimerId;
use super::tls;
use super::waiter::Waiter;
use super::word::Cause;

/// What one worker sleeps in.
#[derive(Debug)]
pub(crate) struct CoreDriver {
    epoll: Epoll,
    alarms: Alarms<Waiter>,
}

impl CoreDriver {
    fn new() -> io::Result<Arc<Self>> {
        Ok(Arc::new(Self { epoll: Epoll::new()?, alarms: Alarms::new(Instant::now()) }))
    }

    /// Has a wait end at this moment, unless the timer is cancelled. From any thread.
    pub(crate) fn set_timer(&self, when: Instant, waiter: Waiter) -> TimerId {
        let (id, ring) = self.alarms.set(when, waiter);
        if ring == Ring::Now {
            self.epoll.ring();
        }
        id
    }

    /// Cancels a timer, from any thread; false, if its wait has been ended by it.
    pub(crate) fn cancel_timer(&self, timer: TimerId) -> bool {
        self.alarms.cancel(timer).is_some()
    }

    /// Ends the waits whose time has come. Returns how many.
    fn fire(&self) -> usize {
        let (mut fired, local) = (0, tls::local());
        self.alarms.fire(Instant::now, |batch| {
            // With many timers, what they are about is seldom in the cache, and fetching many things at once takes little more time than
            // fetching one.
            batch.iter().flatten().for_each(Waiter::prefetch);
            let mut here = [const { None }; BATCH];
            for (waiter, stack) in batch.iter().flatten().zip(&mut here) {
                // SAFETY: the waiting side passes the lock that is held here before it goes on, to cancel the timer.
                let fiber = local.and_then(|local| unsafe { waiter.fiber_of(local) });
                // SAFETY: as above.
                let is_woken = unsafe { waiter.wake(Cause::Time) };
                fired += usize::from(is_woken);
                *stack = fiber.filter(|_| is_woken);
            }
            // SAFETY: they have just been woken, and this thread, which alone may run them, has run nothing since.
            here.into_iter().flatten().for_each(|fiber| unsafe { run::fetch(fiber) });
        });
        fired
    }

    /// Whether the first timer is past its time by so much.
    pub(crate) fn is_late(&self, now: Instant, by: Duration) -> bool {
        self.alarms.is_late(now, by)
    }
}

/// A share of a worker's driver, for the scheduler.
struct DriverShare(Arc<CoreDriver>);

/// A new driver, for the scheduler.
pub(crate) fn make() -> io::Result<Box<dyn Driver>> {
    Ok(Box::new(DriverShare(CoreDriver::new()?)))
}

/// The driver of the core that a worker runs on, if it is one of ours.
pub(crate) fn of(core: &Core) -> Option<Arc<CoreDriver>> {
    let share = core.driver().as_any()?.downcast_ref::<DriverShare>()?;
    Some(share.0.clone())
}

impl Driver for DriverShare {
    fn look(&self) -> io::Result<usize> {
        Ok(self.0.fire() + starving::look())
    }

    fn sleep(&self, at_most: Option<Duration>) -> io::Result<()> {
        let local = tls::local();
        // A little at a time: whoever wakes this worker need not wait for all of it.
        if local.is_some_and(Local::give_back) {
            return self.look().map(drop);
        }
        let to_trim = local.and_then(|local| local.engine().stacks.time_to_trim());
        let to_next = self.0.alarms.begin_sleep(Instant::now);
        let time = [at_most, to_next, starving::rest(), to_trim].into_iter().flatten().min();
        let slept = if time.is_none_or(|time| !time.is_zero()) { self.0.epoll.wait(time) } else { Ok(()) };
        self.0.alarms.end_sleep();
        self.0.fire();
        slept
    }

    fn unpark(&self) {
        self.0.epoll.ring();
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }

    fn is_watching(&self) -> bool {
        !self.0.alarms.is_empty() || starving::is_watching()
    }
}
