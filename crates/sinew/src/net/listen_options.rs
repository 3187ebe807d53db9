//! How a listener is made, where that is not as std does it.

use std::io;
use std::net::SocketAddr;

use rustix::net::{SocketFlags, SocketType, bind, listen, socket_with, sockopt};

use super::tcp_listener::TcpListener;
use super::to_socket_addrs::ToSocketAddrs;
use super::{addresses, connect};

/// How a [`TcpListener`] is made. Without any of the settings it is as [`TcpListener::bind`] makes it.
///
/// With [`reuse_port`](Self::reuse_port), as many listeners as there are workers may have one port, each with a queue of its own:
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

/// As std has it.
const BACKLOG: i32 = 128;

impl Default for ListenOptions {
    fn default() -> Self {
        Self { reuse_port: false, only_v6: None, backlog: BACKLOG }
    }
}

impl ListenOptions {
    /// As [`TcpListener::bind`] has them.
    pub fn new() -> Self {
        Self::default()
    }

    /// Others may listen at the same port, if all of them say so: the kernel shares the connections out among them (`SO_REUSEPORT`). One that is closed takes
    /// the connections along that nobody has accepted there.
    pub fn reuse_port(mut self, reuse_port: bool) -> Self {
        self.reuse_port = reuse_port;
        self
    }

    /// So many connections may wait to be accepted, if the system allows as many: 128, if nothing else is said.
    pub fn backlog(mut self, backlog: u32) -> Self {
        self.backlog = i32::try_from(backlog).unwrap_or(i32::MAX);
        self
    }

    /// Whether a socket of IPv6 refuses connections of IPv4. If nothing is said, it is as the system has it.
    pub fn only_v6(mut self, only_v6: bool) -> Self {
        self.only_v6 = Some(only_v6);
        self
    }

    /// Listens at the first of these addresses where that can be done.
    ///
    /// # Errors
    ///
    /// As [`TcpListener::bind`]; and if the settings make no sense there.
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
        // As std does: a server that is started again need not wait for the connections of the one before.
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
