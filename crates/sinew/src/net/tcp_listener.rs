//! A socket that accepts TCP connections.

use std::io;
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::accepting::{Accepting, Accepts};
use super::connections::Connections;
use super::incoming::Incoming;
use super::tcp_stream::TcpStream;
use super::to_socket_addrs::ToSocketAddrs;
use super::{addresses, calls};
use crate::io::{IoHandle, Patience, adopt, descriptor};
use crate::rt::io::Direction;

/// A socket that accepts TCP connections: [`std::net::TcpListener`], for fibers and threads.
/// Dropping it closes it.
///
/// Any number of fibers and threads may accept at once. Each connection goes to one of them.
///
/// Differences from std:
///
/// - Calls observe [cancellation and deadlines](super#stopping).
/// - The descriptor is non-blocking as long as it is ours. If a [clone](Self::try_clone) becomes
///   std's, the descriptor blocks again for all clones. [`accept`](Self::accept) then asks first
///   whether a connection is ready. It may still block its worker if another thread accepts that
///   connection first.
/// - A time-out that was set on the descriptor before it became ours (std has no method for that)
///   is observed, and accepted connections inherit it, as with std. Setting it later through the
///   descriptor has no effect.
/// - [`close`](Self::close) ends calls that wait on other fibers or threads, and
///   [`connections`](Self::connections) is made for servers.
///
/// ```
/// use sinew::fiber;
/// use sinew::net::{TcpListener, TcpStream};
/// use std::io::{Read, Write};
///
/// let listener = TcpListener::bind("127.0.0.1:0")?;
/// let addr = listener.local_addr()?;
/// let server = fiber::spawn(move || {
///     for stream in listener.incoming().take(3) {
///         let mut stream = stream.unwrap();
///         fiber::spawn(move || stream.write_all(b"hello"));
///     }
/// });
/// for _ in 0..3 {
///     let mut text = String::new();
///     TcpStream::connect(addr)?.read_to_string(&mut text)?;
///     assert_eq!(text, "hello");
/// }
/// server.join().unwrap();
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct TcpListener {
    pub(super) handle: IoHandle<std::net::TcpListener>,
    /// Whether a clone has become std's while others are ours: the descriptor may block.
    is_lent: Arc<AtomicBool>,
}

descriptor!(TcpListener, std::net::TcpListener, |listener| Self::adopted(listener), |listener| listener
    .into_std());

impl TcpListener {
    /// Wraps a new listener, whose options are at their defaults.
    pub(super) fn fresh(listener: std::net::TcpListener) -> Self {
        Self::new(IoHandle::new(listener))
    }

    fn adopted(listener: std::net::TcpListener) -> Self {
        let handle = adopt(listener);
        // The connections have the listener's protocol.
        handle.distrust_unless_tcp();
        Self::new(handle)
    }

    fn new(handle: IoHandle<std::net::TcpListener>) -> Self {
        // This fails only if the descriptor is no socket. Its calls report that.
        let _ = handle.get().set_nonblocking(true);
        Self { handle, is_lent: Arc::default() }
    }

    fn into_std(self) -> std::net::TcpListener {
        let is_nonblocking = self.handle.settings().is_nonblocking();
        if Arc::strong_count(&self.is_lent) > 1 {
            // Relaxed: an `accept` at the same time may block in any case, with the old value or
            // the new.
            self.is_lent.store(true, Ordering::Relaxed);
        }
        let listener = self.handle.into_inner();
        // This fails only if the descriptor is no socket, as above.
        let _ = listener.set_nonblocking(is_nonblocking);
        listener
    }

    /// Creates a listener at the first of these addresses that can be bound. Its queue holds 128
    /// connections, as std's does; [`ListenOptions`](super::ListenOptions) can change this and
    /// more.
    ///
    /// # Errors
    ///
    /// Returns the error of the last address if none can be bound, for example because the port is
    /// in use; [`InvalidInput`](io::ErrorKind::InvalidInput) if there is no address; and an error
    /// if a name has to be resolved and the caller is stopped.
    ///
    /// # Panics
    ///
    /// Panics if a name has to be resolved and the caller is inside
    /// [`no_suspend`](crate::fiber::no_suspend).
    #[track_caller]
    pub fn bind<A: ToSocketAddrs>(addr: A) -> io::Result<Self> {
        addresses::try_each(addr, std::net::TcpListener::bind).map(Self::fresh)
    }

