//! What a worker sleeps in: epoll with the descriptors that are watched there, and the core's
//! timers.
//!
//! # Safety
//!
//! Trusted with the untyped driver of a worker's local.
#![expect(unsafe_code, reason = "a worker keeps an untyped pointer to its driver")]

use std::any::Any;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::ptr::{self, NonNull};
use std::sync::{Arc, Weak};
use std::time::Duration;

use rustix::io::Errno;
use sinew_sched::{Core, Driver};

use super::epoll::{Epoll, Events};
use super::io::{IoSource, Token, Watched};
use crate::rt::fiber::{CallbackFiber, FiberHost, Site, WorkerState, starving};
use crate::rt::timer::{CoreTimers, DueCallback, TimersOwner};
use crate::rt::wait::{WorkerLocal, tls};

/// What one worker sleeps in.
#[derive(Debug)]
pub(crate) struct CoreDriver {
    this: Weak<Self>,
    waker: Arc<CoreWaker>,
    /// The descriptors that are watched here.
    watched: Watched,
    timers: Arc<CoreTimers>,
}

/// Wakes the worker, and has others look at what it watches.
#[derive(Debug)]
struct CoreWaker {
    epoll: Epoll,
    /// The number of the worker, and whose it is.
    worker: usize,
    host: Weak<FiberHost>,
}

impl TimersOwner for CoreWaker {
    fn ring(&self) {
        self.epoll.ring();
    }

    #[cold]
    fn ask_for_a_watch(&self) {
        let is_own = |driver: &CoreDriver| ptr::eq(&*driver.waker, self);
        match tls::worker_local().filter(|local| of_local(local).is_some_and(is_own)) {
            Some(local) => local.context().begin_watch(),
            None => {
                let host = self.host.upgrade();
                let schedule = host.as_deref().and_then(FiberHost::try_schedule);
                schedule.into_iter().for_each(|schedule| schedule.begin_watch(self.worker));
            }
        }
    }
}

/// The driver of this worker, which is the caller's.
#[inline]
pub(crate) fn of_local(local: &WorkerLocal) -> Option<&CoreDriver> {
    // SAFETY: it was made from a driver by `CoreDriver::untyped`, and outlives the local.
    local.driver().map(|driver| unsafe { driver.cast().as_ref() })
}

impl CoreDriver {
    fn new(host: Weak<FiberHost>, worker: usize) -> io::Result<Arc<Self>> {
        let waker = Arc::new(CoreWaker { epoll: Epoll::new()?, worker, host });
        let timers = Arc::new(CoreTimers::new(waker.clone()));
        Ok(Arc::new_cyclic(|this| Self { this: this.clone(), waker, watched: Watched::new(), timers }))
    }

    /// A reference of one's own.
    pub(crate) fn keep(&self) -> Arc<Self> {
        self.this.upgrade().expect("a driver is there while its worker is")
    }

    /// The driver as a worker's local keeps it.
    pub(crate) fn untyped(self: &Arc<Self>) -> NonNull<()> {
        NonNull::from(&**self).cast()
    }

    pub(crate) fn timers(&self) -> &Arc<CoreTimers> {
        &self.timers
    }

    fn is_of(&self, local: &WorkerLocal) -> bool {
        of_local(local).is_some_and(|driver| ptr::eq(driver, self))
    }

    /// Ends the waits whose time has come, and has fibers call back for whom it has. Returns how
    /// many.
    #[inline]
    fn fire(&self) -> usize {
        if self.timers.is_empty() { 0 } else { self.fire_some() }
    }

    #[inline(never)]
    fn fire_some(&self) -> usize {
        let mut calls = Vec::new();
        let fired = self.timers.fire(&mut calls);
        if calls.is_empty() { fired } else { fired + self.call(calls) }
    }

    /// Has those go on who waited for descriptors that are ready. Returns how many.
    fn look_at_descriptors(&self) -> io::Result<usize> {
        if self.watched.is_empty() {
            return Ok(0);
        }
        let mut events = Events::new();
        match self.waker.epoll.look(&mut events) {
            Ok(()) => Ok(self.watched.tell(&events)),
            Err(Errno::INTR) => Ok(0),
            Err(error) => Err(error.into()),
        }
    }

