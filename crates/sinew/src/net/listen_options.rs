//! Settings of a listener that std has no methods for.

use std::io;
use std::net::SocketAddr;

use rustix::net::{SocketFlags, SocketType, bind, listen, socket_with, sockopt};

use super::tcp_listener::TcpListener;
use super::to_socket_addrs::ToSocketAddrs;
use super::{addresses, connect};

/// Settings for a new [`TcpListener`]. The defaults are those of [`TcpListener::bind`].
///
/// With [`reuse_port`](Self::reuse_port), several listeners can share a port, for example one for
/// each worker. Each has its own queue:
///
/// ```
/// use sinew::net::ListenOptions;
///
/// let options = ListenOptions::new().reuse_port(true).backlog(1_024);
/// let first = options.bind("127.0.0.1:0")?;
/// let second = options.bind(first.local_addr()?)?;
/// assert_eq!(first.local_addr()?, second.local_addr()?);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "nothing listens until it is bound"]
pub struct ListenOptions {
    reuse_port: bool,
    only_v6: Option<bool>,
    backlog: i32,
}

/// The length of std's queue.
const BACKLOG: i32 = 128;

impl Default for ListenOptions {
    fn default() -> Self {
        Self { reuse_port: false, only_v6: None, backlog: BACKLOG }
    }
}

impl ListenOptions {
    /// Returns the settings of [`TcpListener::bind`].
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets whether other listeners may use the same port (`SO_REUSEPORT`). All of them have to set
    /// this. The kernel divides the connections among them. Closing a listener also closes the
    /// connections in its queue that were not accepted.
    pub fn reuse_port(mut self, reuse_port: bool) -> Self {
        self.reuse_port = reuse_port;
        self
    }

    /// Sets how many connections may wait to be accepted. The default is 128. The system may limit
    /// it further.
    pub fn backlog(mut self, backlog: u32) -> Self {
        self.backlog = i32::try_from(backlog).unwrap_or(i32::MAX);
        self
    }

    /// Sets whether an IPv6 socket refuses IPv4 connections. The default is the system's.
    pub fn only_v6(mut self, only_v6: bool) -> Self {
        self.only_v6 = Some(only_v6);
        self
    }

    /// Creates a listener at the first of these addresses that can be bound.
    ///
    /// # Errors
    ///
    /// As [`TcpListener::bind`]. Also returns an error if the settings are not valid for the
    /// address.
    ///
    /// # Panics
    ///
    /// As [`TcpListener::bind`].
    #[track_caller]
    pub fn bind<A: ToSocketAddrs>(&self, addr: A) -> io::Result<TcpListener> {
        addresses::try_each(addr, |addr| self.bind_one(&addr)).map(TcpListener::fresh)
    }

    fn bind_one(&self, addr: &SocketAddr) -> io::Result<std::net::TcpListener> {
        let family = connect::family(addr);
        let socket = socket_with(family, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
        // As std does: a restarted server need not wait for the connections of its predecessor.
        sockopt::set_socket_reuseaddr(&socket, true)?;
        if self.reuse_port {
            sockopt::set_socket_reuseport(&socket, true)?;
        }
        if let Some(only_v6) = self.only_v6 {
            sockopt::set_ipv6_v6only(&socket, only_v6)?;
        }
        bind(&socket, addr)?;
        listen(&socket, self.backlog)?;
        Ok(socket.into())
    }
}
