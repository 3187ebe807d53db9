//! A descriptor that fibers and threads wait for. The driver of one worker, its home, watches it
//! from the first wait on. Knows neither the kind of the descriptor nor the operations on it.
//!
//! Its home is the worker of its first waiter. It moves when a fiber waits on another worker and no
//! fiber waits at home: two system calls, against waking a worker on another CPU for each event.
//! The waiters belong to the descriptor, not to the home, so a move loses no waiter: the kernel
//! reports to the new home what is ready as of then.

use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::time::Duration;
use std::{fmt, io};

use super::super::driver::{CoreDriver, of_local};
use super::readiness::{Direction, Readiness, ReadyBits};
use super::table::Token;
use super::thread;
use crate::rt::base::clock;
use crate::rt::base::sync::Lock;
use crate::rt::wait::{Cause, Limit, Outcome, Place, Stop, WorkerLocal, suspend};

/// Why a wait for a descriptor has failed.
#[derive(Debug)]
pub(crate) enum IoFailure {
    /// The kernel does not watch the descriptor.
    Failed(io::Error),
    /// The caller is to stop. Boxed, so that the other variants are small.
    Stopped(Box<Stop>),
    TimedOut,
}

/// A descriptor. The fields that each operation and each event touch are in one cache line.
#[repr(C, align(64))]
pub(crate) struct IoSource {
    /// The driver of its home. Changed under the lock of `home`, and only compared.
    at: AtomicPtr<CoreDriver>,
    /// Whether a fiber that may migrate, or that runs on another worker, has waited for it, so that
    /// workers other than its home may be concerned. Changed under the lock of `home`.
    roams: AtomicBool,
    pub(crate) readiness: Readiness,
    home: Lock<Option<WatchHome>>,
}

/// The caller's worker, and its driver.
type Here<'a> = (&'a WorkerLocal, &'a CoreDriver);

/// The place where a descriptor is watched.
#[derive(Debug)]
struct WatchHome {
    driver: Arc<CoreDriver>,
    token: Token,
    fd: RawFd,
}

impl IoSource {
    /// Returns a descriptor that no driver watches yet.
    pub(crate) fn new(readiness: Readiness) -> Arc<Self> {
        Arc::new(Self {
            readiness,
            home: Lock::new(None),
            at: AtomicPtr::new(ptr::null_mut()),
            roams: AtomicBool::new(false),
        })
    }

    /// Returns whether events go to the caller's own worker. Then the caller need not call the
    /// kernel for a direction that is not marked. Other callers may learn of events much later.
    #[inline]
    pub(crate) fn is_told_here(&self) -> bool {
        let driver = self.at.load(Ordering::Relaxed);
        !driver.is_null()
            && suspend::running()
                .and_then(|(local, _)| of_local(local))
                .is_some_and(|own| ptr::eq(own, driver))
    }

    /// Waits until the direction may be ready. All waits of one operation together take no longer
    /// than `time`, if it is set; the first of them sets `limit`. Does not wait if an event has
    /// come since the word was `seen`.
    ///
    /// # Errors
    ///
    /// Returns an error if the caller is to stop, its time limit is reached, or the kernel does not
    /// watch the descriptor.
    #[inline(never)]
    pub(crate) fn wait(
        self: &Arc<Self>,
        fd: BorrowedFd<'_>,
        (direction, seen): (Direction, ReadyBits),
        (time, limit): (Option<Duration>, &mut Option<Limit>),
    ) -> Result<(), IoFailure> {
        if time.is_none()
            && let Some(fiber) = suspend::running()
            && of_local(fiber.0).is_some_and(|driver| self.is_settled_at((fiber.0, driver)))
        {
            let place = if limit.is_none() { Place::Back } else { Place::Front };
            let ended = self.readiness.wait_fast(fiber, direction, (place, seen));
            if ended.is_some() {
                *limit = Some(Limit::STOP.later());
            }
            if ended.is_some_and(|cause| cause != Cause::Cancel) {
                return Ok(());
            }
        }
        self.wait_long(fd, (direction, seen), (time, limit))
    }

