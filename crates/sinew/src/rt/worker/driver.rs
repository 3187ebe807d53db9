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

/// The driver of one worker.
#[derive(Debug)]
pub(crate) struct CoreDriver {
    this: Weak<Self>,
    waker: Arc<CoreWaker>,
    /// The descriptors that this driver watches.
    watched: Watched,
    timers: Arc<CoreTimers>,
}

/// Wakes the worker, and lets other workers poll what it watches.
#[derive(Debug)]
struct CoreWaker {
    epoll: Epoll,
    /// The number of the worker.
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

/// Returns the driver of the caller's worker.
#[inline]
pub(crate) fn of_local(local: &WorkerLocal) -> Option<&CoreDriver> {
    // SAFETY: the pointer was made from a driver by `CoreDriver::untyped`, and the driver outlives
    // the local.
    local.driver().map(|driver| unsafe { driver.cast().as_ref() })
}

impl CoreDriver {
    fn new(host: Weak<FiberHost>, worker: usize) -> io::Result<Arc<Self>> {
        let waker = Arc::new(CoreWaker { epoll: Epoll::new()?, worker, host });
        let timers = Arc::new(CoreTimers::new(waker.clone()));
        Ok(Arc::new_cyclic(|this| Self { this: this.clone(), waker, watched: Watched::new(), timers }))
    }

    /// Returns a new reference to this driver.
    pub(crate) fn keep(&self) -> Arc<Self> {
        self.this.upgrade().expect("a driver is there while its worker is")
    }

    /// Returns the pointer that a worker's local keeps.
    pub(crate) fn untyped(self: &Arc<Self>) -> NonNull<()> {
        NonNull::from(&**self).cast()
    }

    pub(crate) fn timers(&self) -> &Arc<CoreTimers> {
        &self.timers
    }

    fn is_of(&self, local: &WorkerLocal) -> bool {
        of_local(local).is_some_and(|driver| ptr::eq(driver, self))
    }

    /// Ends the waits whose time limits are reached, and spawns the fibers of due callbacks.
    /// Returns how many in total.
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

    /// Polls the descriptors, and wakes the waiters of those that are ready. Returns how many it
    /// has woken.
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

    /// Spawns the fibers of due callbacks, without the lock. If a sibling polls, they are spawned
    /// there. Returns how many.
    fn call(&self, calls: Vec<DueCallback>) -> usize {
        let count = calls.len();
        let mut calls = calls.into_iter().map(|(timer, run)| CallbackFiber::new(timer, run));
        if let Some(host) = self.waker.host.upgrade() {
            // No shutdown ends during `deliver`, so none discards these fibers after it has
            // counted the discarded ones.
            host.schedule().deliver(&mut || calls.by_ref().for_each(|call| call.start(Site::of(&host))));
        }
        // If the host is gone, the callbacks are not called.
        calls.for_each(drop);
        count
    }

    /// Starts to watch a descriptor. Returns its number.
    ///
    /// # Errors
    ///
    /// Returns the error of the system call, if the kernel cannot watch the descriptor.
    pub(crate) fn watch(&self, source: &Arc<IoSource>, fd: BorrowedFd<'_>) -> io::Result<Token> {
        self.watched.enter(source, fd.as_raw_fd(), |token| self.waker.epoll.add(fd, token))
    }

    /// Stops watching the descriptor with this number. If the descriptor was closed, another one
    /// that got the same file descriptor number is left alone.
    pub(crate) fn unwatch(&self, token: Token, fd: RawFd) {
        self.watched.leave(token, fd, || self.waker.epoll.remove(fd));
    }

    /// Records that a fiber that may migrate, or that runs elsewhere, waits for one of the
    /// descriptors: other workers poll this driver while its worker is busy.
    pub(crate) fn begin_roaming(&self) {
        if self.watched.begin_roaming() {
            self.waker.ask_for_a_watch();
        }
    }

    pub(crate) fn end_roaming(&self) {
        self.watched.end_roaming();
    }

    /// Gives up all descriptors, when this driver is not polled any more, for now or for good.
    /// Their waiters register them elsewhere.
    pub(crate) fn send_away(&self) {
        self.watched.all().into_iter().for_each(|(token, source)| source.lose_home(self, token));
    }
}

/// A share of a worker's driver, for the scheduler.
struct DriverShare(Arc<CoreDriver>);

/// Makes a new driver, and its share for the scheduler.
pub(crate) fn make(host: Weak<FiberHost>, worker: usize) -> io::Result<(Arc<CoreDriver>, Box<dyn Driver>)> {
    let driver = CoreDriver::new(host, worker)?;
    Ok((driver.clone(), Box::new(DriverShare(driver))))
}

/// Returns the driver of the core that a worker runs on, if it is a `CoreDriver`.
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
        // A little at a time, so that a waker of this worker does not have to wait for all of it.
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
