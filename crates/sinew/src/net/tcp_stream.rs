//! A TCP connection. Reading and writing are in `tcp_stream_io.rs`.

use std::io;
use std::net::{Shutdown, SocketAddr};
use std::time::Duration;

use rustix::net::RecvFlags;

use super::to_socket_addrs::ToSocketAddrs;
use super::{addresses, calls, connect};
use crate::io::{IoHandle, adopt, descriptor, socket_calls};

/// A TCP connection: [`std::net::TcpStream`], for fibers and threads. Dropping it closes the
/// connection.
///
/// Any number of fibers and threads may use a stream at once, by reference or through
/// [clones](Self::try_clone): one may read while another writes. Each of several readers gets some
/// of the bytes.
///
/// Differences from std:
///
/// - [`write`](std::io::Write::write) waits until all bytes are taken, also after an interruption,
///   unless it fails or the caller is stopped.
/// - Calls observe [cancellation and deadlines](super#stopping).
/// - Time-outs are set by [`set_read_timeout`](Self::set_read_timeout) and its siblings. Setting
///   them through the descriptor has no effect.
/// - [`close`](Self::close) ends calls that wait on other fibers or threads.
///
/// ```
/// use sinew::net::{TcpListener, TcpStream};
/// use std::io::{Read, Write};
///
/// sinew::run(|| {
///     let listener = TcpListener::bind("127.0.0.1:0")?;
///     let mut here = TcpStream::connect(listener.local_addr()?)?;
///     let (mut there, _) = listener.accept()?;
///     here.write_all(b"ping")?;
///     let mut buffer = [0; 4];
///     there.read_exact(&mut buffer)?;
///     assert_eq!(&buffer, b"ping");
///     Ok::<(), std::io::Error>(())
/// })?;
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct TcpStream {
    pub(crate) handle: IoHandle<std::net::TcpStream>,
}

socket_calls!(TcpStream, SocketAddr);

descriptor!(TcpStream, std::net::TcpStream, |stream| Self::adopted(stream), |stream| stream
    .handle
    .into_inner());

impl TcpStream {
    fn adopted(stream: std::net::TcpStream) -> Self {
        let handle = adopt(stream);
        handle.distrust_unless_tcp();
        Self { handle }
    }

    /// Returns std's stream, for options that only std can set.
    pub(crate) fn as_std(&self) -> &std::net::TcpStream {
        self.handle.get()
    }

    /// Connects to the first of these addresses that accepts.
    ///
    /// # Errors
    ///
    /// Returns the error of the last address if none accepts;
    /// [`InvalidInput`](io::ErrorKind::InvalidInput) if there is no address; and an error if the
    /// caller is stopped.
    ///
    /// # Panics
    ///
    /// Panics if the caller has to wait and is inside [`no_suspend`](crate::fiber::no_suspend).
    #[track_caller]
    pub fn connect<A: ToSocketAddrs>(addr: A) -> io::Result<Self> {
        let mut last = None;
        for addr in addr.to_socket_addrs()? {
            // Not `try_each`: inside its closure, `track_caller` would not name our caller in a
            // `Stopped`.
            match connect::stream(&addr, None) {
                Ok(handle) => return Ok(Self { handle }),
                Err(error) => last = Some(error),
            }
        }
        Err(addresses::or_none(last))
    }

