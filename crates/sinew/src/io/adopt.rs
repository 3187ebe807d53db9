//! Reads the settings of a socket that becomes ours. Knows no kind of socket.

use std::net::TcpStream;
use std::os::fd::AsFd;

use rustix::net::ipproto;
use rustix::net::sockopt::{Timeout, socket_protocol, socket_timeout};

use super::handle::IoHandle;
use super::nonblocking::is_nonblocking;
use crate::rt::io::Direction;

/// Wraps a socket with its settings. A setting that cannot be read counts as not set, because the
/// descriptor is no socket then.
pub(crate) fn adopt<T: AsFd>(inner: T) -> IoHandle<T> {
    let handle = IoHandle::new(inner);
    handle.settings().set_nonblocking(is_nonblocking(&handle).unwrap_or(false));
    handle.adopt_timeouts();
    handle
}

impl<T: AsFd> IoHandle<T> {
    /// Stops trusting short reads unless the protocol is TCP. std's types accept any socket: after
    /// a short read, a datagram socket may have more datagrams, and a multipath connection (MPTCP)
    /// may have to be waited for.
    pub(crate) fn distrust_unless_tcp(&self) {
        if !matches!(socket_protocol(self), Ok(Some(ipproto::TCP))) {
            self.readiness().distrust_short_reads();
        }
    }

    /// Reads the time-outs that are set on the socket. Also for listeners, for which std has no
    /// such methods.
    pub(crate) fn adopt_timeouts(&self) {
        let [read, write] = match self.as_fd().try_clone_to_owned().map(TcpStream::from) {
            // std's method works on any socket, and uses an option that kernel emulators know too.
            Ok(socket) => [socket.read_timeout(), socket.write_timeout()],
            // The process has too many descriptors for a duplicate.
            Err(_) => [Timeout::Recv, Timeout::Send].map(|which| Ok(socket_timeout(self, which)?)),
        };
        self.settings().set_timeout(Direction::Read, read.unwrap_or(None));
        self.settings().set_timeout(Direction::Write, write.unwrap_or(None));
    }
}
