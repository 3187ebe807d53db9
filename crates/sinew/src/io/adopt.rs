//! What was set for a socket before it became ours. Knows no kind of socket.

use std::net::TcpStream;
use std::os::fd::AsFd;

use rustix::net::ipproto;
use rustix::net::sockopt::{Timeout, socket_protocol, socket_timeout};

use super::handle::IoHandle;
use super::nonblocking::is_nonblocking;
use crate::rt::io::Direction;

/// Makes a socket ours with what is set for it. What cannot be found out, since it is no socket, is not set.
pub(crate) fn adopt<T: AsFd>(inner: T) -> IoHandle<T> {
    let handle = IoHandle::new(inner);
    handle.settings().set_nonblocking(is_nonblocking(&handle).unwrap_or(false));
    handle.adopt_timeouts();
    handle
}

impl<T: AsFd> IoHandle<T> {
    /// Std takes whatever it is given: of a socket for datagrams, say, a short read leaves others; and one of several connections that are one (MPTCP) may
    /// have to be waited for.
    pub(crate) fn distrust_unless_tcp(&self) {
        if !matches!(socket_protocol(self), Ok(Some(ipproto::TCP))) {
            self.readiness().distrust_short_reads();
        }
    }

    /// Goes by the time-outs that are set for the socket: also for one that listens, for which std has no calls to set them.
    pub(crate) fn adopt_timeouts(&self) {
        let [read, write] = match self.as_fd().try_clone_to_owned().map(TcpStream::from) {
            // Std asks any socket, in a way that emulators of kernels know too.
            Ok(socket) => [socket.read_timeout(), socket.write_timeout()],
            // There are too many descriptors for that.
            Err(_) => [Timeout::Recv, Timeout::Send].map(|which| Ok(socket_timeout(self, which)?)),
        };
        self.settings().set_timeout(Direction::Read, read.unwrap_or(None));
        self.settings().set_timeout(Direction::Write, write.unwrap_or(None));
    }
}