    /// Connects to this address within `timeout`.
    ///
    /// ```
    /// use sinew::net::{TcpListener, TcpStream};
    /// use std::time::Duration;
    ///
    /// let listener = TcpListener::bind("127.0.0.1:0")?;
    /// let stream = TcpStream::connect_timeout(&listener.local_addr()?, Duration::from_secs(10))?;
    /// assert_eq!(stream.peer_addr()?, listener.local_addr()?);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns [`TimedOut`](io::ErrorKind::TimedOut) if the time expires,
    /// [`InvalidInput`](io::ErrorKind::InvalidInput) if it is zero, and otherwise the errors of
    /// [`connect`](Self::connect).
    ///
    /// # Panics
    ///
    /// As [`connect`](Self::connect).
    #[track_caller]
    pub fn connect_timeout(addr: &SocketAddr, timeout: Duration) -> io::Result<Self> {
        if timeout.is_zero() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "cannot set a 0 duration timeout"));
        }
        match connect::stream(addr, Some(timeout)) {
            Ok(handle) => Ok(Self { handle }),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Err(connect::timed_out()),
            Err(error) => Err(error),
        }
    }

    /// Shuts down reading, writing or both, for this stream and all clones. Reads that wait return
    /// the end of the stream. After a shutdown of writing, the peer reads the end.
    ///
    /// # Errors
    ///
    /// Returns an error if the stream is not connected any more.
    pub fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        self.handle.get().shutdown(how)
    }

    /// Closes the stream. Calls that wait on other fibers or threads, and all later calls that move
    /// bytes, fail with [`ConnectionAborted`](io::ErrorKind::ConnectionAborted). The connection is
    /// shut down, so that clones and the descriptor read the end of the stream. The descriptor is
    /// freed when this stream is dropped. std has no such method.
    ///
    /// ```
    /// use sinew::fiber;
    /// use sinew::net::{TcpListener, TcpStream};
    /// use std::io::{ErrorKind, Read};
    ///
    /// let listener = TcpListener::bind("127.0.0.1:0")?;
    /// let stream = TcpStream::connect(listener.local_addr()?)?;
    /// fiber::scope(|scope| {
    ///     let reader = scope.spawn(|| (&stream).read(&mut [0]));
    ///     stream.close();
    ///     assert_eq!(reader.join().unwrap().unwrap_err().kind(), ErrorKind::ConnectionAborted);
    /// });
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn close(&self) {
        self.handle.close();
    }

    /// Reads received bytes, and leaves them for the next read.
    ///
    /// ```
    /// use sinew::net::{TcpListener, TcpStream};
    /// use std::io::{Read, Write};
    ///
    /// let listener = TcpListener::bind("127.0.0.1:0")?;
    /// let mut client = TcpStream::connect(listener.local_addr()?)?;
    /// let (mut server, _) = listener.accept()?;
    /// client.write_all(b"ping")?;
    /// let mut buffer = [0; 4];
    /// assert_eq!(server.peek(&mut buffer[..1])?, 1);
    /// server.read_exact(&mut buffer)?;
    /// assert_eq!(&buffer, b"ping");
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`read`](io::Read::read).
    ///
    /// # Panics
    ///
    /// As [`connect`](Self::connect).
    #[track_caller]
    pub fn peek(&self, buf: &mut [u8]) -> io::Result<usize> {
        self.handle.receive(|socket| calls::recv(socket, buf, RecvFlags::PEEK))
    }

    /// Sets whether small writes are sent at once instead of being collected (`TCP_NODELAY`).
    ///
    /// # Errors
    ///
    /// Returns any error of the system call.
    pub fn set_nodelay(&self, nodelay: bool) -> io::Result<()> {
        self.handle.get().set_nodelay(nodelay)
    }

    /// Returns the value of [`set_nodelay`](Self::set_nodelay).
    ///
    /// # Errors
    ///
    /// Returns any error of the system call.
    pub fn nodelay(&self) -> io::Result<bool> {
        self.handle.get().nodelay()
    }

    /// Sets the time to live of packets: how many routers they may pass.
    ///
    /// # Errors
    ///
    /// Returns any error of the system call.
    pub fn set_ttl(&self, ttl: u32) -> io::Result<()> {
        self.handle.get().set_ttl(ttl)
    }

    /// Returns the value of [`set_ttl`](Self::set_ttl).
    ///
    /// # Errors
    ///
    /// Returns any error of the system call.
    pub fn ttl(&self) -> io::Result<u32> {
        self.handle.get().ttl()
    }
}
