//! A Unix socket for a stream of bytes.

use std::io::{self, IoSliceMut, Read};
use std::net::Shutdown;
use std::os::unix::net::{self, SocketAddr};
use std::path::Path;

use rustix::io::ioctl_fionbio;
use rustix::net::{AddressFamily, RecvFlags, SocketFlags, SocketType, connect, socket_with};

use super::address::to_kernel;
use super::backoff::Backoff;
use crate::io::slices::room;
use crate::io::{IoHandle, Patience, adopt, descriptor, reads_exactly, socket_calls};
use crate::net::{calls, stream_writes};

/// A Unix socket for a stream of bytes: [`std::os::unix::net::UnixStream`], for fibers and threads.
/// The [module](super) lists the differences from std.
///
/// Any number of fibers and threads may use a stream at once, by reference or through
/// [clones](Self::try_clone): one may read while another writes.
///
/// ```no_run
/// use sinew::io::{self, Read, Write};
/// use sinew::os::unix::net::UnixStream;
///
/// let mut stream = UnixStream::connect("/path/to/my/socket")?;
/// stream.write_all(b"hello world")?;
/// let mut response = String::new();
/// stream.read_to_string(&mut response)?;
/// # Ok::<(), io::Error>(())
/// ```
pub struct UnixStream {
    pub(crate) handle: IoHandle<net::UnixStream>,
}

socket_calls!(UnixStream, SocketAddr);

descriptor!(UnixStream, net::UnixStream, |stream| Self { handle: adopt(stream) }, |stream| stream
    .handle
    .into_inner());

impl UnixStream {
    /// Connects to the listener at this path.
    ///
    /// # Errors
    ///
    /// Returns the errors of std's method, and an error if the caller is stopped.
    #[track_caller]
    pub fn connect<P: AsRef<Path>>(path: P) -> io::Result<Self> {
        Self::connect_addr(&SocketAddr::from_pathname(path)?)
    }

    /// Connects to the listener at this address.
    ///
    /// ```
    /// use sinew::os::linux::net::SocketAddrExt;
    /// use sinew::os::unix::net::{SocketAddr, UnixListener, UnixStream};
    ///
    /// let address = SocketAddr::from_abstract_name(format!("sinew-{}", std::process::id()))?;
    /// let listener = UnixListener::bind_addr(&address)?;
    /// let stream = UnixStream::connect_addr(&address)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`connect`](Self::connect).
    #[track_caller]
    pub fn connect_addr(socket_addr: &SocketAddr) -> io::Result<Self> {
        crate::fiber::checkpoint()?;
        let address = to_kernel(socket_addr)?;
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
        let mut backoff = Backoff::new(Patience::Wait(None));
        while let Err(error) = connect(&socket, &address).map_err(io::Error::from) {
            match error.kind() {
                io::ErrorKind::WouldBlock => backoff.pause()?,
                _ => return Err(error),
            }
        }
        ioctl_fionbio(&socket, false)?;
        Ok(Self::fresh(socket.into()))
    }

    /// Creates two streams that are connected to each other.
    ///
    /// # Errors
    ///
    /// Returns the errors of std's method.
    pub fn pair() -> io::Result<(Self, Self)> {
        let (one, other) = net::UnixStream::pair()?;
        Ok((Self::fresh(one), Self::fresh(other)))
    }

    /// Wraps a stream whose options are at their defaults.
    pub(super) fn fresh(inner: net::UnixStream) -> Self {
        Self { handle: IoHandle::new(inner) }
    }

    /// Shuts down reading, writing or both, for all clones. Calls that wait in these directions
    /// end.
    ///
    /// # Errors
    ///
    /// Returns the errors of std's method.
    pub fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        self.handle.get().shutdown(how)
    }

    /// Closes the stream. Calls that wait on other fibers or threads, and all later calls that move
    /// bytes, fail with [`ConnectionAborted`](io::ErrorKind::ConnectionAborted). Clones behave as
    /// after a shutdown of both directions. The descriptor is freed when this stream is dropped.
    /// std has no such method.
    pub fn close(&self) {
        self.handle.close();
    }
}

impl Read for &UnixStream {
    // Not `read_stream`: here a short read does not mean that the socket is empty, because a read
    // also ends where a descriptor was passed along.
    #[track_caller]
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.handle.receive(|socket| calls::recv(socket, buf, RecvFlags::empty()))
    }

    #[track_caller]
    fn read_vectored(&mut self, bufs: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        match room(bufs) {
            0 => Ok(0),
            _ => self.handle.receive(|socket| calls::recv_vectored(socket, bufs)),
        }
    }

    reads_exactly!();
}

stream_writes!(UnixStream);
