//! A Unix socket that accepts connections.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::{self, SocketAddr};
use std::path::Path;

use rustix::net::SocketAddrAny;

use super::address::from_kernel;
use super::connections::Connections;
use super::stream::UnixStream;
use crate::io::{IoHandle, Patience, descriptor};
use crate::net::{Accepting, Accepts, calls};
use crate::rt::io::Direction;

/// A Unix socket that accepts connections: [`std::os::unix::net::UnixListener`], for fibers and
/// threads. The [module](super) lists the differences from std.
///
/// ```
/// use sinew::fiber;
/// use sinew::io::{self, Write};
/// use sinew::os::unix::net::{UnixListener, UnixStream};
///
/// let path = std::env::temp_dir().join(format!("sinew-{}.sock", std::process::id()));
/// let listener = UnixListener::bind(&path)?;
/// let server = fiber::spawn(move || {
///     for stream in listener.incoming().take(2) {
///         fiber::spawn(move || stream?.write_all(b"welcome"));
///     }
/// });
/// for _ in 0..2 {
///     assert_eq!(io::read_to_string(UnixStream::connect(&path)?)?, "welcome");
/// }
/// server.join().unwrap();
/// std::fs::remove_file(path)?;
/// # Ok::<(), io::Error>(())
/// ```
///
/// The descriptor is non-blocking (`O_NONBLOCK`) as long as it is ours, and so are its duplicates,
/// also those in other processes. When the listener becomes std's or a plain descriptor, the
/// descriptor gets its former mode back, or the mode that
/// [`set_nonblocking`](Self::set_nonblocking) has set. With [clones](Self::try_clone), this happens
/// when the last of them is converted. If the listener is dropped instead, duplicates stay
/// non-blocking. A listener that is made of such a duplicate never waits, until
/// [`set_nonblocking(false)`](Self::set_nonblocking) is called.
pub struct UnixListener {
    handle: IoHandle<net::UnixListener>,
}

descriptor!(UnixListener, net::UnixListener, |inner| Self::adopted(inner), |listener| listener
    .handle
    .into_blocking());

impl UnixListener {
    /// Creates a listener bound to this path. No file may exist there.
    ///
    /// # Errors
    ///
    /// Returns the errors of std's method.
    pub fn bind<P: AsRef<Path>>(path: P) -> io::Result<Self> {
        net::UnixListener::bind(path).map(Self::fresh)
    }

    /// Creates a listener bound to this address.
    ///
    /// # Errors
    ///
    /// Returns the errors of std's method.
    pub fn bind_addr(socket_addr: &SocketAddr) -> io::Result<Self> {
        net::UnixListener::bind_addr(socket_addr).map(Self::fresh)
    }

    /// Wraps a listener, and observes the time-outs that are set on it.
    fn adopted(inner: net::UnixListener) -> Self {
        let listener = Self::fresh(inner);
        listener.handle.adopt_timeouts();
        listener
    }

    /// Wraps a listener without time-outs.
    fn fresh(inner: net::UnixListener) -> Self {
        Self { handle: IoHandle::nonblocking(inner) }
    }

    /// Waits for a connection. Returns it, and the address of the peer.
    ///
    /// # Errors
    ///
    /// Returns the errors of std's method, and an error if the caller is stopped.
    #[track_caller]
    pub fn accept(&self) -> io::Result<(UnixStream, SocketAddr)> {
        taken(self.handle.call(Direction::Read, Patience::AsSet, |listener| calls::accept(listener))?)
    }

