//! Connecting, without blocking. Knows no names.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, connect, socket_with};

use crate::io::{IoHandle, Patience};
use crate::rt::io::Direction;

/// A connected stream, of which nothing is set.
///
/// # Errors
///
/// If it cannot be connected, or not in that time, or the caller is to stop.
#[track_caller]
pub(super) fn stream(addr: &SocketAddr, time: Option<Duration>) -> io::Result<IoHandle<std::net::TcpStream>> {
    // It does not block for as long as it is not connected.
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

/// The call that begins it also says what has become of it: one system call each time.
fn attempt(socket: &std::net::TcpStream, addr: &SocketAddr) -> io::Result<()> {
    match connect(socket, addr) {
        Ok(()) | Err(Errno::ISCONN) => Ok(()),
        Err(Errno::INPROGRESS | Errno::ALREADY | Errno::INTR) => Err(io::ErrorKind::WouldBlock.into()),
        // Old kernels say so if no port is left, which is nothing to wait for.
        Err(Errno::AGAIN) => Err(Errno::ADDRNOTAVAIL.into()),
        Err(error) => Err(error.into()),
    }
}

/// That it took too long, as std says it.
pub(super) fn timed_out() -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, "connection timed out")
}
