//! What was set for a socket before it became ours. Knows no kind of socket.

use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

use super::handle::Handle;
use super::unblocked::is_nonblocking;
use crate::rt::io::Direction;

/// Makes a socket ours with what is set for it. What cannot be found out, since it is no socket, is not set.
pub(crate) fn adopt<T: AsFd>(
    inner: T,
    read_timeout: impl FnOnce(&T) -> io::Result<Option<Duration>>,
    write_timeout: impl FnOnce(&T) -> io::Result<Option<Duration>>,
) -> Handle<T> {
    let handle = Handle::new(inner);
    let modes = handle.modes();
    modes.set_nonblocking(is_nonblocking(&handle).unwrap_or(false));
    modes.set_timeout(Direction::Read, read_timeout(handle.get()).unwrap_or(None));
    modes.set_timeout(Direction::Write, write_timeout(handle.get()).unwrap_or(None));
    handle
}
