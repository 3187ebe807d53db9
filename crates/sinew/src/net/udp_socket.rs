//! A socket for UDP. What can be set for it is in `udp_options.rs`.

use std::io;
use std::net::SocketAddr;

use rustix::net::RecvFlags;

use super::to_socket_addrs::ToSocketAddrs;
use super::{addresses, calls};
use crate::io::{IoHandle, Patience, adopt, descriptor, socket_calls};
use crate::rt::io::Direction;

/// A socket for UDP: [`std::net::UdpSocket`], for fibers and threads.
///
/// Any number of fibers and threads may use one at once, by reference or through [clones](Self::try_clone): each datagram goes to one of them.
///
/// What is different from std's:
///
/// - Calls observe [cancellation and deadlines](super#stopping).
/// - A time-out is ours: one that is set past [`set_read_timeout`](Self::set_read_timeout), through the descriptor, is not seen.
/// - [`close`](Self::close) ends what others wait for.
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
    /// One that was made just now: nothing is set.
    fn fresh(socket: std::net::UdpSocket) -> Self {
        Self { handle: IoHandle::new(socket) }
    }

    /// Makes one with the first of these addresses that is free.
    ///
    /// # Errors
    ///
    /// That of the last address, if none is free; [`InvalidInput`](io::ErrorKind::InvalidInput), if there is none; and if the caller is to stop, and a name
    /// has to be looked up.
    ///
    /// # Panics
    ///
    /// If a name has to be looked up, and the caller is inside [`no_suspend`](crate::fiber::no_suspend).
    #[track_caller]
    pub fn bind<A: ToSocketAddrs>(addr: A) -> io::Result<Self> {
        addresses::try_each(addr, std::net::UdpSocket::bind).map(Self::fresh)
    }

    /// Waits for a datagram. Returns its length, and who has sent it. What does not fit is lost.
    ///
    /// # Errors
    ///
    /// As the kernel has them; if a time-out is over, or the caller is to stop.
    ///
    /// # Panics
    ///
    /// If the caller would have to wait, and is inside [`no_suspend`](crate::fiber::no_suspend).
    #[track_caller]
    pub fn recv_from(&self, buf: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.receive_from(buf, RecvFlags::empty())
    }

    /// [`recv_from`](Self::recv_from), which leaves the datagram there for the next one who receives.
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

    /// Sends a datagram to the first of these addresses. Returns how many bytes, which is all of them.
    ///
    /// # Errors
    ///
    /// As the kernel has them: it may be too large; [`InvalidInput`](io::ErrorKind::InvalidInput), if there is no address; if a time-out is over, or the
    /// caller is to stop.
    ///
    /// # Panics
    ///
    /// As [`recv_from`](Self::recv_from).
    #[track_caller]
    pub fn send_to<A: ToSocketAddrs>(&self, buf: &[u8], addr: A) -> io::Result<usize> {
        let addr = addresses::first(addr)?;
        self.handle.call(Direction::Write, Patience::AsSet, |socket| calls::send_to(socket, buf, &addr))
    }

    /// Has it send to the first of these addresses that can be reached, and receive from there only.
    ///
    /// # Errors
    ///
    /// As [`bind`](Self::bind), and as the kernel has them.
    ///
    /// # Panics
    ///
    /// As [`bind`](Self::bind).
    #[track_caller]
    pub fn connect<A: ToSocketAddrs>(&self, addr: A) -> io::Result<()> {
        addresses::try_each(addr, |addr| self.handle.get().connect(addr))
    }

    /// Sends a datagram to where it is [connected](Self::connect) to. Returns how many bytes, which is all of them.
    ///
    /// # Errors
    ///
    /// As [`send_to`](Self::send_to); and if it is not connected, or the other end has refused an earlier one.
    ///
    /// # Panics
    ///
    /// As [`recv_from`](Self::recv_from).
    #[track_caller]
    pub fn send(&self, buf: &[u8]) -> io::Result<usize> {
        self.handle.call(Direction::Write, Patience::AsSet, |socket| calls::send(socket, buf))
    }

    /// Waits for a datagram. Returns its length. What does not fit is lost.
    ///
    /// # Errors
    ///
    /// As [`recv_from`](Self::recv_from); and if the other end has refused an earlier one.
    ///
    /// # Panics
    ///
    /// As [`recv_from`](Self::recv_from).
    #[track_caller]
    pub fn recv(&self, buf: &mut [u8]) -> io::Result<usize> {
        self.handle.receive(|socket| calls::recv(socket, buf, RecvFlags::empty()))
    }

    /// [`recv`](Self::recv), which leaves the datagram there for the next one who receives.
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

    /// Ends all: whoever waits on another fiber or thread gets an error, [`ConnectionAborted`](io::ErrorKind::ConnectionAborted), and so does every
    /// later call that sends or receives. Whoever uses a clone, or the descriptor, receives nothing any more. Beyond std.
    pub fn close(&self) {
        self.handle.close();
    }
}
