//! How a plain thread waits for a descriptor: it polls the kernel itself. Knows no runtime.
//!
//! The wait is an ordinary one, so that a canceller can end it. But instead of sleeping until a
//! waker comes, the thread sleeps on the descriptor, and has nothing to wait for any more when that
//! is ready.

use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::readiness::Direction;
use crate::rt::base::clock;
use crate::rt::wait::{Cause, Limit, Outcome, Place, ThreadBlock, stop, tls};

/// Back-off after repeated wake-ups for the same unusable event.
const IN_VAIN: Duration = Duration::from_millis(1);

/// The longest single sleep of a thread that may be woken, but has no wake-up descriptor.
const UNCALLED: Duration = Duration::from_millis(10);

/// Waits until the descriptor may be ready. May return for no reason.
#[inline(never)]
pub(super) fn wait(fd: BorrowedFd<'_>, direction: Direction, limit: Limit) -> Outcome {
    let until = limit.or_until(stop::deadline()).moment();
    match limit.wait(direction.wait_kind().alone(), |_| !sleep(fd, direction, until, limit)) {
        Err(stop) => Outcome::Stopped(stop),
        Ok(Cause::Time) => Outcome::TimedOut,
        Ok(_) => Outcome::NotNeeded,
    }
}

/// Sleeps until the descriptor is ready, this moment is reached, or a waker ends the wait. Returns
/// whether the descriptor is ready.
fn sleep(fd: BorrowedFd<'_>, direction: Direction, until: Option<Instant>, limit: Limit) -> bool {
    let flags = match direction {
        Direction::Read => PollFlags::IN | PollFlags::PRI | PollFlags::RDHUP,
        Direction::Write => PollFlags::OUT,
    };
    let wanted = PollFd::from_borrowed_fd(fd, flags);
    let slept = match stop::may_be_cancelled() {
        true => sleep_with_bell(wanted, until, tls::thread_block()),
        false => sleep_for(&mut [wanted], until),
    };
    if slept == Slept::Other && limit.place() == Place::Front {
        // The kernel reports it as long as it lasts: urgent data, or an error that is stored
        // elsewhere.
        std::thread::sleep(IN_VAIN);
    }
    matches!(slept, Slept::Ready | Slept::Other)
}

/// [Sleeps](sleep_for) in a wait that other threads may end.
fn sleep_with_bell(wanted: PollFd<'_>, until: Option<Instant>, block: &ThreadBlock) -> Slept {
    block.bell.listen(|bell| {
        loop {
            if block.is_woken() {
                return Slept::Called;
            }
            let slept = match bell {
                Some(bell) => {
                    sleep_for(&mut [wanted.clone(), PollFd::from_borrowed_fd(bell, PollFlags::IN)], until)
                }
                None => sleep_for(&mut [wanted.clone()], Some(sooner(until))),
            };
            match slept {
                // The signal may have been meant for an earlier wait.
                Slept::Called => block.bell.hush(),
                Slept::Over if until.is_none_or(|until| until > clock::now()) => {}
                slept => return slept,
            }
        }
    })
}

fn sooner(until: Option<Instant>) -> Instant {
    let soon = clock::now() + UNCALLED;
    until.map_or(soon, |until| until.min(soon))
}

/// What has ended a sleep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Slept {
    /// The first descriptor is ready.
    Ready,
    /// The first descriptor has an event other than the wanted one.
    Other,
    /// The second descriptor: a waker has signalled.
    Called,
    /// The time limit.
    Over,
}

fn sleep_for(fds: &mut [PollFd<'_>], until: Option<Instant>) -> Slept {
    loop {
        let left = until.map(|until| until.saturating_duration_since(clock::now()));
        // A time that is too long for the kernel means no limit.
        let timeout = left.and_then(|left| Timespec::try_from(left).ok());
        match poll(fds, timeout.as_ref()) {
            Ok(0) => return Slept::Over,
            Ok(_) if fds[0].revents().intersects(PollFlags::IN | PollFlags::OUT) => return Slept::Ready,
            Ok(_) if !fds[0].revents().is_empty() => return Slept::Other,
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

#[cfg(all(test, not(loom)))]
mod tests {
    use std::thread;

    use rustix::event::{EventfdFlags, eventfd};

    use super::*;

    /// Otherwise it would end each sleep of the wait, and keep the thread awake until the
    /// descriptor is ready.
    #[test]
    fn a_late_signal_ends_one_sleep_only() {
        let (event, block) = (eventfd(0, EventfdFlags::CLOEXEC).unwrap(), ThreadBlock::new());
        block.bell.listen(|_| ());
        block.bell.ring_late();
        assert!(block.bell.is_rung());
        thread::scope(|scope| {
            let wanted = PollFd::new(&event, PollFlags::IN);
            let sleeper = scope.spawn(|| sleep_with_bell(wanted, None, &block));
            let end = Instant::now() + Duration::from_secs(10);
            while block.bell.is_rung() && Instant::now() < end {
                thread::yield_now();
            }
            let is_rung = block.bell.is_rung();
            rustix::io::write(&event, &1_u64.to_ne_bytes()).unwrap();
            assert_eq!((sleeper.join().unwrap(), is_rung), (Slept::Ready, false));
        });
    }
}
