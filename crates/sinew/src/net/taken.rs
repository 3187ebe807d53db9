//! What was set for a socket before it became ours. Knows no kind of socket.

use std::os::fd::{AsFd, BorrowedFd};

use rustix::fs::{OFlags, fcntl_getfl};
use rustix::net::sockopt::{Timeout, socket_timeout};

use crate::io::Handle;
use crate::rt::io::Direction;

/// Whether it was set not to block. What is no descriptor of a socket is as it is made.
pub(super) fn is_nonblocking(fd: BorrowedFd<'_>) -> bool {
    fcntl_getfl(fd).is_ok_and(|flags| flags.contains(OFlags::NONBLOCK))
}

/// Ours, with all that was set.
pub(super) fn take<T: AsFd>(inner: T) -> Handle<T> {
    let handle = Handle::new(inner);
    let (fd, modes) = (handle.as_fd(), handle.modes());
    modes.set_nonblocking(is_nonblocking(fd));
    for (direction, timeout) in [(Direction::Read, Timeout::Recv), (Direction::Write, Timeout::Send)] {
        modes.set_timeout(direction, socket_timeout(fd, timeout).unwrap_or_default());
    }
    handle
}
