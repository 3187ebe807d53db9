//! How a plain thread waits for a descriptor: it asks the kernel itself. Knows no runtime.
//!
//! The wait is an ordinary one, so that whoever stops the thread ends it. But before the thread would sleep until somebody does, it sleeps for the
//! descriptor, and has nothing to wait for any more when that is ready.

use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::super::queue::{Limit, Outcome};
use super::super::word::Cause;
use super::super::{stop, tls};
use super::readiness::Direction;

/// So long does a thread sleep at a time that somebody may want to wake, and cannot.
const UNCALLED: Duration = Duration::from_millis(10);

/// Waits until the descriptor may be ready. May return for no reason.
#[inline(never)]
pub(super) fn wait(fd: BorrowedFd<'_>, direction: Direction, limit: Limit) -> Outcome {
    let until = limit.or_until(stop::deadline()).moment();
    match limit.wait(|_| !sleep(fd, direction, until)) {
        Err(stop) => Outcome::Stopped(stop),
        Ok(Cause::Time) => Outcome::TimedOut,
        Ok(_) => Outcome::NotNeeded,
    }
}

/// Sleeps until the descriptor is ready, or this moment, or somebody ends the wait. Whether it is ready.
fn sleep(fd: BorrowedFd<'_>, direction: Direction, until: Option<Instant>) -> bool {
    let flags = match direction {
        Direction::Read => PollFlags::IN | PollFlags::PRI | PollFlags::RDHUP,
        Direction::Write => PollFlags::OUT,
    };
    let wanted = PollFd::from_borrowed_fd(fd, flags);
    if !stop::may_be_cancelled() {
        return sleep_for(&mut [wanted], until) == Slept::Ready;
    }
    let block = tls::thread_block();
    block.bell.listen(|bell| {
        loop {
            if block.is_woken() {
                return false;
            }
            let slept = match bell {
                Some(bell) => {
                    sleep_for(&mut [wanted.clone(), PollFd::from_borrowed_fd(bell, PollFlags::IN)], until)
                }
                None => sleep_for(&mut [wanted.clone()], Some(sooner(until))),
            };
            match slept {
                Slept::Ready => return true,
                Slept::Called => {}
                Slept::Over if until.is_some_and(|until| until <= Instant::now()) => return false,
                Slept::Over => {}
            }
        }
    })
}

fn sooner(until: Option<Instant>) -> Instant {
    let soon = Instant::now() + UNCALLED;
    until.map_or(soon, |until| until.min(soon))
}

/// What has ended a sleep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Slept {
    /// The first descriptor.
    Ready,
    /// Another one.
    Called,
    /// Time.
    Over,
}

fn sleep_for(fds: &mut [PollFd<'_>], until: Option<Instant>) -> Slept {
    loop {
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        // What is too long for the kernel is for ever.
        let timeout = left.and_then(|left| Timespec::try_from(left).ok());
        match poll(fds, timeout.as_ref()) {
            Ok(0) => return Slept::Over,
            Ok(_) if !fds[0].revents().is_empty() => return Slept::Ready,
            Ok(_) => return Slept::Called,
            Err(Errno::INTR) => {}
            // The kernel has no memory. The operation is tried again, but not at once.
            Err(_) => {
                std::thread::sleep(Duration::from_millis(1));
                return Slept::Ready;
            }
        }
    }
}
