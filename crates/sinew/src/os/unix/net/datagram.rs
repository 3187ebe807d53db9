//! Sockets that send single messages.

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

/// A socket that sends and receives single messages on this machine. As [`std::os::unix::net::UnixDatagram`]; what differs is in the
/// [module](super).
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
    /// One that others reach at this path, where nothing must be yet.
    ///
    /// # Errors
    ///
    /// As std's.
    pub fn bind<P: AsRef<Path>>(path: P) -> io::Result<Self> {
        net::UnixDatagram::bind(path).map(Self::fresh)
    }

    /// One that others reach at this address.
    ///
    /// # Errors
    ///
    /// As std's.
    pub fn bind_addr(socket_addr: &SocketAddr) -> io::Result<Self> {
        net::UnixDatagram::bind_addr(socket_addr).map(Self::fresh)
    }

    /// One without an address.
    ///
    /// # Errors
    ///
    /// As std's.
    pub fn unbound() -> io::Result<Self> {
        net::UnixDatagram::unbound().map(Self::fresh)
    }

    /// Two that are connected to one another.
    ///
    /// # Errors
    ///
    /// As std's.
    pub fn pair() -> io::Result<(Self, Self)> {
        let (one, other) = net::UnixDatagram::pair()?;
        Ok((Self::fresh(one), Self::fresh(other)))
    }

    /// One for which nothing is set.
    fn fresh(inner: net::UnixDatagram) -> Self {
        Self { handle: IoHandle::new(inner) }
    }

    /// Has [`send`](Self::send) send to this path, and [`recv`](Self::recv) receive from there only.
    ///
    /// # Errors
    ///
    /// As std's.
    pub fn connect<P: AsRef<Path>>(&self, path: P) -> io::Result<()> {
        self.handle.get().connect(path)
    }

    /// Has [`send`](Self::send) send to this address, and [`recv`](Self::recv) receive from there only.
    ///
    /// # Errors
    ///
    /// As std's.
    pub fn connect_addr(&self, socket_addr: &SocketAddr) -> io::Result<()> {
        self.handle.get().connect_addr(socket_addr)
    }

    /// Receives a message, and says who sent it. What the buffer has no room for is lost. A sender whose path is too long for std has no name.
    ///
    /// # Errors
    ///
    /// As std's, and if the caller is to stop.
    #[track_caller]
    pub fn recv_from(&self, buf: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        let (length, from) = self.handle.call(Direction::Read, Patience::AsSet, |socket| {
            let (length, from) = calls::recv_from(socket, buf, RecvFlags::empty())?;
            Ok((self.handle.unless_closed(length)?, from))
        })?;
        Ok((length, from_kernel(from.as_ref())?.map_or_else(unnamed, Ok)?))
    }

    /// Receives a message. What the buffer has no room for is lost.
    ///
    /// # Errors
    ///
    /// As std's, and if the caller is to stop.
    #[track_caller]
    pub fn recv(&self, buf: &mut [u8]) -> io::Result<usize> {
        self.handle.receive(|socket| calls::recv(socket, buf, RecvFlags::empty()))
    }

    /// Sends a message to this path.
    ///
    /// # Errors
    ///
    /// As std's, and if the caller is to stop.
    #[track_caller]
    pub fn send_to<P: AsRef<Path>>(&self, buf: &[u8], path: P) -> io::Result<usize> {
        self.send_to_addr(buf, &SocketAddr::from_pathname(path)?)
    }

    /// Sends a message to this address.
    ///
    /// # Errors
    ///
    /// As std's, and if the caller is to stop.
    #[track_caller]
    pub fn send_to_addr(&self, buf: &[u8], socket_addr: &SocketAddr) -> io::Result<usize> {
        let address = to_kernel(socket_addr)?;
        let mut backoff = Backoff::new(self.handle.settings().resolve(Patience::AsSet, Direction::Write));
        loop {
            // That one receiver has no room says nothing of this socket: others that send to somebody else need not wait.
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

    /// Sends a message to whom it is connected to.
    ///
    /// # Errors
    ///
    /// As std's, and if the caller is to stop.
    #[track_caller]
    pub fn send(&self, buf: &[u8]) -> io::Result<usize> {
        self.handle.call(Direction::Write, Patience::AsSet, |socket| calls::send(socket, buf))
    }

    /// Ends one direction or both, for all clones. Whoever waits for that hears of it.
    ///
    /// # Errors
    ///
    /// As std's.
    pub fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        self.handle.get().shutdown(how)
    }

    /// Ends both directions, and has all calls fail from now on, those too that wait now on other fibers or threads: they say
    /// [`ConnectionAborted`](io::ErrorKind::ConnectionAborted). Clones find what the kernel says of a socket that was shut down.
    ///
    /// The descriptor is there until this is dropped.
    pub fn close(&self) {
        self.handle.close();
    }
}