    /// [Waits](Self::wait) on any fiber or thread, with any time limit.
    #[inline(never)]
    fn wait_long(
        self: &Arc<Self>,
        fd: BorrowedFd<'_>,
        (direction, seen): (Direction, ReadyBits),
        (time, limit): (Option<Duration>, &mut Option<Limit>),
    ) -> Result<(), IoFailure> {
        // A moment beyond the end of the clock never comes.
        let until = || time.and_then(|time| clock::now().checked_add(time));
        let now = limit.get_or_insert_with(|| Limit::STOP.or_until(until())).next_wait();
        let running = suspend::running().filter(|(local, _)| !local.in_switch_hook());
        let outcome = match running.and_then(|(local, _)| Some((local, of_local(local)?))) {
            None => thread::wait(fd, direction, now),
            Some(here) => {
                let moved = self.settle(here, fd).map_err(IoFailure::Failed)?;
                self.readiness.wait(direction, now, moved.unwrap_or(seen))
            }
        };
        match outcome {
            Outcome::NotNeeded | Outcome::Woken => Ok(()),
            Outcome::TimedOut => Err(IoFailure::TimedOut),
            Outcome::Stopped(stop) => Err(IoFailure::Stopped(Box::new(stop))),
        }
    }

    /// Returns whether the caller's own worker watches the descriptor.
    #[inline]
    fn is_settled_at(&self, (local, driver): Here<'_>) -> bool {
        let is_here = ptr::eq(self.at.load(Ordering::Relaxed), driver);
        is_here && (self.roams.load(Ordering::Relaxed) || !suspend::may_move(local))
    }

    /// Lets a driver watch the descriptor before the calling fiber waits: that of its own worker,
    /// unless fibers wait elsewhere. If the descriptor has moved for that, returns the word as of
    /// then: events from before are reported again.
    fn settle(self: &Arc<Self>, here: Here<'_>, fd: BorrowedFd<'_>) -> io::Result<Option<ReadyBits>> {
        if self.is_settled_at(here) {
            return Ok(None);
        }
        let (local, driver) = here;
        let (mut home, mut moved) = (self.home.lock(), None);
        let is_here = home.as_ref().is_some_and(|home| ptr::eq(&*home.driver, driver));
        if home.is_none() || !is_here && self.readiness.is_quiet() {
            if self.leave(&mut home) {
                // An operation that found the descriptor at its old home, and does not wait yet,
                // has to find the new one.
                self.readiness.ask_again();
                // The caller itself need not try again: if two callers that move the descriptor to
                // and fro did, neither would ever wait.
                moved = Some(self.readiness.look());
            }
            // If it fails, no driver reports events to waiters that came meanwhile.
            let token = driver.watch(self, fd).inspect_err(|_| self.readiness.disturb())?;
            self.at.store(ptr::from_ref(driver).cast_mut(), Ordering::Relaxed);
            *home = Some(WatchHome { driver: driver.keep(), token, fd: fd.as_raw_fd() });
        }
        if let Some(home) = &*home
            && !self.roams.load(Ordering::Relaxed)
            && (suspend::may_move(local) || !ptr::eq(&*home.driver, driver))
        {
            self.roams.store(true, Ordering::Relaxed);
            home.driver.begin_roaming();
        }
        Ok(moved)
    }

    /// Stops watching the descriptor. Returns whether a driver watched it.
    fn leave(&self, home: &mut Option<WatchHome>) -> bool {
        let Some(left) = home.take() else { return false };
        self.at.store(ptr::null_mut(), Ordering::Relaxed);
        left.driver.unwatch(left.token, left.fd);
        if self.roams.swap(false, Ordering::Relaxed) {
            left.driver.end_roaming();
        }
        true
    }

    /// Removes the descriptor from this home, which is not polled any more, if it has this number
    /// there. Its waiters look for another home.
    pub(crate) fn lose_home(&self, driver: &CoreDriver, token: Token) {
        let mut home = self.home.lock();
        if home.as_ref().is_some_and(|home| ptr::eq(&*home.driver, driver) && home.token == token) {
            self.leave(&mut home);
        }
        drop(home);
        self.readiness.disturb();
    }

    /// Stops watching a descriptor that is about to be closed or given away. No fiber waits for it.
    pub(crate) fn retire(&self) {
        self.leave(&mut self.home.lock());
    }
}

impl fmt::Debug for IoSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IoSource")
            .field("is_closed", &self.readiness.look().is_closed())
            .finish_non_exhaustive()
    }
}
