//! A descriptor that fibers and threads wait for: it is watched by the driver of one worker, its home, from the first wait on. Knows neither what kind of
//! descriptor it is nor what is done with it.
//!
//! It homes with the first who waits, and moves when somebody waits elsewhere and nobody waits at home: two system calls, against waking a worker on another
//! CPU for each event. Those who wait are not the home's but the descriptor's, so that nobody is lost by a move: the kernel tells a new home
//! what is ready as of then.

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

/// Why a wait for a descriptor has come to nothing.
#[derive(Debug)]
pub(crate) enum IoFailure {
    /// The kernel does not watch the descriptor.
    Failed(io::Error),
    /// The caller is to stop. Boxed, so that the others are small.
    Stopped(Box<Stop>),
    TimedOut,
}

/// A descriptor. What each operation and each event touches is in one cache line.
#[repr(C, align(64))]
pub(crate) struct IoSource {
    /// The driver that it is at home with. Changed under the lock of `home`, and compared only.
    at: AtomicPtr<CoreDriver>,
    /// A fiber that may move has waited for it, or one on another worker: others than the home's worker may be concerned. Changed under the lock of `home`.
    roams: AtomicBool,
    pub(crate) readiness: Readiness,
    home: Lock<Option<WatchHome>>,
}

/// A worker, which is the caller's, and its driver.
type Here<'a> = (&'a WorkerLocal, &'a CoreDriver);

/// Where a descriptor is watched.
#[derive(Debug)]
struct WatchHome {
    driver: Arc<CoreDriver>,
    token: Token,
    fd: RawFd,
}

impl IoSource {
    /// A descriptor that no driver watches yet.
    pub(crate) fn new(readiness: Readiness) -> Arc<Self> {
        Arc::new(Self {
            readiness,
            home: Lock::new(None),
            at: AtomicPtr::new(ptr::null_mut()),
            roams: AtomicBool::new(false),
        })
    }

    /// Whether the caller's own worker is told of events: then it need not ask the kernel for what it was not told of. Others may be told much later.
    #[inline]
    pub(crate) fn is_told_here(&self) -> bool {
        let driver = self.at.load(Ordering::Relaxed);
        !driver.is_null()
            && suspend::running()
                .and_then(|(local, _)| of_local(local))
                .is_some_and(|own| ptr::eq(own, driver))
    }

    /// Waits until the direction may be ready: in all waits of one operation together no longer than `time`, if there is one. `limit` is set by the first of
    /// them. Does not wait if an event has come since the word was as `seen`.
    ///
    /// # Errors
    ///
    /// If the caller is to stop, its time is over, or the kernel does not watch the descriptor.
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

    /// [Waits](Self::wait) on any fiber or thread, for any time.
    #[inline(never)]
    fn wait_long(
        self: &Arc<Self>,
        fd: BorrowedFd<'_>,
        (direction, seen): (Direction, ReadyBits),
        (time, limit): (Option<Duration>, &mut Option<Limit>),
    ) -> Result<(), IoFailure> {
        // A moment beyond the clock's end never comes.
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

    /// Whether the caller's own worker watches.
    #[inline]
    fn is_settled_at(&self, (local, driver): Here<'_>) -> bool {
        let is_here = ptr::eq(self.at.load(Ordering::Relaxed), driver);
        is_here && (self.roams.load(Ordering::Relaxed) || !suspend::may_move(local))
    }

    /// Has a driver watch before the calling fiber waits: that of its own worker, unless others wait elsewhere. If the descriptor has moved because of that,
    /// returns the word as of then: whatever came before is told again.
    fn settle(self: &Arc<Self>, here: Here<'_>, fd: BorrowedFd<'_>) -> io::Result<Option<ReadyBits>> {
        if self.is_settled_at(here) {
            return Ok(None);
        }
        let (local, driver) = here;
        let (mut home, mut moved) = (self.home.lock(), None);
        let is_here = home.as_ref().is_some_and(|home| ptr::eq(&*home.driver, driver));
        if home.is_none() || !is_here && self.readiness.is_quiet() {
            if self.leave(&mut home) {
                // Whoever found it where it was, and does not wait yet, has to find it where it is.
                self.readiness.ask_again();
                // The caller need not ask: if both did who move it to and fro, neither would ever wait.
                moved = Some(self.readiness.look());
            }
            // Those who came to wait meanwhile are told by nobody, if it fails.
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

    /// Nobody watches it any more. Whether somebody has.
    fn leave(&self, home: &mut Option<WatchHome>) -> bool {
        let Some(left) = home.take() else { return false };
        self.at.store(ptr::null_mut(), Ordering::Relaxed);
        left.driver.unwatch(left.token, left.fd);
        if self.roams.swap(false, Ordering::Relaxed) {
            left.driver.end_roaming();
        }
        true
    }

    /// Its home is not looked after any more, where it had this number: those who wait look for another one.
    pub(crate) fn lose_home(&self, driver: &CoreDriver, token: Token) {
        let mut home = self.home.lock();
        if home.as_ref().is_some_and(|home| ptr::eq(&*home.driver, driver) && home.token == token) {
            self.leave(&mut home);
        }
        drop(home);
        self.readiness.disturb();
    }

    /// The descriptor is about to be given up, or to become somebody else's. Nobody waits for it.
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