    /// Makes the fibers that call back, without the lock: that of a sibling does as well, if it is
    /// the one who looks. Returns how many.
    fn call(&self, calls: Vec<DueCallback>) -> usize {
        let count = calls.len();
        let mut calls = calls.into_iter().map(|(timer, run)| CallbackFiber::new(timer, run));
        if let Some(host) = self.waker.host.upgrade() {
            // Not discarded by a shutdown that ends meanwhile: it counts what it discards.
            host.schedule().deliver(&mut || calls.by_ref().for_each(|call| call.start(Site::of(&host))));
        }
        // Nobody is called, if the host is gone.
        calls.for_each(drop);
        count
    }

    /// Watches a descriptor from now on, under the number that is returned.
    ///
    /// # Errors
    ///
    /// If the kernel does not let it.
    pub(crate) fn watch(&self, source: &Arc<IoSource>, fd: BorrowedFd<'_>) -> io::Result<Token> {
        self.watched.enter(source, fd.as_raw_fd(), |token| self.waker.epoll.add(fd, token))
    }

    /// Watches a descriptor no more, which had this number. It is open still; if not, what has its
    /// number by now is left alone.
    pub(crate) fn unwatch(&self, token: Token, fd: RawFd) {
        self.watched.leave(token, fd, || self.waker.epoll.remove(fd));
    }

    /// A fiber that may move, or one elsewhere, waits for one of the descriptors: others are to
    /// look here, too, while this worker is busy.
    pub(crate) fn begin_roaming(&self) {
        if self.watched.begin_roaming() {
            self.waker.ask_for_a_watch();
        }
    }

    pub(crate) fn end_roaming(&self) {
        self.watched.end_roaming();
    }

    /// Nobody looks here any more, for now or for good: those who wait for descriptors are told to
    /// do so elsewhere.
    pub(crate) fn send_away(&self) {
        self.watched.all().into_iter().for_each(|(token, source)| source.lose_home(self, token));
    }
}

/// A share of a worker's driver, for the scheduler.
struct DriverShare(Arc<CoreDriver>);

/// A new driver, for the scheduler.
pub(crate) fn make(host: Weak<FiberHost>, worker: usize) -> io::Result<(Arc<CoreDriver>, Box<dyn Driver>)> {
    let driver = CoreDriver::new(host, worker)?;
    Ok((driver.clone(), Box::new(DriverShare(driver))))
}

/// The driver of the core that a worker runs on, if it is one of ours.
pub(crate) fn of(core: &Core) -> Option<Arc<CoreDriver>> {
    let share = core.driver().as_any()?.downcast_ref::<DriverShare>()?;
    Some(share.0.clone())
}

impl Driver for DriverShare {
    fn look(&self) -> io::Result<usize> {
        let told = self.0.look_at_descriptors()?;
        let fired = told + self.0.fire();
        if !tls::worker_local().is_some_and(|local| self.0.is_of(local)) {
            self.0.timers.end_watch();
        }
        Ok(fired + starving::look())
    }

    fn sleep(&self, at_most: Option<Duration>) -> io::Result<()> {
        let state = WorkerState::current();
        // A little at a time: a waker of this worker need not wait for all of it.
        if state.is_some_and(WorkerState::give_back) {
            return self.look().map(drop);
        }
        let to_trim = state.and_then(|state| state.host().stacks.time_to_trim());
        self.0.timers.end_watch();
        let to_next = self.0.timers.begin_sleep();
        let time = [at_most, to_next, starving::rest(), to_trim].into_iter().flatten().min();
        let mut events = Events::new();
        let slept = match time.is_none_or(|time| !time.is_zero()) {
            true => self.0.waker.epoll.wait(time, &mut events),
            false => Ok(()),
        };
        self.0.timers.end_sleep();
        self.0.watched.tell(&events);
        self.0.fire();
        slept
    }

    fn unpark(&self) {
        self.0.waker.epoll.ring();
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }

    fn is_watching(&self) -> bool {
        !self.0.watched.is_empty() || !self.0.timers.is_empty() || starving::is_watching()
    }

    fn is_watching_for_others(&self) -> bool {
        self.0.timers.is_watched() || self.0.watched.is_roamed()
    }
}
