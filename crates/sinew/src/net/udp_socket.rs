//! A UDP socket. Its options are in `udp_options.rs`.

use std::io;
use std::net::SocketAddr;

use rustix::net::RecvFlags;

use super::to_socket_addrs::ToSocketAddrs;
use super::{addresses, calls};
use crate::io::{IoHandle, Patience, adopt, descriptor, socket_calls};
use crate::rt::io::Direction;

/// A UDP socket: [`std::net::UdpSocket`], for fibers and threads.
///
/// Any number of fibers and threads may use a socket at once, by reference or through
/// [clones](Self::try_clone). Each datagram goes to one of them.
///
/// Differences from std:
///
/// - Calls observe [cancellation and deadlines](super#stopping).
/// - Time-outs are set by [`set_read_timeout`](Self::set_read_timeout) and its siblings. Setting
///   them through the descriptor has no effect.
/// - [`close`](Self::close) ends calls that wait on other fibers or threads.
///
/// ```
/// use sinew::net::UdpSocket;
///
/// sinew::run(|| {
///     let (here, there) = (UdpSocket::bind("127.0.0.1:0")?, UdpSocket::bind("127.0.0.1:0")?);
///     here.send_to(b"ping", there.local_addr()?)?;
///     let mut buffer = [0; 16];
///     let (length, from) = there.recv_from(&mut buffer)?;
///     assert_eq!((&buffer[..length], from), (&b"ping"[..], here.local_addr()?));
///     Ok::<(), std::io::Error>(())
/// })?;
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct UdpSocket {
    pub(super) handle: IoHandle<std::net::UdpSocket>,
}

socket_calls!(UdpSocket, SocketAddr);

descriptor!(UdpSocket, std::net::UdpSocket, |socket| Self { handle: adopt(socket) }, |socket| socket
    .handle
    .into_inner());

impl UdpSocket {
    /// Wraps a new socket, whose options are at their defaults.
    fn fresh(socket: std::net::UdpSocket) -> Self {
        Self { handle: IoHandle::new(socket) }
    }

    /// Creates a socket at the first of these addresses that can be bound.
    ///
    /// # Errors
    ///
    /// Returns the error of the last address if none can be bound;
    /// [`InvalidInput`](io::ErrorKind::InvalidInput) if there is no address; and an error if a name
    /// has to be resolved and the caller is stopped.
    ///
    /// # Panics
    ///
    /// Panics if a name has to be resolved and the caller is inside
    /// [`no_suspend`](crate::fiber::no_suspend).
    #[track_caller]
    pub fn bind<A: ToSocketAddrs>(addr: A) -> io::Result<Self> {
        addresses::try_each(addr, std::net::UdpSocket::bind).map(Self::fresh)
    }

    /// Waits for a datagram. Returns its length and the sender's address. Bytes that do not fit
    /// into the buffer are lost.
    ///
    /// # Errors
    ///
    /// Returns any error of the system call, and an error if a time-out expires or the caller is
    /// stopped.
    ///
    /// # Panics
    ///
    /// Panics if the caller has to wait and is inside [`no_suspend`](crate::fiber::no_suspend).
    #[track_caller]
    pub fn recv_from(&self, buf: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.receive_from(buf, RecvFlags::empty())
    }

    /// Waits for a datagram as [`recv_from`](Self::recv_from) does, but leaves it for the next
    /// receive.
    ///
    /// # Errors
    ///
    /// As [`recv_from`](Self::recv_from).
    ///
    /// # Panics
    ///
    /// As [`recv_from`](Self::recv_from).
    #[track_caller]
    pub fn peek_from(&self, buf: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.receive_from(buf, RecvFlags::PEEK)
    }

    #[track_caller]
    fn receive_from(&self, buf: &mut [u8], flags: RecvFlags) -> io::Result<(usize, SocketAddr)> {
        self.handle.call(Direction::Read, Patience::AsSet, |socket| {
            let (length, from) = calls::recv_from(socket, buf, flags)?;
            Ok((self.handle.unless_closed(length)?, addresses::from_kernel(from)?))
        })
    }

    /// Sends a datagram to the first of these addresses. Returns the number of bytes sent, which is
    /// always all of them.
    ///
    /// # Errors
    ///
    /// Returns any error of the system call, for example if the datagram is too large;
    /// [`InvalidInput`](io::ErrorKind::InvalidInput) if there is no address; and an error if a
    /// time-out expires or the caller is stopped.
    ///
    /// # Panics
    ///
    /// As [`recv_from`](Self::recv_from).
    #[track_caller]
    pub fn send_to<A: ToSocketAddrs>(&self, buf: &[u8], addr: A) -> io::Result<usize> {
        let addr = addresses::first(addr)?;
        self.handle.call(Direction::Write, Patience::AsSet, |socket| calls::send_to(socket, buf, &addr))
    }

    /// Connects the socket to the first of these addresses that can be reached. It then sends to
    /// that address, and receives from it only.
    ///
    /// ```
    /// use sinew::net::UdpSocket;
    ///
    /// let (here, there) = (UdpSocket::bind("127.0.0.1:0")?, UdpSocket::bind("127.0.0.1:0")?);
    /// here.connect(there.local_addr()?)?;
    /// here.send(b"ping")?;
    /// let mut buffer = [0; 16];
    /// assert_eq!(there.recv(&mut buffer)?, 4);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`bind`](Self::bind). Also returns any error of the system call.
    ///
    /// # Panics
    ///
    /// As [`bind`](Self::bind).
    #[track_caller]
    pub fn connect<A: ToSocketAddrs>(&self, addr: A) -> io::Result<()> {
        addresses::try_each(addr, |addr| self.handle.get().connect(addr))
    }

    /// Sends a datagram to the [connected](Self::connect) address. Returns the number of bytes
    /// sent, which is always all of them.
    ///
    /// # Errors
    ///
    /// As [`send_to`](Self::send_to). Also returns an error if the socket is not connected, or if
    /// the peer refused an earlier datagram.
    ///
    /// # Panics
    ///
    /// As [`recv_from`](Self::recv_from).
    #[track_caller]
    pub fn send(&self, buf: &[u8]) -> io::Result<usize> {
        self.handle.call(Direction::Write, Patience::AsSet, |socket| calls::send(socket, buf))
    }

    /// Waits for a datagram from the [connected](Self::connect) address. Returns its length. Bytes
    /// that do not fit into the buffer are lost.
    ///
    /// # Errors
    ///
    /// As [`recv_from`](Self::recv_from). Also returns an error if the peer refused an earlier
    /// datagram.
    ///
    /// # Panics
    ///
    /// As [`recv_from`](Self::recv_from).
    #[track_caller]
    pub fn recv(&self, buf: &mut [u8]) -> io::Result<usize> {
        self.handle.receive(|socket| calls::recv(socket, buf, RecvFlags::empty()))
    }

    /// Waits for a datagram as [`recv`](Self::recv) does, but leaves it for the next receive.
    ///
    /// # Errors
    ///
    /// As [`recv`](Self::recv).
    ///
    /// # Panics
    ///
    /// As [`recv_from`](Self::recv_from).
    #[track_caller]
    pub fn peek(&self, buf: &mut [u8]) -> io::Result<usize> {
        self.handle.receive(|socket| calls::recv(socket, buf, RecvFlags::PEEK))
    }

    /// Closes the socket. Calls that wait on other fibers or threads, and all later calls that send
    /// or receive, fail with [`ConnectionAborted`](io::ErrorKind::ConnectionAborted). Clones and
    /// the descriptor receive nothing any more. std has no such method.
    pub fn close(&self) {
        self.handle.close();
    }
}
