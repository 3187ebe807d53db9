//! Streams between two.

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

/// A stream between two sockets of this machine. As [`std::os::unix::net::UnixStream`]; what differs is in the [module](super).
///
/// Fibers and threads may share it, by reference or by [clones](Self::try_clone): one reads while another writes.
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
    /// Connects to whoever listens at this path.
    ///
    /// # Errors
    ///
    /// As std's, and if the caller is to stop while the listener's backlog is full.
    #[track_caller]
    pub fn connect<P: AsRef<Path>>(path: P) -> io::Result<Self> {
        Self::connect_addr(&SocketAddr::from_pathname(path)?)
    }

    /// Connects to whoever listens at this address.
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

    /// Two that are connected to one another.
    ///
    /// # Errors
    ///
    /// As std's.
    pub fn pair() -> io::Result<(Self, Self)> {
        let (one, other) = net::UnixStream::pair()?;
        Ok((Self::fresh(one), Self::fresh(other)))
    }

    /// One for which nothing is set.
    pub(super) fn fresh(inner: net::UnixStream) -> Self {
        Self { handle: IoHandle::new(inner) }
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

impl Read for &UnixStream {
    // That a read came back short does not mean that all was read, as it does elsewhere: it ends where a descriptor was sent along.
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
