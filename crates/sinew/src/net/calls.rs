//! The system calls that move bytes through sockets, and never wait, whatever is set for the socket: each is told so. The descriptor stays as std has
//! it, so that it can become std's again, and so can its duplicates. Only a socket that listens has to be set not to wait, since the call that accepts
//! cannot be told.

use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsFd, OwnedFd};

use rustix::net::addr::SocketAddrArg;
use rustix::net::{
    RecvAncillaryBuffer, RecvFlags, SendAncillaryBuffer, SendFlags, SocketAddrAny, SocketFlags,
    acceptfrom_with, recv as kernel_recv, recvfrom, recvmsg, send as kernel_send, sendmsg, sendto,
};

use crate::io::slices::{MOST_SLICES, after};

/// Reads, or looks at, what has come.
#[inline]
pub(crate) fn recv(fd: impl AsFd, buffer: &mut [u8], flags: RecvFlags) -> io::Result<usize> {
    let (read, _) = kernel_recv(fd, buffer, flags | RecvFlags::DONTWAIT)?;
    Ok(read)
}

/// Sends bytes. No signal comes if the peer is gone.
#[inline]
pub(crate) fn send(fd: impl AsFd, bytes: &[u8]) -> io::Result<usize> {
    Ok(kernel_send(fd, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL)?)
}

/// Reads into several buffers, which have [room](crate::io::slices::room).
pub(crate) fn recv_vectored(fd: impl AsFd, buffers: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
    let most = buffers.len().min(MOST_SLICES);
    let mut none = RecvAncillaryBuffer::new(&mut []);
    Ok(recvmsg(fd, &mut buffers[..most], &mut none, RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC)?.bytes)
}

/// Sends from several buffers, in which there are [some](crate::io::slices::room) bytes.
fn send_vectored(fd: impl AsFd, buffers: &[IoSlice<'_>]) -> io::Result<usize> {
    let most = buffers.len().min(MOST_SLICES);
    let mut none = SendAncillaryBuffer::new(&mut []);
    Ok(sendmsg(fd, &buffers[..most], &mut none, SendFlags::DONTWAIT | SendFlags::NOSIGNAL)?)
}

/// Sends from several buffers what is behind the first `start` bytes.
pub(crate) fn send_vectored_from(fd: impl AsFd, buffers: &[IoSlice<'_>], start: usize) -> io::Result<usize> {
    if start == 0 { send_vectored(fd, buffers) } else { send_vectored(fd, &after(buffers, start)) }
}

/// Reads, or looks at, one datagram, and says who has sent it.
pub(crate) fn recv_from(
    fd: impl AsFd,
    buffer: &mut [u8],
    flags: RecvFlags,
) -> io::Result<(usize, Option<SocketAddrAny>)> {
    let (read, _, from) = recvfrom(fd, buffer, flags | RecvFlags::DONTWAIT)?;
    Ok((read, from))
}

/// Takes a connection in, from a socket that is set not to wait.
pub(crate) fn accept(fd: impl AsFd) -> io::Result<(OwnedFd, Option<SocketAddrAny>)> {
    Ok(acceptfrom_with(fd, SocketFlags::CLOEXEC)?)
}

/// Sends one datagram to somebody.
pub(crate) fn send_to(fd: impl AsFd, bytes: &[u8], to: &impl SocketAddrArg) -> io::Result<usize> {
    Ok(sendto(fd, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL, to)?)
}
