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
use super::gate::{Gate, Left, Turn};
use super::readiness::{Direction, ReadyEvent, Seen};
use super::table::Token;
use super::thread;
use crate::rt::base::clock;
use crate::rt::base::sync::Lock;
use crate::rt::wait::{FastWait, Limit, Outcome, Stop, WorkerLocal, stop, suspend, turn};

/// Why an operation has not come to its end.
#[derive(Debug)]
pub(crate) enum IoFailure {
    /// The kernel, or whoever tried, says so.
    Failed(io::Error),
    /// The caller is to stop. Boxed, so that the others are small.
    Stopped(Box<Stop>),
    /// It was to take no longer than this.
    TimedOut,
    /// It would have to wait, and is not to.
    WouldBlock,
    /// Somebody has closed it.
    Closed,
}

/// How an operation waits.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Patience {
    /// Not at all.
    None,
    /// For as long as it takes; for so long in all, if there is a limit.
    Wait(Option<Duration>),
}

/// A descriptor. What each operation and each event touches is in one cache line.
#[repr(C, align(64))]
pub(crate) struct Source {
    /// The driver that it is at home with. Changed under the lock of `home`, and compared only.
    at: AtomicPtr<CoreDriver>,
    /// A fiber that may move has waited for it, or one on another worker: others than the home's worker may be concerned. Changed under the lock of `home`.
    roams: AtomicBool,
    gate: Gate,
    home: Lock<Option<Home>>,
}

/// A worker, which is the caller's, and its driver.
type Here<'a> = (&'a WorkerLocal, &'a CoreDriver);

/// Where a descriptor is watched.
#[derive(Debug)]
struct Home {
    driver: Arc<CoreDriver>,
    token: Token,
    fd: RawFd,
}

impl Source {
    /// One that is watched by nobody yet, and whose operations in each direction want the same.
    pub(crate) fn new() -> Arc<Self> {
        Self::of(Gate::new())
    }

    /// One whose operations may want different things: what lets one go on may not be what another waits for. The kernel is asked for each.
    pub(crate) fn mixed() -> Arc<Self> {
        Self::of(Gate::mixed())
    }

    fn of(gate: Gate) -> Arc<Self> {
        Arc::new(Self {
            gate,
            home: Lock::new(None),
            at: AtomicPtr::new(ptr::null_mut()),
            roams: AtomicBool::new(false),
        })
    }

