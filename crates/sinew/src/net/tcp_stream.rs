//! A TCP connection. How bytes go through it is in `tcp_stream_io.rs`.

use std::io;
use std::net::{Shutdown, SocketAddr};
use std::time::Duration;

use rustix::net::RecvFlags;

use super::to_socket_addrs::ToSocketAddrs;
use super::{addresses, calls, connect};
use crate::io::{IoHandle, adopt, descriptor, socket_calls};

/// A TCP connection: [`std::net::TcpStream`], for fibers and threads. The connection is closed when it is dropped.
///
/// Any number of fibers and threads may use one at once, by reference or through [clones](Self::try_clone): one may read while another one writes.
/// Several that read each get some of the bytes.
///
/// What is different from std's:
///
/// - [`write`](std::io::Write::write) waits until all bytes are taken, also after an interruption,
///   unless it fails or the caller is stopped.
/// - Calls observe [cancellation and deadlines](super#stopping).
/// - A time-out is ours: one that is set past [`set_read_timeout`](Self::set_read_timeout), through the descriptor, is not seen.
/// - [`close`](Self::close) ends what others wait for.
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

    /// For what only std knows to set.
    pub(crate) fn as_std(&self) -> &std::net::TcpStream {
        self.handle.get()
    }

    /// Connects to the first of these addresses that accepts.
    ///
    /// # Errors
    ///
    /// That of the last address, if none accepts; [`InvalidInput`](io::ErrorKind::InvalidInput), if there is none; and if the caller is to stop.
    ///
    /// # Panics
    ///
    /// If the caller would have to wait, and is inside [`no_suspend`](crate::fiber::no_suspend).
    #[track_caller]
    pub fn connect<A: ToSocketAddrs>(addr: A) -> io::Result<Self> {
        let mut last = None;
        for addr in addr.to_socket_addrs()? {
            // Not by a closure, which could not say who was stopped here.
            match connect::stream(&addr, None) {
                Ok(handle) => return Ok(Self { handle }),
                Err(error) => last = Some(error),
            }
        }
        Err(addresses::or_none(last))
    }

    /// Connects to this address, in that time.
    ///
    /// # Errors
    ///
    /// [`TimedOut`](io::ErrorKind::TimedOut), if that takes longer; [`InvalidInput`](io::ErrorKind::InvalidInput), if the time is zero; and as
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

    /// Ends reading, writing or both, for this one and all clones: whoever waits to read reads the end, and the other end is told that nothing more is
    /// written.
    ///
    /// # Errors
    ///
    /// If it is not connected any more.
    pub fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        self.handle.get().shutdown(how)
    }

    /// Ends all: whoever waits on another fiber or thread gets an error, [`ConnectionAborted`](io::ErrorKind::ConnectionAborted), and so does every
    /// later call that moves bytes. The connection is shut down, so that whoever uses a clone, or the descriptor, reads the end. The descriptor is
    /// freed when this is dropped. Beyond std.
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

    /// Looks at what has come, and leaves it there for the next read.
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

    /// Whether small writes go out at once, instead of being collected.
    ///
    /// # Errors
    ///
    /// As the kernel has them.
    pub fn set_nodelay(&self, nodelay: bool) -> io::Result<()> {
        self.handle.get().set_nodelay(nodelay)
    }

    /// What [`set_nodelay`](Self::set_nodelay) has set.
    ///
    /// # Errors
    ///
    /// As the kernel has them.
    pub fn nodelay(&self) -> io::Result<bool> {
        self.handle.get().nodelay()
    }

    /// How many routers a packet may pass.
    ///
    /// # Errors
    ///
    /// As the kernel has them.
    pub fn set_ttl(&self, ttl: u32) -> io::Result<()> {
        self.handle.get().set_ttl(ttl)
    }

    /// What [`set_ttl`](Self::set_ttl) has set.
    ///
    /// # Errors
    ///
    /// As the kernel has them.
    pub fn ttl(&self) -> io::Result<u32> {
        self.handle.get().ttl()
    }
}
