//! Whether a descriptor is ready now, by asking the kernel. Knows nothing of waiting.

use std::io;
use std::os::fd::AsFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::rt::io::Direction;

/// Succeeds if the descriptor is ready now.
///
/// # Errors
///
/// Returns [`WouldBlock`](io::ErrorKind::WouldBlock) if it is not ready.
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
