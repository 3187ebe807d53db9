//! The kernel's part of a driver: a set of descriptors. One of them is an eventfd, the bell, which
//! wakes a sleeping core. Knows no timers, nor what the descriptors belong to.
//!
//! A sleep ends to the microsecond, or as precisely as the timer slack of the thread permits (50 µs
//! by default). Linux has a call for that since 5.11. On older kernels, and where a filter refuses
//! that call, this polls the set as a descriptor, which takes two calls.
//!
//! # Safety
//!
//! Trusted with two system calls: one has no safe form, since the safe one counts in milliseconds,
//! and the other fills the same buffer. Also trusted with removing descriptors by their numbers.
#![expect(unsafe_code, reason = "a system call that has no safe form")]

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, epoll, eventfd, poll};
use rustix::io::{Errno, write};

use super::io::{ReadyBits, Token};

/// Set when the kernel has refused the call, which is not tried again.
static IS_OLD: AtomicBool = AtomicBool::new(false);

/// The number of the bell's events. No [`Token`] is zero.
const BELL: u64 = 0;

/// The error message if two objects were made of one descriptor.
const TWICE: &str = "this descriptor is already registered: share that handle, or duplicate the descriptor";

/// How many events are fetched at once. The next poll fetches the rest.
const MOST_EVENTS: usize = 256;

/// A set of descriptors, including a bell.
#[derive(Debug)]
pub(crate) struct Epoll {
    set: OwnedFd,
    /// Never read: it is edge-triggered, so each write is an event.
    bell: OwnedFd,
}

/// Events that the kernel has reported.
pub(crate) struct Events {
    buffer: [MaybeUninit<libc::epoll_event>; MOST_EVENTS],
    /// # Invariant
    ///
    /// This number of events at the beginning of the buffer is initialised.
    len: usize,
}

impl Events {
    pub(crate) const fn new() -> Self {
        Self { buffer: [const { MaybeUninit::uninit() }; MOST_EVENTS], len: 0 }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns all events but those of the bell.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Token, ReadyBits)> {
        // SAFETY: the invariant of `len`.
        let told = self.buffer[..self.len].iter().map(|event| unsafe { event.assume_init() });
        told.filter(|event| event.u64 != BELL)
            .map(|event| (Token::from_raw(event.u64), ready_bits(event.events)))
    }
}

/// Returns what an event means. The end of the stream, an error or urgent data are reported with
/// the bytes before them. Once that has happened, a read of fewer bytes than there was room for
/// does not prove that all were read.
fn ready_bits(flags: u32) -> ReadyBits {
    let has = |mask: libc::c_int| flags & mask as u32 != 0;
    let ends = libc::EPOLLHUP | libc::EPOLLERR;
    let reads = libc::EPOLLIN | libc::EPOLLRDHUP | libc::EPOLLPRI | ends;
    ReadyBits::event(has(reads), has(libc::EPOLLOUT | ends), has(reads & !libc::EPOLLIN))
}

impl Epoll {
    pub(crate) fn new() -> io::Result<Self> {
        let set = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let flags = epoll::EventFlags::IN | epoll::EventFlags::ET;
        epoll::add(&set, &bell, epoll::EventData::new_u64(BELL), flags)?;
        Ok(Self { set, bell })
    }

    /// Registers a descriptor under this number, for all changes. The kernel reports it at once if
    /// it is ready.
    ///
    /// # Errors
    ///
    /// Returns the error of the system call. If the descriptor is already registered, the error
    /// says what to do instead.
    pub(crate) fn add(&self, fd: BorrowedFd<'_>, token: Token) -> io::Result<()> {
        let flags = epoll::EventFlags::IN
            | epoll::EventFlags::OUT
            | epoll::EventFlags::RDHUP
            | epoll::EventFlags::PRI
            | epoll::EventFlags::ET;
        epoll::add(&self.set, fd, epoll::EventData::new_u64(token.as_raw()), flags).map_err(|errno| {
            match errno {
                Errno::EXIST => io::Error::new(io::ErrorKind::AlreadyExists, TWICE),
                errno => errno.into(),
            }
        })
    }

    /// Removes the descriptor with this number from the set.
    pub(crate) fn remove(&self, fd: RawFd) {
        // SAFETY: it is used for this call only, which accepts any number: one that is not in the
        // set is an error.
        let fd = unsafe { BorrowedFd::borrow_raw(fd) };
        // If it was closed meanwhile, the kernel has removed it already.
        let _ = epoll::delete(&self.set, fd);
    }

