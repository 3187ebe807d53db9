//! Connects without blocking the thread. Knows no names.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, connect, socket_with};

use crate::io::{IoHandle, Patience};
use crate::rt::io::Direction;

/// Connects a new stream, with all options at their defaults.
///
/// # Errors
///
/// Returns an error if the connection fails or takes longer than `time`, and if the caller is
/// stopped.
#[track_caller]
pub(super) fn stream(addr: &SocketAddr, time: Option<Duration>) -> io::Result<IoHandle<std::net::TcpStream>> {
    // The socket is non-blocking until it is connected.
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(family(addr), SocketType::STREAM, flags, None)?;
    let handle = IoHandle::new(std::net::TcpStream::from(socket));
    handle.call(Direction::Write, Patience::Wait(time), |socket| attempt(socket, addr))?;
    handle.get().set_nonblocking(false)?;
    Ok(handle)
}

pub(super) fn family(addr: &SocketAddr) -> AddressFamily {
    if addr.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 }
}

/// Starts the connection, or asks for its state: the same system call does both.
fn attempt(socket: &std::net::TcpStream, addr: &SocketAddr) -> io::Result<()> {
    match connect(socket, addr) {
        Ok(()) | Err(Errno::ISCONN) => Ok(()),
        Err(Errno::INPROGRESS | Errno::ALREADY | Errno::INTR) => Err(io::ErrorKind::WouldBlock.into()),
        // Old kernels return this when no port is left. Waiting does not help.
        Err(Errno::AGAIN) => Err(Errno::ADDRNOTAVAIL.into()),
        Err(error) => Err(error.into()),
    }
}

/// Returns the error for an attempt that took too long, with std's text.
pub(super) fn timed_out() -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, "connection timed out")
}