    /// Returns the address of this listener, with the port that the system chose if 0 was given.
    ///
    /// # Errors
    ///
    /// Returns any error of the system call.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.handle.get().local_addr()
    }

    /// Returns another handle to the same socket, with its own descriptor. Settings apply to both;
    /// [`close`](Self::close) closes only one.
    ///
    /// # Errors
    ///
    /// Returns an error if the process has too many descriptors.
    pub fn try_clone(&self) -> io::Result<Self> {
        let handle = self.handle.clone_of(self.handle.get().try_clone()?);
        Ok(Self { handle, is_lent: self.is_lent.clone() })
    }

    /// Waits for a connection. Returns it, and the address of the peer.
    ///
    /// # Errors
    ///
    /// Returns any error of the system call, for example if the peer gave the connection up before
    /// it was accepted, or if the process has too many descriptors; and an error if the caller is
    /// stopped. With too many descriptors, the next call fails at once too;
    /// [`connections`](Self::connections) pauses between such attempts.
    ///
    /// # Panics
    ///
    /// Panics if the caller has to wait and is inside [`no_suspend`](crate::fiber::no_suspend).
    #[track_caller]
    pub fn accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
        self.handle.call(Direction::Read, Patience::AsSet, |socket| self.attempt(socket))
    }

    fn attempt(&self, socket: &std::net::TcpListener) -> io::Result<(TcpStream, SocketAddr)> {
        if self.is_lent.load(Ordering::Relaxed) && !is_ready(socket)? {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let (stream, addr) = calls::accept(socket)?;
        let handle = self.handle.accepted(stream.into());
        Ok((TcpStream { handle }, addresses::from_kernel(addr)?))
    }

    /// Returns an iterator that calls [`accept`](Self::accept) in a loop.
    pub fn incoming(&self) -> Incoming<'_> {
        Incoming { listener: self }
    }

    /// Returns an iterator that accepts connections for the lifetime of a server. std has no such
    /// method.
    ///
    /// The iterator skips connections that failed. If descriptors or memory run out, it reports
    /// that once on standard error, and tries again after growing pauses until it succeeds. It ends
    /// when the listener is [closed](Self::close) or can accept no more, or when the caller is
    /// stopped: [`Connections::error`] returns which.
    ///
    /// ```
    /// use sinew::fiber;
    /// use sinew::net::{TcpListener, TcpStream};
    ///
    /// let listener = TcpListener::bind("127.0.0.1:0")?;
    /// let addr = listener.local_addr()?;
    /// let served = fiber::scope(|scope| {
    ///     let server = scope.spawn(|| listener.connections().count());
    ///     TcpStream::connect(addr).and_then(|stream| stream.peek(&mut [0])).unwrap();
    ///     listener.close();
    ///     server.join().unwrap()
    /// });
    /// assert_eq!(served, 1);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn connections(&self) -> Connections<'_> {
        Connections { accepting: Accepting::new(self) }
    }

    /// Closes the listener. Calls that wait on other fibers or threads, and all later calls, fail
    /// with [`ConnectionAborted`](io::ErrorKind::ConnectionAborted). Connections that were not
    /// accepted are reset. Clones do not listen any more. The port is free when all clones are
    /// dropped. std has no such method.
    pub fn close(&self) {
        self.handle.close();
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

    /// Fails: this option can only be set before the socket is bound, by
    /// [`ListenOptions::only_v6`](super::ListenOptions::only_v6).
    ///
    /// # Errors
    ///
    /// Returns any error of the system call.
    #[deprecated(note = "this option can only be set before the socket is bound")]
    #[expect(deprecated, reason = "std has it")]
    pub fn set_only_v6(&self, only_v6: bool) -> io::Result<()> {
        self.handle.get().set_only_v6(only_v6)
    }

    /// Returns whether an IPv6 socket refuses IPv4 connections.
    ///
    /// # Errors
    ///
    /// Returns any error of the system call.
    #[deprecated(note = "this option can only be set before the socket is bound")]
    #[expect(deprecated, reason = "std has it")]
    pub fn only_v6(&self) -> io::Result<bool> {
        self.handle.get().only_v6()
    }

    /// Returns and clears the pending error of the socket (`SO_ERROR`).
    ///
    /// # Errors
    ///
    /// Returns any error of the system call.
    pub fn take_error(&self) -> io::Result<Option<io::Error>> {
        self.handle.get().take_error()
    }

    /// Sets whether [`accept`](Self::accept) fails with [`WouldBlock`](io::ErrorKind::WouldBlock)
    /// instead of waiting. Applies to all clones.
    ///
    /// # Errors
    ///
    /// Returns any error of the system call.
    pub fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        if self.is_lent.load(Ordering::Relaxed) {
            self.handle.get().set_nonblocking(nonblocking)?;
        }
        self.handle.settings().set_nonblocking(nonblocking);
        Ok(())
    }
}

impl Accepts for TcpListener {
    type Connection = (TcpStream, SocketAddr);

    #[track_caller]
    fn accept_waiting(&self) -> io::Result<Self::Connection> {
        self.handle.call(Direction::Read, Patience::Wait(None), |socket| self.attempt(socket))
    }

    fn name(&self) -> Option<String> {
        Some(self.local_addr().ok()?.to_string())
    }
}

/// Returns whether a connection seems to be ready.
fn is_ready(fd: impl AsFd) -> io::Result<bool> {
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    Ok(poll(&mut [PollFd::new(&fd, PollFlags::IN)], Some(&now))? > 0)
}
