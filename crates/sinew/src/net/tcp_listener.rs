//! A socket that takes TCP connections in.

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

/// A socket that takes TCP connections in: [`std::net::TcpListener`], for fibers and threads. It listens no more when it is dropped.
///
/// Any number of fibers and threads may accept at once: each connection goes to one of them.
///
/// What is different from std's:
///
/// - Calls observe [cancellation and deadlines](super#stopping).
/// - The descriptor does not block while it is ours. If a [clone](Self::try_clone) becomes std's, it blocks again for all of them; [`accept`](Self::accept)
///   then asks first whether somebody is there, and may hold its worker up if another one is faster.
/// - Time-outs that were set for the descriptor before it became ours, which std has no call for, count, and connections have them too, as with std. Those
///   that are set later, through the descriptor, are not seen.
/// - [`close`](Self::close) ends what others wait for, and [`connections`](Self::connections) is for servers.
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
    /// A clone has become std's while others are ours: the descriptor may block.
    is_lent: Arc<AtomicBool>,
}

descriptor!(TcpListener, std::net::TcpListener, |listener| Self::adopted(listener), |listener| listener
    .into_std());

impl TcpListener {
    /// One that was made just now: nothing is set.
    pub(super) fn fresh(listener: std::net::TcpListener) -> Self {
        Self::new(IoHandle::new(listener))
    }

    fn adopted(listener: std::net::TcpListener) -> Self {
        let handle = adopt(listener);
        // Its connections are of its protocol.
        handle.distrust_unless_tcp();
        Self::new(handle)
    }

    fn new(handle: IoHandle<std::net::TcpListener>) -> Self {
        // What cannot be set so is no socket, and its calls say so.
        let _ = handle.get().set_nonblocking(true);
        Self { handle, is_lent: Arc::default() }
    }

    fn into_std(self) -> std::net::TcpListener {
        let is_nonblocking = self.handle.settings().is_nonblocking();
        if Arc::strong_count(&self.is_lent) > 1 {
            // Relaxed: whoever accepts meanwhile may block, whatever it sees.
            self.is_lent.store(true, Ordering::Relaxed);
        }
        let listener = self.handle.into_inner();
        // As above.
        let _ = listener.set_nonblocking(is_nonblocking);
        listener
    }

    /// Listens at the first of these addresses where that can be done, with a queue of 128 connections, as std does. [`ListenOptions`](super::ListenOptions)
    /// has other ways.
    ///
    /// # Errors
    ///
    /// That of the last address, if it can be done at none: another one may have the port; [`InvalidInput`](io::ErrorKind::InvalidInput), if there is no
    /// address; and if the caller is to stop, and a name has to be looked up.
    ///
    /// # Panics
    ///
    /// If a name has to be looked up, and the caller is inside [`no_suspend`](crate::fiber::no_suspend).
    #[track_caller]
    pub fn bind<A: ToSocketAddrs>(addr: A) -> io::Result<Self> {
        addresses::try_each(addr, std::net::TcpListener::bind).map(Self::fresh)
    }

    /// The address it listens at: with its port, if one was chosen.
    ///
    /// # Errors
    ///
    /// As the kernel has them.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.handle.get().local_addr()
    }

    /// Another handle of the same socket, with a descriptor of its own. What is set for one is set for both, [`close`](Self::close) excepted.
    ///
    /// # Errors
    ///
    /// If there are too many descriptors.
    pub fn try_clone(&self) -> io::Result<Self> {
        let handle = self.handle.clone_of(self.handle.get().try_clone()?);
        Ok(Self { handle, is_lent: self.is_lent.clone() })
    }

    /// Waits for a connection. Returns it, and the address it comes from.
    ///
    /// # Errors
    ///
    /// If the connection was given up before it could be taken, or there are too many descriptors, or as the kernel has them; and if the caller is to stop. If
    /// there are too many descriptors, the next call says so too, at once: [`connections`](Self::connections) waits a little.
    ///
    /// # Panics
    ///
    /// If the caller would have to wait, and is inside [`no_suspend`](crate::fiber::no_suspend).
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

    /// Accepts one connection after the other: [`accept`](Self::accept) in a loop.
    pub fn incoming(&self) -> Incoming<'_> {
        Incoming { listener: self }
    }

    /// Accepts one connection after the other for as long as a server lives. Beyond std.
    ///
    /// Connections that came to nothing are passed over. If there are no descriptors left, or no memory, it says so once on standard error, tries again
    /// after a while, and goes on when there are some. It ends when the listener was [closed](Self::close), or cannot accept any more, or when the
    /// caller is to stop: [`Connections::error`] says which.
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

    /// Ends all: whoever waits on another fiber or thread gets an error, [`ConnectionAborted`](io::ErrorKind::ConnectionAborted), and so does every
    /// later call. Connections that nobody has taken are reset, clones do not listen any more, and the port is free when all are dropped. Beyond std.
    pub fn close(&self) {
        self.handle.close();
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

    /// Fails: it can be set before the socket is bound only, by [`ListenOptions::only_v6`](super::ListenOptions::only_v6).
    ///
    /// # Errors
    ///
    /// As the kernel has them.
    #[deprecated(note = "this option can only be set before the socket is bound")]
    #[expect(deprecated, reason = "std has it")]
    pub fn set_only_v6(&self, only_v6: bool) -> io::Result<()> {
        self.handle.get().set_only_v6(only_v6)
    }

    /// Whether a socket of IPv6 refuses connections of IPv4.
    ///
    /// # Errors
    ///
    /// As the kernel has them.
    #[deprecated(note = "this option can only be set before the socket is bound")]
    #[expect(deprecated, reason = "std has it")]
    pub fn only_v6(&self) -> io::Result<bool> {
        self.handle.get().only_v6()
    }

    /// The error that has happened since the last one that was returned, which is forgotten by that.
    ///
    /// # Errors
    ///
    /// As the kernel has them.
    pub fn take_error(&self) -> io::Result<Option<io::Error>> {
        self.handle.get().take_error()
    }

    /// Whether [`accept`](Self::accept) fails with [`WouldBlock`](io::ErrorKind::WouldBlock) if nobody is there. For all clones.
    ///
    /// # Errors
    ///
    /// As the kernel has them.
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

/// Whether somebody seems to be there.
fn is_ready(fd: impl AsFd) -> io::Result<bool> {
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    Ok(poll(&mut [PollFd::new(&fd, PollFlags::IN)], Some(&now))? > 0)
}
