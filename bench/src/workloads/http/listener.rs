//! Listeners, the same for all servers, so that none turns clients away sooner than another. Go's
//! has as much room, which is what the system allows.

use rustix::net::sockopt::set_socket_reuseport;
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, listen, socket_with};
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};

/// Connections that may wait until they are accepted.
const BACKLOG: i32 = 4_096;

/// Listens on a port of its own.
pub(super) fn one() -> TcpListener {
    at(0).expect("a place to listen")
}

/// Makes this number of listeners on one port, among which the kernel distributes the connections.
pub(super) fn sharing(listeners: usize) -> Vec<TcpListener> {
    let first = one();
    let port = port(&first);
    let others = (1..listeners).map(|_| at(port).expect("a place beside the first"));
    [first].into_iter().chain(others).collect()
}

/// Returns the port of a listener.
pub(super) fn port(listener: &TcpListener) -> u16 {
    listener.local_addr().expect("it listens").port()
}

fn at(port: u16) -> io::Result<TcpListener> {
    let socket = socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    set_socket_reuseport(&socket, true)?;
    bind(&socket, &SocketAddr::from((Ipv4Addr::LOCALHOST, port)))?;
    listen(&socket, BACKLOG)?;
    Ok(socket.into())
}

#[cfg(test)]
mod tests {
    use super::{port, sharing};

    #[test]
    fn sharing_listeners_have_one_port() {
        let listeners = sharing(3);
        assert_eq!(listeners.len(), 3);
        assert!(listeners.iter().all(|listener| port(listener) == port(&listeners[0])));
    }
}