    /// Ends the present wait, or the next one.
    #[cold]
    pub(crate) fn ring(&self) {
        // It cannot fail: the counter never comes near its limit, and the descriptor is open.
        let rung = write(&self.bell, &1_u64.to_ne_bytes());
        debug_assert!(rung.is_ok(), "a bell always rings: {rung:?}");
    }

    /// Fetches events without waiting.
    #[inline]
    pub(crate) fn look(&self, events: &mut Events) -> Result<(), Errno> {
        // A direct system call: the function of the C library is a cancellation point, which costs
        // two atomic exchanges.
        let (call, set, no_mask) =
            (libc::SYS_epoll_pwait, self.set.as_raw_fd(), std::ptr::null::<libc::sigset_t>());
        let (buffer, most, at_once) = (events.buffer.as_mut_ptr(), MOST_EVENTS, 0);
        // SAFETY: the buffer has room for this number of events, and the mask is null.
        let result = unsafe { libc::syscall(call, set, buffer, most, at_once, no_mask, size_of::<u64>()) };
        events.take(result)
    }

    /// Waits for events for at most this time. A signal ends the wait too.
    pub(crate) fn wait(&self, at_most: Option<Duration>, events: &mut Events) -> io::Result<()> {
        // A time that is too long for the kernel means no limit.
        let timeout = at_most.and_then(|time| Timespec::try_from(time).ok());
        let is_old = IS_OLD.load(Ordering::Relaxed);
        let result = match is_old {
            true => self.wait_in_two(timeout.as_ref(), events),
            false => self.wait_in_one(timeout.as_ref(), events),
        };
        match result {
            Ok(()) | Err(Errno::INTR) => Ok(()),
            // A filter of system calls may return either error. Several threads may find out at
            // once.
            Err(Errno::NOSYS | Errno::PERM) if !is_old => {
                IS_OLD.store(true, Ordering::Relaxed);
                self.wait(at_most, events)
            }
            Err(error) => Err(error.into()),
        }
    }

    fn wait_in_one(&self, timeout: Option<&Timespec>, events: &mut Events) -> Result<(), Errno> {
        let timeout = timeout.map_or(std::ptr::null(), std::ptr::from_ref);
        let (call, set, no_mask) =
            (libc::SYS_epoll_pwait2, self.set.as_raw_fd(), std::ptr::null::<libc::sigset_t>());
        let (buffer, most) = (events.buffer.as_mut_ptr(), MOST_EVENTS);
        // SAFETY: the buffer has room for this number of events. The time has the kernel's layout
        // or is null, and the mask is null.
        let result = unsafe { libc::syscall(call, set, buffer, most, timeout, no_mask, size_of::<u64>()) };
        events.take(result)
    }

    fn wait_in_two(&self, timeout: Option<&Timespec>, events: &mut Events) -> Result<(), Errno> {
        poll(&mut [PollFd::new(&self.set, PollFlags::IN)], timeout)?;
        self.look(events)
    }
}

impl Events {
    /// Records the result of a call that has filled the buffer, or failed.
    #[inline]
    fn take(&mut self, result: libc::c_long) -> Result<(), Errno> {
        self.len = usize::try_from(result).unwrap_or(0).min(MOST_EVENTS);
        if result >= 0 { Ok(()) } else { Err(last_error()) }
    }
}

fn last_error() -> Errno {
    Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::INVAL)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::time::Instant;

    type Wait = fn(&Epoll, Option<&Timespec>, &mut Events) -> Result<(), Errno>;

    /// Both ways end by the bell, however often it was rung before, and by time.
    #[test]
    fn both_ways_of_waiting_do_the_same() {
        let ways: [Wait; 2] = [Epoll::wait_in_one, Epoll::wait_in_two];
        for wait in ways {
            let (epoll, events) = (Epoll::new().unwrap(), &mut Events::new());
            let time = Timespec::try_from(Duration::from_millis(3)).unwrap();
            if wait(&epoll, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }), events) == Err(Errno::NOSYS) {
                // A kernel before 5.11, or an emulator of one.
                continue;
            }
            for _ in 0..3 {
                epoll.ring();
                epoll.ring();
                // It would wait for ever if it missed the bell.
                wait(&epoll, None, events).unwrap();
                let begun = Instant::now();
                wait(&epoll, Some(&time), events).unwrap();
                assert!(begun.elapsed() >= Duration::from_millis(3), "the bell is heard once");
            }
        }
    }
}
