//! Sockets that others connect to.

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

/// A socket that others connect to. As [`std::os::unix::net::UnixListener`]; what differs is in the [module](super).
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
/// As long as it is ours, calls on it do not wait in the kernel (`O_NONBLOCK`), and so they do not on its duplicates, those of other processes included.
/// When it becomes std's again, or a plain descriptor, that is as it was, or as [`set_nonblocking`](Self::set_nonblocking) has it; if there are
/// [clones](Self::try_clone), when the last of them does. If it is dropped, duplicates stay as they are; and one of ours that is made of such a duplicate never waits,
/// unless it is [told to](Self::set_nonblocking).
pub struct UnixListener {
    handle: IoHandle<net::UnixListener>,
}

descriptor!(UnixListener, net::UnixListener, |inner| Self::adopted(inner), |listener| listener
    .handle
    .into_blocking());

impl UnixListener {
    /// Listens at this path, where nothing must be yet.
    ///
    /// # Errors
    ///
    /// As std's.
    pub fn bind<P: AsRef<Path>>(path: P) -> io::Result<Self> {
        net::UnixListener::bind(path).map(Self::fresh)
    }

    /// Listens at this address.
    ///
    /// # Errors
    ///
    /// As std's.
    pub fn bind_addr(socket_addr: &SocketAddr) -> io::Result<Self> {
        net::UnixListener::bind_addr(socket_addr).map(Self::fresh)
    }

    /// One with the time-outs that are set.
    fn adopted(inner: net::UnixListener) -> Self {
        let listener = Self::fresh(inner);
        listener.handle.adopt_timeouts();
        listener
    }

    /// One for which no time-outs are set.
    fn fresh(inner: net::UnixListener) -> Self {
        Self { handle: IoHandle::nonblocking(inner) }
    }

    /// Waits for somebody who connects.
    ///
    /// # Errors
    ///
    /// As std's, and if the caller is to stop.
    #[track_caller]
    pub fn accept(&self) -> io::Result<(UnixStream, SocketAddr)> {
        taken(self.handle.call(Direction::Read, Patience::AsSet, |listener| calls::accept(listener))?)
    }

    /// Another one for the same socket. Each connection goes to one of them.
    ///
    /// # Errors
    ///
    /// As std's.
    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(Self { handle: self.handle.clone_of(self.handle.get().try_clone()?) })
    }

    /// Where it listens.
    ///
    /// # Errors
    ///
    /// As std's.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.handle.get().local_addr()
    }

    /// Has [`accept`](Self::accept) say [`WouldBlock`](io::ErrorKind::WouldBlock) instead of waiting, or wait again. For clones, too.
    ///
    /// # Errors
    ///
    /// None; std's has some.
    pub fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        self.handle.settings().set_nonblocking(nonblocking);
        Ok(())
    }

    /// Takes the error that the socket has come to, if there is one.
    ///
    /// # Errors
    ///
    /// As std's.
    pub fn take_error(&self) -> io::Result<Option<io::Error>> {
        self.handle.get().take_error()
    }

    /// All who connect, one after the other. It never ends, and an error is an item as well: a server had better use
    /// [`connections`](Self::connections).
    pub fn incoming(&self) -> Incoming<'_> {
        Incoming { listener: self }
    }

    /// Accepts one connection after the other for as long as a server lives, as [`TcpListener::connections`](crate::net::TcpListener::connections)
    /// does. Beyond std.
    ///
    /// ```
    /// use sinew::fiber;
    /// use sinew::os::linux::net::SocketAddrExt;
    /// use sinew::os::unix::net::{SocketAddr, UnixListener, UnixStream};
    /// use std::io::Read;
    ///
    /// let address = SocketAddr::from_abstract_name(format!("sinew-connections-{}", std::process::id()))?;
    /// let listener = UnixListener::bind_addr(&address)?;
    /// let served = fiber::scope(|scope| {
    ///     let server = scope.spawn(|| listener.connections().count());
    ///     UnixStream::connect_addr(&address).and_then(|mut stream| stream.read(&mut [0])).unwrap();
    ///     listener.close();
    ///     server.join().unwrap()
    /// });
    /// assert_eq!(served, 1);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn connections(&self) -> Connections<'_> {
        Connections { accepting: Accepting::new(self) }
    }

    /// Lets nobody connect any more, and has all calls fail from now on, those too that wait now on other fibers or threads: they say
    /// [`ConnectionAborted`](io::ErrorKind::ConnectionAborted). Clones find what the kernel says of a socket that was shut down.
    ///
    /// The descriptor is there until this is dropped, and the file for longer than that.
    pub fn close(&self) {
        self.handle.close();
    }
}

/// What the kernel has taken in, with the address it comes from.
fn taken((socket, address): (OwnedFd, Option<SocketAddrAny>)) -> io::Result<(UnixStream, SocketAddr)> {
    // The kernel makes it when somebody connects, and not after the one that listens: nothing is set.
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

/// All who connect to a [`UnixListener`], by [`incoming`](UnixListener::incoming).
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