    /// Does something with the descriptor: `attempt` is called until it does not say any more that it would have to wait. It is the kernel's word that counts:
    /// it says so by [`WouldBlock`](io::ErrorKind::WouldBlock).
    ///
    /// # Errors
    ///
    /// As `attempt` has them, and if the wait comes to nothing.
    #[inline]
    pub(crate) fn drive<R>(
        self: &Arc<Self>,
        fd: BorrowedFd<'_>,
        direction: Direction,
        patience: Patience,
        mut attempt: impl FnMut(Seen) -> io::Result<(R, Left)>,
    ) -> Result<R, IoFailure> {
        // A caller that does not wait may have been told elsewhere that the descriptor is ready.
        let does_not_wait = matches!(patience, Patience::None);
        if !does_not_wait {
            turn::spend(turn::SYSTEM_CALL);
        }
        stop::check().map_err(stopped)?;
        let mut wait = None;
        // However it ends: others may have been left waiting for the sake of this one.
        let _pass_on = PassOn { gate: &self.gate, direction };
        loop {
            let seen = self.gate.look();
            if seen.is_closed() {
                return Err(IoFailure::Closed);
            }
            if seen.is_ready(direction) || does_not_wait || seen.is_mixed() || !self.is_told_here() {
                match attempt(seen) {
                    Ok((result, left)) => {
                        if left == Left::Nothing {
                            self.gate.unmark(direction, seen);
                        }
                        return Ok(result);
                    }
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                        self.gate.unmark(direction, seen);
                    }
                    // What closes it may also have the kernel fail.
                    Err(_) if self.is_closed() => return Err(IoFailure::Closed),
                    Err(error) => return Err(IoFailure::Failed(error)),
                }
            }
            if let Err(failure) = self.wait(fd, (direction, seen), (patience, &mut wait)) {
                return self.give_up(failure, &mut attempt);
            }
        }
    }

    /// The wait came to nothing. If that is because of its time, the kernel is asked once more: whoever tells of events may have been too slow for a short one.
    #[cold]
    fn give_up<R>(
        &self,
        failure: IoFailure,
        attempt: &mut impl FnMut(Seen) -> io::Result<(R, Left)>,
    ) -> Result<R, IoFailure> {
        if !matches!(failure, IoFailure::TimedOut) {
            return Err(failure);
        }
        match attempt(self.gate.look()) {
            Ok((result, _)) => Ok(result),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Err(failure),
            Err(_) if self.is_closed() => Err(IoFailure::Closed),
            Err(error) => Err(IoFailure::Failed(error)),
        }
    }

    /// Whether the caller's own worker is told of events: then it need not ask the kernel for what it was not told of. Others may be told much later.
    #[inline]
    fn is_told_here(&self) -> bool {
        let driver = self.at.load(Ordering::Relaxed);
        !driver.is_null()
            && suspend::running()
                .and_then(|(local, _)| of_local(local))
                .is_some_and(|own| ptr::eq(own, driver))
    }

    /// Waits once more, unless there was an event since the word was as `seen`.
    #[inline(never)]
    fn wait(
        self: &Arc<Self>,
        fd: BorrowedFd<'_>,
        (direction, seen): (Direction, Seen),
        (patience, wait): (Patience, &mut Option<Wait>),
    ) -> Result<(), IoFailure> {
        let turn = wait.as_ref().map_or(Turn::First, |wait| wait.turn);
        let is_short = matches!(patience, Patience::Wait(None)) && self.is_settled();
        let ended = if is_short { self.gate.wait_fast(direction, (turn, seen)) } else { FastWait::Not };
        if ended != FastWait::Not {
            *wait = Some(Wait { limit: Limit::STOP.later(), turn: Turn::Again });
        }
        if ended == FastWait::Over { Ok(()) } else { self.wait_long(fd, (direction, seen), (patience, wait)) }
    }

    /// The same, whoever the caller is. The limit is worked out for the first time.
    #[inline(never)]
    fn wait_long(
        self: &Arc<Self>,
        fd: BorrowedFd<'_>,
        (direction, seen): (Direction, Seen),
        (patience, wait): (Patience, &mut Option<Wait>),
    ) -> Result<(), IoFailure> {
        let wait = match wait {
            Some(wait) => wait,
            None => wait.insert(Wait::new(patience)?),
        };
        let running = suspend::running().filter(|(local, _)| !local.in_switch_hook());
        let outcome = match running.and_then(|(local, _)| Some((local, of_local(local)?))) {
            None => thread::wait(fd, direction, wait.limit, wait.turn),
            Some(here) => {
                let moved = self.settle(here, fd).map_err(IoFailure::Failed)?;
                self.gate.wait(direction, wait.limit, (wait.turn, moved.unwrap_or(seen)))
            }
        };
        (wait.turn, wait.limit) = (Turn::Again, wait.limit.later());
        match outcome {
            Outcome::NotNeeded | Outcome::Woken => Ok(()),
            Outcome::TimedOut => Err(IoFailure::TimedOut),
            Outcome::Stopped(stop) => Err(stopped(stop)),
        }
    }

    /// Sees to it that somebody watches before the calling fiber waits: its own worker, unless somebody waits elsewhere. If it has moved because of that, returns the
    /// word as of then: whatever came before is told again.
    #[inline]
    fn settle(self: &Arc<Self>, here: Here<'_>, fd: BorrowedFd<'_>) -> io::Result<Option<Seen>> {
        if self.is_settled_at(here) { Ok(None) } else { self.settle_slow(here, fd) }
    }

    /// Whether the caller's own worker watches.
    #[inline]
    fn is_settled(&self) -> bool {
        let here = suspend::running().and_then(|(local, _)| Some((local, of_local(local)?)));
        here.is_some_and(|here| self.is_settled_at(here))
    }

    #[inline]
    fn is_settled_at(&self, (local, driver): Here<'_>) -> bool {
        let is_here = ptr::eq(self.at.load(Ordering::Relaxed), driver);
        is_here && (self.roams.load(Ordering::Relaxed) || !suspend::may_move(local))
    }

    #[cold]
    fn settle_slow(
        self: &Arc<Self>,
        (local, driver): Here<'_>,
        fd: BorrowedFd<'_>,
    ) -> io::Result<Option<Seen>> {
        let (mut home, mut moved) = (self.home.lock(), None);
        let is_here = home.as_ref().is_some_and(|home| ptr::eq(&*home.driver, driver));
        if home.is_none() || !is_here && self.gate.is_quiet() {
            if self.leave(&mut home) {
                // Whoever found it where it was, and does not wait yet, has to find it where it is.
                self.gate.ask_again();
                // The caller need not ask: if both did who move it to and fro, neither would ever wait.
                moved = Some(self.gate.look());
            }
            // Those who came to wait meanwhile are told by nobody, if it fails.
            let token = driver.watch(self, fd).inspect_err(|_| self.gate.disturb())?;
            self.at.store(ptr::from_ref(driver).cast_mut(), Ordering::Relaxed);
            *home = Some(Home { driver: driver.keep(), token, fd: fd.as_raw_fd() });
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
    fn leave(&self, home: &mut Option<Home>) -> bool {
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
        self.gate.disturb();
    }

    /// The descriptor is about to be given up, or to become somebody else's. Nobody waits for it.
    pub(crate) fn retire(&self) {
        self.leave(&mut self.home.lock());
    }

    pub(crate) fn distrusts_short_reads(&self) -> bool {
        !self.gate.look().trusts_short_reads()
    }

    /// That a read came back short does not say that no more is there.
    pub(crate) fn distrust_short_reads(&self) {
        self.gate.tell(ReadyEvent::new(false, false, true));
    }

    /// All operations fail from now on, also those that wait now.
    pub(crate) fn close(&self) {
        self.gate.close();
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.gate.look().is_closed()
    }

    /// An event has come. Returns how many go on because of it.
    #[inline]
    pub(crate) fn tell(&self, event: ReadyEvent) -> usize {
        self.gate.tell(event)
    }
}

#[cold]
fn stopped(stop: Stop) -> IoFailure {
    IoFailure::Stopped(Box::new(stop))
}

/// The waits of one operation.
struct Wait {
    limit: Limit,
    turn: Turn,
}

impl Wait {
    fn new(patience: Patience) -> Result<Self, IoFailure> {
        let Patience::Wait(time) = patience else { return Err(IoFailure::WouldBlock) };
        // A moment beyond the clock's end never comes.
        let until = time.and_then(|time| clock::now().checked_add(time));
        Ok(Self { limit: Limit::STOP.or_until(until), turn: Turn::First })
    }
}

/// Lets the next who waits have its turn, when it is dropped.
struct PassOn<'a> {
    gate: &'a Gate,
    direction: Direction,
}

impl Drop for PassOn<'_> {
    #[inline]
    fn drop(&mut self) {
        self.gate.pass_on(self.direction);
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source").field("is_closed", &self.is_closed()).finish_non_exhaustive()
    }
}
