//! Reading from a descriptor that is shared with others who know nothing of us, and so must stay as it is: calls on it may wait. The kernel is asked
//! before each. Knows nothing of buffers and locks.

use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl};
use rustix::io::Errno;

use super::handle::IoHandle;
use super::socket_settings::Patience;
use crate::blocking::blocking;
use crate::fiber;
use crate::rt::io::{Direction, check_pollable};

/// Whether the descriptor is ready now.
///
/// # Errors
///
/// [`WouldBlock`](io::ErrorKind::WouldBlock), if it is not.
pub(super) fn check_ready(fd: impl AsFd, direction: Direction) -> io::Result<()> {
    let flags = match direction {
        Direction::Read => PollFlags::IN | PollFlags::PRI | PollFlags::RDHUP,
        Direction::Write => PollFlags::OUT,
    };
    let mut wanted = [PollFd::new(&fd, flags)];
    loop {
        match poll(&mut wanted, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })) {
            Ok(0) => return Err(io::ErrorKind::WouldBlock.into()),
            Ok(_) => return Ok(()),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Where the bytes of standard input come from, as of the first read.
#[derive(Debug)]
pub(super) enum Input {
    /// Nobody has read yet.
    New,
    /// A terminal, a pipe or a socket.
    Watched(IoHandle<OwnedFd>),
    /// A file, which is always ready.
    Plain(OwnedFd),
}

impl Input {
    fn open() -> io::Result<Self> {
        // A duplicate is another number for the kernel's sets, and stays what it is whatever becomes of the original.
        let fd = rustix::stdio::stdin().try_clone_to_owned()?;
        // Nobody tells when that is ready to be read which never is: the kernel says why at once.
        if fcntl_getfl(&fd)? & OFlags::RWMODE == OFlags::WRONLY {
            return Ok(Self::Plain(fd));
        }
        match check_pollable(fd.as_fd()) {
            Ok(()) => Ok(Self::Watched(IoHandle::new(fd))),
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(Self::Plain(fd)),
            Err(error) => Err(error),
        }
    }

    #[track_caller]
    fn read_once(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::New => {
                *self = Self::open()?;
                self.read_once(buffer)
            }
            Self::Watched(handle) => handle.call(Direction::Read, Patience::AsSet, |fd| {
                check_ready(fd, Direction::Read)?;
                Ok(rustix::io::read(fd, &mut *buffer)?)
            }),
            Self::Plain(fd) => {
                fiber::checkpoint()?;
                read_plain(fd, buffer)
            }
        }
    }
}

impl Read for Input {
    /// What is closed is at its end, as in std.
    #[track_caller]
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.read_once(buffer) {
            Err(error) if error.raw_os_error() == Some(libc::EBADF) => Ok(0),
            result => result,
        }
    }
}

/// Reads from what nobody can wait for. It takes as long as the disk does, and so another thread does it.
fn read_plain(fd: &OwnedFd, buffer: &mut [u8]) -> io::Result<usize> {
    Ok(blocking(|| rustix::io::read(fd, buffer))?)
}
