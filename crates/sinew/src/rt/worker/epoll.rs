//! What a core sleeps in, as the kernel has it: a set of descriptors, of which one is the bell that others ring. Knows no timers, nor whose the
//! descriptors are.
//!
//! A sleep ends to the microsecond, or as near as the system lets a thread's timers be (its slack, 50 µs by default). Linux has a call for
//! that since 5.11. On older kernels, and where a filter keeps that call away, the set is waited for as a descriptor, which takes two calls.
//!
//! # Safety
//!
//! Trusted with two system calls: one has no safe form, since the safe one counts in milliseconds, and the other fills the same buffer. And with taking
//! descriptors out by their numbers.
#![expect(unsafe_code, reason = "a system call that has no safe form")]

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, epoll, eventfd, poll};
use rustix::io::{Errno, write};

use super::io::{ReadyBits, Token};

/// The kernel refuses the call: it is not asked again.
static IS_OLD: AtomicBool = AtomicBool::new(false);

/// What the bell's events are told with. No [`Token`] is zero.
const BELL: u64 = 0;

/// Two of ours were made of one descriptor.
const TWICE: &str = "the descriptor is waited for through another object already: share that one, or make this of a duplicate";

/// So many events are asked for at once. If there are more, the next look has them.
const MOST_EVENTS: usize = 256;

/// A set of descriptors, with a bell in it.
#[derive(Debug)]
pub(crate) struct Epoll {
    set: OwnedFd,
    /// Never read: each write is an event of its own, since it is watched for edges.
    bell: OwnedFd,
}

/// What the kernel has told.
pub(crate) struct Events {
    buffer: [MaybeUninit<libc::epoll_event>; MOST_EVENTS],
    /// # Invariant
    ///
    /// So many at the beginning of the buffer are there.
    len: usize,
}

impl Events {
    pub(crate) const fn new() -> Self {
        Self { buffer: [const { MaybeUninit::uninit() }; MOST_EVENTS], len: 0 }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// All but those of the bell.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Token, ReadyBits)> {
        // SAFETY: the invariant of `len`.
        let told = self.buffer[..self.len].iter().map(|event| unsafe { event.assume_init() });
        told.filter(|event| event.u64 != BELL)
            .map(|event| (Token::from_raw(event.u64), ready_bits(event.events)))
    }
}

/// What an event means. That the peer has ended, or failed, or sent something urgent, comes with the bytes before it: once that is so, to have read less
/// than there was room for does not mean that all was read.
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

    /// Has the kernel tell of a descriptor, whenever something changes, under this number; and now, if it is ready.
    ///
    /// # Errors
    ///
    /// As the kernel has them; if the descriptor is in the set already, that says what to do instead.
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

    /// Has the kernel tell no more of the descriptor with this number.
    pub(crate) fn remove(&self, fd: RawFd) {
        // SAFETY: it is used for this call only, which takes any number: one that is not in the set is an error.
        let fd = unsafe { BorrowedFd::borrow_raw(fd) };
        // If it was closed meanwhile, it is not in the set any more, and there is nothing to do.
        let _ = epoll::delete(&self.set, fd);
    }

    /// Ends the wait of now, or the next one.
    #[cold]
    pub(crate) fn ring(&self) {
        // It cannot fail: the counter never gets near its limit, and the descriptor is there.
        let rung = write(&self.bell, &1_u64.to_ne_bytes());
        debug_assert!(rung.is_ok(), "a bell always rings: {rung:?}");
    }

    /// What has happened, without waiting.
    #[inline]
    pub(crate) fn look(&self, events: &mut Events) -> Result<(), Errno> {
        // Not by the C library's function of that name: a thread may be cancelled in that, which takes two exchanges to allow and forbid.
        let (call, set, no_mask) =
            (libc::SYS_epoll_pwait, self.set.as_raw_fd(), std::ptr::null::<libc::sigset_t>());
        let (buffer, most, at_once) = (events.buffer.as_mut_ptr(), MOST_EVENTS, 0);
        // SAFETY: there is room for so many events, and the mask is none.
        let result = unsafe { libc::syscall(call, set, buffer, most, at_once, no_mask, size_of::<u64>()) };
        events.take(result)
    }

    /// Waits for events for at most so long. A signal ends it too.
    pub(crate) fn wait(&self, at_most: Option<Duration>, events: &mut Events) -> io::Result<()> {
        // What is too long for the kernel is for ever.
        let timeout = at_most.and_then(|time| Timespec::try_from(time).ok());
        let is_old = IS_OLD.load(Ordering::Relaxed);
        let result = match is_old {
            true => self.wait_in_two(timeout.as_ref(), events),
            false => self.wait_in_one(timeout.as_ref(), events),
        };
        match result {
            Ok(()) | Err(Errno::INTR) => Ok(()),
            // A filter of system calls may say either. Several may find out at once.
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
        // SAFETY: there is room for so many events; the time is as the kernel has it, or none, and the mask is none.
        let result = unsafe { libc::syscall(call, set, buffer, most, timeout, no_mask, size_of::<u64>()) };
        events.take(result)
    }

    fn wait_in_two(&self, timeout: Option<&Timespec>, events: &mut Events) -> Result<(), Errno> {
        poll(&mut [PollFd::new(&self.set, PollFlags::IN)], timeout)?;
        self.look(events)
    }
}

impl Events {
    /// The kernel has put so many there, or has failed.
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
                // It would wait for ever, if it missed the bell.
                wait(&epoll, None, events).unwrap();
                let begun = Instant::now();
                wait(&epoll, Some(&time), events).unwrap();
                assert!(begun.elapsed() >= Duration::from_millis(3), "the bell is heard once");
            }
        }
    }
}
