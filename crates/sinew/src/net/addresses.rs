//! Addresses that are tried one after the other, and how they come from the kernel. Knows no sockets.

use std::io;
use std::net::SocketAddr;

use rustix::net::SocketAddrAny;

use super::to_socket_addrs::ToSocketAddrs;

/// The first success; the last error, if there is none.
///
/// # Errors
///
/// As `attempt` has them, and if there is no address.
#[track_caller]
pub(super) fn try_each<A: ToSocketAddrs, R>(
    addr: A,
    mut attempt: impl FnMut(SocketAddr) -> io::Result<R>,
) -> io::Result<R> {
    let mut last = None;
    for addr in addr.to_socket_addrs()? {
        match attempt(addr) {
            Ok(result) => return Ok(result),
            Err(error) => last = Some(error),
        }
    }
    Err(or_none(last))
}

/// The last error; if there is none, there was no address.
pub(super) fn or_none(last: Option<io::Error>) -> io::Error {
    last.unwrap_or_else(|| none("could not resolve to any addresses"))
}

/// The first one.
///
/// # Errors
///
/// If there is none, or they cannot be found out.
#[track_caller]
pub(super) fn first<A: ToSocketAddrs>(addr: A) -> io::Result<SocketAddr> {
    addr.to_socket_addrs()?.next().ok_or_else(|| none("no addresses to send data to"))
}

/// As std has it.
///
/// # Errors
///
/// If it is of another kind.
pub(super) fn from_kernel(addr: Option<SocketAddrAny>) -> io::Result<SocketAddr> {
    let addr = addr.ok_or_else(|| none("invalid argument"))?;
    Ok(SocketAddr::try_from(addr)?)
}

#[cold]
fn none(text: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, text)
}
