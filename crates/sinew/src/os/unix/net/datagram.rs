//! A Unix socket for datagrams.

use std::io;
use std::net::Shutdown;
use std::os::unix::net::{self, SocketAddr};
use std::path::Path;

use rustix::net::RecvFlags;

use super::address::{from_kernel, to_kernel, unnamed};
use super::backoff::Backoff;
use crate::io::{IoHandle, Patience, adopt, descriptor, socket_calls};
use crate::net::calls;
use crate::rt::io::Direction;

/// A Unix socket for datagrams: [`std::os::unix::net::UnixDatagram`], for fibers and threads. The
/// [module](super) lists the differences from std.
///
/// ```
/// use sinew::fiber;
/// use sinew::os::unix::net::UnixDatagram;
///
/// let (one, other) = UnixDatagram::pair()?;
/// let receiver = fiber::spawn(move || {
///     let mut buffer = [0; 16];
///     let length = other.recv(&mut buffer)?;
///     Ok::<_, std::io::Error>(buffer[..length].to_vec())
/// });
/// one.send(b"message")?;
/// assert_eq!(receiver.join().unwrap()?, b"message");
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct UnixDatagram {
    pub(super) handle: IoHandle<net::UnixDatagram>,
}

socket_calls!(UnixDatagram, SocketAddr);

descriptor!(UnixDatagram, net::UnixDatagram, |socket| Self { handle: adopt(socket) }, |socket| socket
    .handle
    .into_inner());

impl UnixDatagram {
    /// Creates a socket bound to this path. No file may exist there.
    ///
    /// # Errors
    ///
    /// Returns the errors of std's method.
    pub fn bind<P: AsRef<Path>>(path: P) -> io::Result<Self> {
        net::UnixDatagram::bind(path).map(Self::fresh)
    }

    /// Creates a socket bound to this address.
    ///
    /// # Errors
    ///
    /// Returns the errors of std's method.
    pub fn bind_addr(socket_addr: &SocketAddr) -> io::Result<Self> {
        net::UnixDatagram::bind_addr(socket_addr).map(Self::fresh)
    }

    /// Creates a socket that is not bound.
    ///
    /// # Errors
    ///
    /// Returns the errors of std's method.
    pub fn unbound() -> io::Result<Self> {
        net::UnixDatagram::unbound().map(Self::fresh)
    }

    /// Creates two sockets that are connected to each other.
    ///
    /// # Errors
    ///
    /// Returns the errors of std's method.
    pub fn pair() -> io::Result<(Self, Self)> {
        let (one, other) = net::UnixDatagram::pair()?;
        Ok((Self::fresh(one), Self::fresh(other)))
    }

    /// Wraps a socket whose options are at their defaults.
    fn fresh(inner: net::UnixDatagram) -> Self {
        Self { handle: IoHandle::new(inner) }
    }

    /// Connects the socket to this path: [`send`](Self::send) sends there, and [`recv`](Self::recv)
    /// receives from there only.
    ///
    /// # Errors
    ///
    /// Returns the errors of std's method.
    pub fn connect<P: AsRef<Path>>(&self, path: P) -> io::Result<()> {
        self.handle.get().connect(path)
    }

    /// Connects the socket to this address: [`send`](Self::send) sends there, and
    /// [`recv`](Self::recv) receives from there only.
    ///
    /// # Errors
    ///
    /// Returns the errors of std's method.
    pub fn connect_addr(&self, socket_addr: &SocketAddr) -> io::Result<()> {
        self.handle.get().connect_addr(socket_addr)
    }

    /// Waits for a datagram. Returns its length and the sender's address. Bytes that do not fit
    /// into the buffer are lost. The address is unnamed if the sender's path is too long for std's
    /// type.
    ///
    /// # Errors
    ///
    /// Returns the errors of std's method, and an error if the caller is stopped.
    #[track_caller]
    pub fn recv_from(&self, buf: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        let (length, from) = self.handle.call(Direction::Read, Patience::AsSet, |socket| {
            let (length, from) = calls::recv_from(socket, buf, RecvFlags::empty())?;
            Ok((self.handle.unless_closed(length)?, from))
        })?;
        Ok((length, from_kernel(from.as_ref())?.map_or_else(unnamed, Ok)?))
    }

    /// Waits for a datagram. Returns its length. Bytes that do not fit into the buffer are lost.
    ///
    /// # Errors
    ///
    /// Returns the errors of std's method, and an error if the caller is stopped.
    #[track_caller]
    pub fn recv(&self, buf: &mut [u8]) -> io::Result<usize> {
        self.handle.receive(|socket| calls::recv(socket, buf, RecvFlags::empty()))
    }

    /// Sends a datagram to this path.
    ///
    /// # Errors
    ///
    /// Returns the errors of std's method, and an error if the caller is stopped.
    #[track_caller]
    pub fn send_to<P: AsRef<Path>>(&self, buf: &[u8], path: P) -> io::Result<usize> {
        self.send_to_addr(buf, &SocketAddr::from_pathname(path)?)
    }

    /// Sends a datagram to this address.
    ///
    /// # Errors
    ///
    /// Returns the errors of std's method, and an error if the caller is stopped.
    #[track_caller]
    pub fn send_to_addr(&self, buf: &[u8], socket_addr: &SocketAddr) -> io::Result<usize> {
        let address = to_kernel(socket_addr)?;
        let mut backoff = Backoff::new(self.handle.settings().resolve(Patience::AsSet, Direction::Write));
        loop {
            // A full queue of one receiver does not make this socket unready: sends to other
            // receivers need not wait.
            let sent = self.handle.call(Direction::Write, Patience::None, |socket| {
                match calls::send_to(socket, buf, &address) {
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
                    sent => sent.map(Some),
                }
            })?;
            match sent {
                Some(length) => return Ok(length),
                None => backoff.pause()?,
            }
        }
    }

    /// Sends a datagram to the connected address.
    ///
    /// # Errors
    ///
    /// Returns the errors of std's method, and an error if the caller is stopped.
    #[track_caller]
    pub fn send(&self, buf: &[u8]) -> io::Result<usize> {
        self.handle.call(Direction::Write, Patience::AsSet, |socket| calls::send(socket, buf))
    }

    /// Shuts down receiving, sending or both, for all clones. Calls that wait in these directions
    /// end.
    ///
    /// # Errors
    ///
    /// Returns the errors of std's method.
    pub fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        self.handle.get().shutdown(how)
    }

    /// Closes the socket. Calls that wait on other fibers or threads, and all later calls that send
    /// or receive, fail with [`ConnectionAborted`](io::ErrorKind::ConnectionAborted). Clones behave
    /// as after a shutdown of both directions. The descriptor is freed when this socket is dropped.
    /// std has no such method.
    pub fn close(&self) {
        self.handle.close();
    }
}
