//! The system calls that move bytes through sockets. None of them blocks: each passes the flag that
//! says so (`MSG_DONTWAIT`). The descriptor keeps std's setting, so that it, and its duplicates,
//! can become std's again. Only a listening socket has to be set to non-blocking, because `accept`
//! has no such flag.

use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsFd, OwnedFd};

use rustix::net::addr::SocketAddrArg;
use rustix::net::{
    RecvAncillaryBuffer, RecvFlags, SendAncillaryBuffer, SendFlags, SocketAddrAny, SocketFlags,
    acceptfrom_with, recv as kernel_recv, recvfrom, recvmsg, send as kernel_send, sendmsg, sendto,
};

use crate::io::slices::{MOST_SLICES, after};

/// Reads received bytes, or peeks at them.
#[inline]
pub(crate) fn recv(fd: impl AsFd, buffer: &mut [u8], flags: RecvFlags) -> io::Result<usize> {
    let (read, _) = kernel_recv(fd, buffer, flags | RecvFlags::DONTWAIT)?;
    Ok(read)
}

/// Sends bytes. The caller gets no `SIGPIPE` if the peer is gone.
#[inline]
pub(crate) fn send(fd: impl AsFd, bytes: &[u8]) -> io::Result<usize> {
    Ok(kernel_send(fd, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL)?)
}

/// Reads into several buffers. The caller checks that they have [room](crate::io::slices::room).
pub(crate) fn recv_vectored(fd: impl AsFd, buffers: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
    let most = buffers.len().min(MOST_SLICES);
    let mut none = RecvAncillaryBuffer::new(&mut []);
    Ok(recvmsg(fd, &mut buffers[..most], &mut none, RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC)?.bytes)
}

/// Sends from several buffers. The caller checks that they hold [bytes](crate::io::slices::room).
fn send_vectored(fd: impl AsFd, buffers: &[IoSlice<'_>]) -> io::Result<usize> {
    let most = buffers.len().min(MOST_SLICES);
    let mut none = SendAncillaryBuffer::new(&mut []);
    Ok(sendmsg(fd, &buffers[..most], &mut none, SendFlags::DONTWAIT | SendFlags::NOSIGNAL)?)
}

/// Sends from several buffers the bytes after the first `start`.
pub(crate) fn send_vectored_from(fd: impl AsFd, buffers: &[IoSlice<'_>], start: usize) -> io::Result<usize> {
    if start == 0 { send_vectored(fd, buffers) } else { send_vectored(fd, &after(buffers, start)) }
}

/// Receives one datagram, or peeks at it. Returns the sender's address too.
pub(crate) fn recv_from(
    fd: impl AsFd,
    buffer: &mut [u8],
    flags: RecvFlags,
) -> io::Result<(usize, Option<SocketAddrAny>)> {
    let (read, _, from) = recvfrom(fd, buffer, flags | RecvFlags::DONTWAIT)?;
    Ok((read, from))
}

/// Accepts a connection. The socket must be non-blocking.
pub(crate) fn accept(fd: impl AsFd) -> io::Result<(OwnedFd, Option<SocketAddrAny>)> {
    Ok(acceptfrom_with(fd, SocketFlags::CLOEXEC)?)
}

/// Sends one datagram to an address.
pub(crate) fn send_to(fd: impl AsFd, bytes: &[u8], to: &impl SocketAddrArg) -> io::Result<usize> {
    Ok(sendto(fd, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL, to)?)
}
