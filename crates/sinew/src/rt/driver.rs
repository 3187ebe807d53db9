//! What a worker sleeps in: epoll, an eventfd that ends the sleep, and the core's timers.
//!
//! # Safety
//!
//! Trusted with waking waiters: a timer that is set has its waiter waiting, or about to cancel it under the same lock.
#![expect(unsafe_code, reason = "waiters are woken")]

use std::any::Any;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::{EventfdFlags, Timespec, epoll, eventfd};
use rustix::io::{Errno, write};
use sinew_sched::{Core, Driver};

use super::alarms::{Alarms, Ring};
use super::local::Local;
use super::starving;
use super::timers::TimerId;
use super::tls;
use super::waiter::Waiter;
use super::word::Cause;

/// What one worker sleeps in.
#[derive(Debug)]
pub(crate) struct CoreDriver {
    epoll: OwnedFd,
    /// Never read: each write is an event of its own, since it is watched for edges.
    bell: OwnedFd,
    alarms: Alarms<Waiter>,
}

impl CoreDriver {
    fn new() -> io::Result<Arc<Self>> {
        let poll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let flags = epoll::EventFlags::IN | epoll::EventFlags::ET;
        epoll::add(&poll, &bell, epoll::EventData::new_u64(0), flags)?;
        Ok(Arc::new(Self { epoll: poll, bell, alarms: Alarms::new(Instant::now()) }))
    }

    /// Has a wait end at this moment, unless the timer is cancelled. From any thread.
    pub(crate) fn set_timer(&self, when: Instant, waiter: Waiter) -> TimerId {
        let (id, ring) = self.alarms.set(when, waiter);
        if ring == Ring::Now {
            self.ring();
        }
        id
    }

    /// Cancels a timer, from any thread; false, if its wait has been ended by it.
    pub(crate) fn cancel_timer(&self, timer: TimerId) -> bool {
        self.alarms.cancel(timer).is_some()
    }

    /// Ends the waits whose time has come. Returns how many.
    fn fire(&self) -> usize {
        let mut fired = 0;
        self.alarms.fire(Instant::now, |waiter| {
            // SAFETY: the waiting side passes the lock that is held here before it goes on, to cancel the timer.
            fired += usize::from(unsafe { waiter.wake(Cause::Time) });
        });
        fired
    }

    fn ring(&self) {
        // It cannot fail: the counter never gets near its limit, and the descriptor is there.
        let rung = write(&self.bell, &1_u64.to_ne_bytes());
        debug_assert!(rung.is_ok(), "a bell always rings: {rung:?}");
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
        let slept = if time.is_none_or(|time| !time.is_zero()) { self.0.wait(time) } else { Ok(()) };
        self.0.alarms.end_sleep();
        self.0.fire();
        slept
    }

    fn unpark(&self) {
        self.0.ring();
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }

    fn is_watching(&self) -> bool {
        !self.0.alarms.is_empty() || starving::is_watching()
    }
}