    /// Returns another handle to the same socket, with its own descriptor. Each connection goes to
    /// one of the handles.
    ///
    /// # Errors
    ///
    /// Returns the errors of std's method.
    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(Self { handle: self.handle.clone_of(self.handle.get().try_clone()?) })
    }

    /// Returns the address of this listener.
    ///
    /// # Errors
    ///
    /// Returns the errors of std's method.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.handle.get().local_addr()
    }

    /// Sets whether [`accept`](Self::accept) fails with [`WouldBlock`](io::ErrorKind::WouldBlock)
    /// instead of waiting. Applies to all clones.
    ///
    /// # Errors
    ///
    /// Never fails. The result is for compatibility with std.
    pub fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        self.handle.settings().set_nonblocking(nonblocking);
        Ok(())
    }

    /// Returns and clears the pending error of the socket (`SO_ERROR`).
    ///
    /// # Errors
    ///
    /// Returns the errors of std's method.
    pub fn take_error(&self) -> io::Result<Option<io::Error>> {
        self.handle.get().take_error()
    }

    /// Returns an iterator that calls [`accept`](Self::accept) in a loop. It never ends, and an
    /// error is an item too. Servers should prefer [`connections`](Self::connections).
    pub fn incoming(&self) -> Incoming<'_> {
        Incoming { listener: self }
    }

    /// Returns an iterator that accepts connections for the lifetime of a server, as
    /// [`TcpListener::connections`](crate::net::TcpListener::connections) does. std has no such
    /// method.
    ///
    /// ```
    /// use sinew::fiber;
    /// use sinew::os::linux::net::SocketAddrExt;
    /// use sinew::os::unix::net::{SocketAddr, UnixListener, UnixStream};
    /// use std::io::Read;
    ///
    /// let name = format!("sinew-connections-{}", std::process::id());
    /// let address = SocketAddr::from_abstract_name(name)?;
    /// let listener = UnixListener::bind_addr(&address)?;
    /// let served = fiber::scope(|scope| {
    ///     let server = scope.spawn(|| listener.connections().count());
    ///     let mut stream = UnixStream::connect_addr(&address).unwrap();
    ///     stream.read(&mut [0]).unwrap();
    ///     listener.close();
    ///     server.join().unwrap()
    /// });
    /// assert_eq!(served, 1);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn connections(&self) -> Connections<'_> {
        Connections { accepting: Accepting::new(self) }
    }

    /// Closes the listener. Calls that wait on other fibers or threads, and all later calls of
    /// [`accept`](Self::accept), fail with [`ConnectionAborted`](io::ErrorKind::ConnectionAborted).
    /// New connections are refused. Clones behave as after a shutdown of the socket. The descriptor
    /// is freed when this listener is dropped; the file of a path remains. std has no such method.
    pub fn close(&self) {
        self.handle.close();
    }
}

/// Wraps a connection that the kernel has accepted, and converts the peer's address.
fn taken((socket, address): (OwnedFd, Option<SocketAddrAny>)) -> io::Result<(UnixStream, SocketAddr)> {
    // The kernel creates this socket when the peer connects. It does not inherit the listener's
    // options, so they are at their defaults.
    let stream = UnixStream::fresh(socket.into());
    let address = match from_kernel(address.as_ref())? {
        Some(address) => address,
        None => stream.peer_addr()?,
    };
    Ok((stream, address))
}

impl Accepts for UnixListener {
    type Connection = (UnixStream, SocketAddr);

    #[track_caller]
    fn accept_waiting(&self) -> io::Result<Self::Connection> {
        taken(self.handle.call(Direction::Read, Patience::Wait(None), |listener| calls::accept(listener))?)
    }

    fn name(&self) -> Option<String> {
        let address = self.local_addr().ok()?;
        Some(address.as_pathname().map_or_else(|| format!("{address:?}"), |path| path.display().to_string()))
    }
}

impl<'a> IntoIterator for &'a UnixListener {
    type Item = io::Result<UnixStream>;
    type IntoIter = Incoming<'a>;

    fn into_iter(self) -> Incoming<'a> {
        self.incoming()
    }
}

/// An iterator over the connections of a [`UnixListener`], made by
/// [`incoming`](UnixListener::incoming).
#[derive(Debug)]
#[must_use = "iterators are lazy and do nothing unless consumed"]
pub struct Incoming<'a> {
    listener: &'a UnixListener,
}

impl Iterator for Incoming<'_> {
    type Item = io::Result<UnixStream>;

    #[track_caller]
    fn next(&mut self) -> Option<io::Result<UnixStream>> {
        Some(self.listener.accept().map(|(stream, _)| stream))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (usize::MAX, None)
    }
}
