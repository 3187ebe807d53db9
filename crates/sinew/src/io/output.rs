//! Writes to a descriptor that is shared with other processes. Its mode must not change, so calls
//! on it may block; this file asks the kernel before each write. Knows nothing of buffers and
//! locks.
//!
//! Each write uses the current descriptor, because the program may replace it. A duplicate exists
//! only while a fiber waits, so that a pipe ends as soon as the program closes its last descriptor.

use std::io::{self, Write};
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{FileType, fstat, major};
use rustix::io::Errno;
use rustix::net::{SendFlags, send};

use super::handle::IoHandle;
use super::ready::check_ready;
use super::socket_settings::Patience;
use crate::rt;
use crate::rt::io::Direction;

/// The size up to which a write to a ready pipe does not block: the kernel guarantees this much
/// room, and writes this much in one piece (`PIPE_BUF`).
const PIPE_CHUNK: usize = 4_096;

/// The major number of `/dev/null` and its siblings, which never block.
const MEMORY_DEVICES: u32 = 1;

/// Whether the process is ending, so that fibers can wait no more.
static ENDS: AtomicBool = AtomicBool::new(false);

/// Makes all later writes block, because the process is ending.
pub(super) fn block_from_now_on() {
    // Relaxed: a write that misses this suspends its fiber as before. The write at exit runs on the
    // thread that stores this.
    ENDS.store(true, Ordering::Relaxed);
}

/// Standard output or standard error, without a buffer.
#[derive(Debug)]
pub(super) struct Output {
    fd: fn() -> BorrowedFd<'static>,
}

/// What a write to a descriptor may do.
enum OutputKind {
    /// A write never blocks.
    Prompt,
    /// A write of at most [`PIPE_CHUNK`] bytes does not block if the descriptor is ready.
    Pipe,
    /// A write can be made non-blocking by a flag.
    Socket,
    /// A write may block although the descriptor is ready, if a terminal has room for a part only.
    Terminal,
    /// A write blocks for as long as the disk takes.
    File,
}

impl OutputKind {
    fn of(fd: BorrowedFd<'_>) -> io::Result<Self> {
        let known = fstat(fd)?;
        Ok(match FileType::from_raw_mode(known.st_mode) {
            FileType::Fifo => Self::Pipe,
            FileType::Socket => Self::Socket,
            FileType::CharacterDevice if major(known.st_rdev) == MEMORY_DEVICES => Self::Prompt,
            FileType::CharacterDevice => Self::Terminal,
            _ => Self::File,
        })
    }
}

impl Output {
    pub(super) fn new(fd: fn() -> BorrowedFd<'static>) -> Self {
        Self { fd }
    }

    fn write_once(&self, bytes: &[u8]) -> io::Result<usize> {
        let fd = (self.fd)();
        if ENDS.load(Ordering::Relaxed) || !rt::may_wait() {
            return write_here(fd, bytes);
        }
        match OutputKind::of(fd)? {
            OutputKind::Prompt => Ok(rustix::io::write(fd, bytes)?),
            OutputKind::Pipe => when_ready(fd, || {
                check_ready(fd, Direction::Write)?;
                Ok(rustix::io::write(fd, &bytes[..bytes.len().min(PIPE_CHUNK)])?)
            }),
            OutputKind::Socket => when_ready(fd, || Ok(send(fd, bytes, SendFlags::DONTWAIT)?)),
            OutputKind::Terminal => when_ready(fd, || {
                check_ready(fd, Direction::Write)?;
                Ok(rt::blocking(|| rustix::io::write(fd, bytes))?)
            }),
            OutputKind::File => Ok(rt::blocking(|| rustix::io::write(fd, bytes))?),
        }
    }
}

impl Write for Output {
    /// Succeeds if the descriptor is closed, as in std.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.write_once(bytes) {
            Err(error) if error.raw_os_error() == Some(libc::EBADF) => Ok(bytes.len()),
            result => result,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Calls `attempt` until it does not fail with [`WouldBlock`](io::ErrorKind::WouldBlock), and waits
/// in between. The first attempt does not observe cancellation, so that a stopped fiber can still
/// report that it stops.
fn when_ready(fd: BorrowedFd<'_>, mut attempt: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
    loop {
        match attempt() {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => wait(fd)?,
            result => return result,
        }
    }
}

/// Writes without suspending the fiber. Blocks the thread as long as that takes.
fn write_here(fd: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<usize> {
    loop {
        match rustix::io::write(fd, bytes) {
            // Another process has made the descriptor non-blocking.
            Err(Errno::AGAIN) => wait_here(fd)?,
            result => return Ok(result?),
        }
    }
}

fn wait_here(fd: BorrowedFd<'_>) -> io::Result<()> {
    poll(&mut [PollFd::new(&fd, PollFlags::OUT)], None)?;
    Ok(())
}

/// Waits until the descriptor is ready.
#[cold]
fn wait(fd: BorrowedFd<'_>) -> io::Result<()> {
    match fd.try_clone_to_owned() {
        Ok(copy) => IoHandle::new(copy)
            .call(Direction::Write, Patience::AsSet, |copy| check_ready(copy, Direction::Write)),
        // The process has too many descriptors. Another thread can wait for this one without a
        // duplicate.
        Err(_) => rt::blocking(|| wait_here(fd)),
    }
}
