//! What a worker sleeps in: epoll, an eventfd that ends the sleep, and the core's timers.
//!
//! # Safety
//!
//! Trusted with waking waiters: a timer that is set has its waiter waiting, or about to cancel it under the same lock.
#![expect(unsafe_code, reason = "waiters are woken")]

use std::any::Any;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{EventfdFlags, Timespec, epoll, eventfd};
use rustix::io::{Errno, write};
use sinew_sched::{Core, Driver};

use super::local::Local;
use super::starving;
use super::timers::{TimerId, Timers};
use super::tls;
use super::waiter::Waiter;
use super::word::Cause;

/// What one worker sleeps in.
#[derive(Debug)]
pub(crate) struct CoreDriver {
    epoll: OwnedFd,
    /// Never read: each write is an event of its own, since it is watched for edges.
    bell: OwnedFd,
    timers: Mutex<Timers<Waiter>>,
    /// How many timers are set, for a look without the lock.
    set: AtomicUsize,
}

impl CoreDriver {
    fn new() -> io::Result<Arc<Self>> {
        let poll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let flags = epoll::EventFlags::IN | epoll::EventFlags::ET;
        epoll::add(&poll, &bell, epoll::EventData::new_u64(0), flags)?;
        Ok(Arc::new(Self {
            epoll: poll,
            bell,
            timers: Mutex::new(Timers::new(Instant::now())),
            set: AtomicUsize::new(0),
        }))
    }

    /// Has a wait end at this moment, unless the timer is cancelled. For the core's own thread.
    pub(crate) fn set_timer(&self, when: Instant, waiter: Waiter) -> TimerId {
        let mut timers = self.lock();
        let id = timers.set(when, waiter);
        self.set.store(timers.len(), Ordering::Relaxed);
        id
    }

    /// Cancels a timer, from any thread; false, if its wait has been ended by it.
    pub(crate) fn cancel_timer(&self, timer: TimerId) -> bool {
        let mut timers = self.lock();
        let is_cancelled = timers.cancel(timer).is_some();
        self.set.store(timers.len(), Ordering::Relaxed);
        is_cancelled
    }

    /// Ends the waits whose time has come. Returns how many.
    fn fire(&self) -> usize {
        if self.set.load(Ordering::Relaxed) == 0 {
            return 0;
        }
        let now = Instant::now();
        let mut timers = self.lock();
        let mut fired = 0;
        while let Some(waiter) = timers.pop_due(now) {
            // SAFETY: the waiting side passes the lock that is held here before it goes on, to cancel the timer.
            fired += usize::from(unsafe { waiter.wake(Cause::Time) });
        }
        self.set.store(timers.len(), Ordering::Relaxed);
        fired
    }

    /// Waits for events for at most so long.
    fn wait(&self, at_most: Option<Duration>) -> io::Result<()> {
        let timeout = at_most.and_then(|time| Timespec::try_from(time).ok());
        let mut events = Vec::with_capacity(1);
        match epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut events), timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether the first timer is past its time by so much.
    pub(crate) fn is_late(&self, now: Instant, by: Duration) -> bool {
        self.lock().next().is_some_and(|next| now.saturating_duration_since(next) >= by)
    }

    fn time_to_next(&self) -> Option<Duration> {
        let next = self.lock().next()?;
        Some(next.saturating_duration_since(Instant::now()))
    }

    fn lock(&self) -> MutexGuard<'_, Timers<Waiter>> {
        self.timers.lock().unwrap_or_else(PoisonError::into_inner)
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
        let time = [at_most, self.0.time_to_next(), starving::rest(), to_trim].into_iter().flatten().min();
        if time.is_none_or(|time| !time.is_zero()) {
            self.0.wait(time)?;
        }
        self.0.fire();
        Ok(())
    }

    fn unpark(&self) {
        // It cannot fail: the counter never gets near its limit, and the descriptor is there.
        let rung = write(&self.0.bell, &1_u64.to_ne_bytes());
        debug_assert!(rung.is_ok(), "a bell always rings: {rung:?}");
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }

    fn is_watching(&self) -> bool {
        self.0.set.load(Ordering::Relaxed) != 0 || starving::is_watching()
    }
}
