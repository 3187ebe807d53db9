//! Writing to a descriptor that is shared with other processes, and so must stay as it is: calls on
//! it may block. Asks the kernel before each. Knows nothing of buffers and locks.
//!
//! The descriptor is looked at for each write, because a program may put another one in its place.
//! A duplicate exists only while a fiber waits: a pipe whose last descriptor the program closes
//! ends at once.

use std::io::{self, Write};
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{FileType, fstat, major};
use rustix::io::Errno;
use rustix::net::{SendFlags, send};

use super::handle::IoHandle;
use super::input::check_ready;
use super::socket_settings::Patience;
use crate::rt;
use crate::rt::io::Direction;

/// How much can be written at once to a pipe that is ready: the kernel guarantees room for this
/// much, and keeps it together (`PIPE_BUF`).
const PIPE_CHUNK: usize = 4_096;

/// The major number of `/dev/null` and its like, which never block.
const MEMORY_DEVICES: u32 = 1;

/// Whether the process is about to end, so that no fiber can wait any more.
static ENDS: AtomicBool = AtomicBool::new(false);

/// Lets all later writes block, because the process is about to end.
pub(super) fn block_from_now_on() {
    // Relaxed: a write that does not see it waits, and is not part of the end.
    ENDS.store(true, Ordering::Relaxed);
}

/// Standard output or standard error, without a buffer.
#[derive(Debug)]
pub(super) struct Output {
    fd: fn() -> BorrowedFd<'static>,
}

/// What a write to a descriptor may do.
enum OutputKind {
    /// It never blocks.
    Prompt,
    /// It does not block for a small part, if the descriptor is ready.
    Pipe,
    /// It can be told not to block.
    Socket,
    /// It may block though the descriptor is ready: a terminal that has room for a part only.
    Terminal,
    /// It blocks for as long as the disk takes.
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
    /// A descriptor that is closed takes everything, as in std.
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

/// Calls `attempt` until it does not fail with [`WouldBlock`](io::ErrorKind::WouldBlock). Unlike
/// other operations, the first attempt does not observe cancellation: a fiber that is to stop can
/// say so.
fn when_ready(fd: BorrowedFd<'_>, mut attempt: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
    loop {
        match attempt() {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => wait(fd)?,
            result => return result,
        }
    }
}

/// Writes without suspending a fiber, for however long that takes.
fn write_here(fd: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<usize> {
    loop {
        match rustix::io::write(fd, bytes) {
            // The descriptor was set by others so that calls on it do not wait.
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
        // There are too many descriptors. Another thread can wait for this one.
        Err(_) => rt::blocking(|| wait_here(fd)),
    }
}
