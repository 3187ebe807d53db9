//! Reads from a descriptor that is shared with other processes. Its mode must not change, so calls
//! on it may block; this file asks the kernel before each read. Knows nothing of buffers and locks.

use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{OFlags, fcntl_getfl};

use super::handle::IoHandle;
use super::ready::check_ready;
use super::socket_settings::Patience;
use crate::blocking::blocking;
use crate::fiber;
use crate::rt::io::{Direction, check_pollable};

/// The source of standard input's bytes, chosen at the first read.
#[derive(Debug)]
pub(super) enum Input {
    /// Not read yet.
    New,
    /// A terminal, a pipe or a socket.
    Watched(IoHandle<OwnedFd>),
    /// A file, which is always ready, or a descriptor that cannot be read.
    Plain(OwnedFd),
}

impl Input {
    fn open() -> io::Result<Self> {
        // A duplicate has its own number for epoll, and stays the same file if the original is
        // replaced.
        let fd = rustix::stdio::stdin().try_clone_to_owned()?;
        // A descriptor that is not open for reading never becomes ready. A read without a wait
        // returns the kernel's error.
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
    /// Returns the end of the input if the descriptor is closed, as in std.
    #[track_caller]
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.read_once(buffer) {
            Err(error) if error.raw_os_error() == Some(libc::EBADF) => Ok(0),
            result => result,
        }
    }
}

/// Reads from a descriptor that cannot be waited for. The read may wait for the disk, so another
/// thread makes it.
fn read_plain(fd: &OwnedFd, buffer: &mut [u8]) -> io::Result<usize> {
    Ok(blocking(|| rustix::io::read(fd, buffer))?)
}
