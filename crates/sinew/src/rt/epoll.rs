//! What a core sleeps in, as the kernel has it: a set of descriptors, of which one is the bell that others ring. Knows no timers.
//!
//! A sleep ends to the microsecond, or as near as the system lets a thread's timers be (its slack, 50 µs by default). Linux has a call for
//! that since 5.11. On older kernels, and where a filter keeps that call away, the set is waited for as a descriptor, which takes two calls.
//!
//! # Safety
//!
//! Trusted with one system call that has no safe form: the safe one counts in milliseconds.
#![expect(unsafe_code, reason = "a system call that has no safe form")]

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, epoll, eventfd, poll};
use rustix::io::{Errno, write};

/// The kernel refuses the call: it is not asked again.
static IS_OLD: AtomicBool = AtomicBool::new(false);

/// A set of descriptors, with a bell in it.
#[derive(Debug)]
pub(crate) struct Epoll {
    set: OwnedFd,
    /// Never read: each write is an event of its own, since it is watched for edges.
    bell: OwnedFd,
}

impl Epoll {
    pub(crate) fn new() -> io::Result<Self> {
        let set = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let flags = epoll::EventFlags::IN | epoll::EventFlags::ET;
        epoll::add(&set, &bell, epoll::EventData::new_u64(0), flags)?;
        Ok(Self { set, bell })
    }

    /// Ends the wait of now, or the next one.
    #[cold]
    pub(crate) fn ring(&self) {
        // It cannot fail: the counter never gets near its limit, and the descriptor is there.
        let rung = write(&self.bell, &1_u64.to_ne_bytes());
        debug_assert!(rung.is_ok(), "a bell always rings: {rung:?}");
    }

    /// Waits for events for at most so long. A signal ends it too.
    pub(crate) fn wait(&self, at_most: Option<Duration>) -> io::Result<()> {
        // What is too long for the kernel is for ever.
        let timeout = at_most.and_then(|time| Timespec::try_from(time).ok());
        let result = match IS_OLD.load(Ordering::Relaxed) {
            true => self.wait_in_two(timeout.as_ref()),
            false => self.wait_in_one(timeout.as_ref()),
        };
        match result {
            Ok(()) | Err(Errno::INTR) => Ok(()),
            // A filter of system calls may say either.
            Err(Errno::NOSYS | Errno::PERM) if !IS_OLD.swap(true, Ordering::Relaxed) => self.wait(at_most),
            Err(error) => Err(error.into()),
        }
    }

    fn wait_in_one(&self, timeout: Option<&Timespec>) -> Result<(), Errno> {
        let mut event = libc::epoll_event { events: 0, u64: 0 };
        let timeout = timeout.map_or(std::ptr::null(), std::ptr::from_ref);
        let (call, set, no_mask) =
            (libc::SYS_epoll_pwait2, self.set.as_raw_fd(), std::ptr::null::<libc::sigset_t>());
        // SAFETY: there is room for one event; the time is as the kernel has it, or none, and the mask is none.
        let result =
            unsafe { libc::syscall(call, set, &raw mut event, 1, timeout, no_mask, size_of::<u64>()) };
        if result >= 0 { Ok(()) } else { Err(last_error()) }
    }

    fn wait_in_two(&self, timeout: Option<&Timespec>) -> Result<(), Errno> {
        poll(&mut [PollFd::new(&self.set, PollFlags::IN)], timeout)?;
        let (mut events, no_time) = (Vec::with_capacity(1), Timespec { tv_sec: 0, tv_nsec: 0 });
        epoll::wait(&self.set, rustix::buffer::spare_capacity(&mut events), Some(&no_time))?;
        Ok(())
    }
}

fn last_error() -> Errno {
    Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::INVAL)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::time::Instant;

    type Wait = fn(&Epoll, Option<&Timespec>) -> Result<(), Errno>;

    /// Both ways end by the bell, however often it was rung before, and by time.
    #[test]
    fn both_ways_of_waiting_do_the_same() {
        let ways: [Wait; 2] = [Epoll::wait_in_one, Epoll::wait_in_two];
        for wait in ways {
            let epoll = Epoll::new().unwrap();
            let time = Timespec::try_from(Duration::from_millis(3)).unwrap();
            if wait(&epoll, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })) == Err(Errno::NOSYS) {
                // A kernel before 5.11, or an emulator of one.
                continue;
            }
            for _ in 0..3 {
                epoll.ring();
                epoll.ring();
                // It would wait for ever, if it missed the bell.
                wait(&epoll, None).unwrap();
                let begun = Instant::now();
                wait(&epoll, Some(&time)).unwrap();
                assert!(begun.elapsed() >= Duration::from_millis(3), "the bell is heard once");
            }
        }
    }
}
