//! Tries several addresses in turn, and converts addresses from the kernel's form. Knows no
//! sockets.

use std::io;
use std::net::SocketAddr;

use rustix::net::SocketAddrAny;

use super::to_socket_addrs::ToSocketAddrs;

/// Returns the first success of `attempt`, or the last error if there is none.
///
/// # Errors
///
/// Returns the last error of `attempt`, and an error if there is no address.
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

/// Returns the last error, or the error that says that there was no address.
pub(super) fn or_none(last: Option<io::Error>) -> io::Error {
    last.unwrap_or_else(|| none("could not resolve to any addresses"))
}

/// Returns the first address.
///
/// # Errors
///
/// Returns an error if there is no address, or if the name cannot be resolved.
#[track_caller]
pub(super) fn first<A: ToSocketAddrs>(addr: A) -> io::Result<SocketAddr> {
    addr.to_socket_addrs()?.next().ok_or_else(|| none("no addresses to send data to"))
}

/// Converts an address to std's type.
///
/// # Errors
///
/// Returns an error if the address is missing or of another family.
pub(super) fn from_kernel(addr: Option<SocketAddrAny>) -> io::Result<SocketAddr> {
    let addr = addr.ok_or_else(|| none("invalid argument"))?;
    Ok(SocketAddr::try_from(addr)?)
}

#[cold]
fn none(text: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, text)
}
