//! Sockets with the names of [`std::net`], for fibers and threads alike.
//!
//! A program that changes its imports works as before, and a fiber that waits gives its worker to others. From a plain thread the same calls block the
//! thread. Addresses, [`Shutdown`] and errors are std's own. What is beyond std:
//!
//! | to | use |
//! | --- | --- |
//! | end what other fibers or threads wait for | [`TcpStream::close`], [`TcpListener::close`], [`UdpSocket::close`] |
//! | have several listeners share a port, or a longer queue of connections | [`ListenOptions`] |
//! | take connections for as long as a server lives, whatever happens | [`TcpListener::connections`] |
//!
//! ```
//! use sinew::fiber;
//! use sinew::net::{TcpListener, TcpStream};
//! use std::io::{Read, Write};
//!
//! let listener = TcpListener::bind("127.0.0.1:0")?;
//! let addr = listener.local_addr()?;
//! let server = fiber::spawn(move || {
//!     let (mut stream, _) = listener.accept()?;
//!     std::io::copy(&mut stream.try_clone()?, &mut stream)
//! });
//! let mut stream = TcpStream::connect(addr)?;
//! stream.write_all(b"hello")?;
//! stream.shutdown(std::net::Shutdown::Write)?;
//! let mut echo = String::new();
//! stream.read_to_string(&mut echo)?;
//! assert_eq!(echo, "hello");
//! assert_eq!(server.join().unwrap()?, 5);
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! # Stopping
//!
//! Every call that may wait observes [cancellation and deadlines](crate::fiber#stopping), whether it has to wait or not: its error is
//! [`TimedOut`](std::io::ErrorKind::TimedOut) for a deadline and [`Other`](std::io::ErrorKind::Other) for a cancel, with a
//! [`Stopped`](crate::fiber::Stopped) inside. What a time-out that is set on the socket has ended is [`WouldBlock`](std::io::ErrorKind::WouldBlock), as with
//! std on Linux. Bytes that were moved already are not lost: a call has either moved some and says how many, or none.
//!
//! A destructor is stopped as any other code is: a [`BufWriter`](std::io::BufWriter) that is dropped by a fiber which was cancelled cannot write what it has, and drops
//! that without a word. What has to go out all the same is flushed inside [`shield`](crate::fiber::shield), before the drop.
//!
//! # Many at once
//!
//! A listener has room for 128 connections that nobody has accepted yet, as std's has. Of a thousand clients that connect at once, those that find no room
//! are told nothing: their systems try again after a second, and then after longer and longer. A server that expects such crowds asks for more room, by
//! [`ListenOptions::backlog`].
//!
//! # Names
//!
//! [`ToSocketAddrs`] is a trait of our own, with the method of std's and for the same types: looking a name up may take long, and is done on a thread of
//! its own, so that the worker goes on. An address that is written out costs nothing. Types that implement std's trait are to implement ours too; code
//! that is generic over std's passes on what it finds: `TcpStream::connect(&*addr.to_socket_addrs()?.collect::<Vec<_>>())`.
//!
//! # Options
//!
//! Ours have those that std's sockets have. For others there is [`AsFd`](std::os::fd::AsFd), by which socket2's `SockRef` works with ours as with std's:
//! `SockRef::from(&stream).set_keepalive(true)`. Time-outs and `set_nonblocking` are excepted: a time-out that was set past our methods is not seen, and a
//! listener of ours must not be made to block.
//!
//! # Descriptors
//!
//! Sockets that move bytes are as std has them, and become std's at any time, by `From`. A listener does not block while it is ours, whatever
//! [`set_nonblocking`](TcpListener::set_nonblocking) says, and is as it was set when it becomes std's. That is the kernel's setting for all duplicates: those
//! that std's `try_clone` has made before, or [`AsFd`](std::os::fd::AsFd), do not block either, and still do not when ours is dropped instead of becoming std's. So for several
//! that accept on one socket, make one of ours, and the others by its [`try_clone`](TcpListener::try_clone): one that is made of a duplicate finds what ours has set,
//! and takes it for what its maker wants, so that it never waits ([`set_nonblocking`](TcpListener::set_nonblocking) mends that).

mod accepting;
mod addresses;
pub(crate) mod calls;
mod connect;
mod connections;
mod incoming;
mod listen_options;
mod raw;
mod resolve;
mod stream_writes;
mod tcp_listener;
mod tcp_stream;
mod tcp_stream_io;
mod to_socket_addrs;
mod udp_options;
mod udp_socket;

pub(crate) use accepting::{Accepting, Accepts};
pub use connections::Connections;
pub(crate) use connections::connections;
pub use incoming::Incoming;
pub use listen_options::ListenOptions;
pub(crate) use stream_writes::stream_writes;
pub use tcp_listener::TcpListener;
pub use tcp_stream::TcpStream;
pub use to_socket_addrs::ToSocketAddrs;
pub use udp_socket::UdpSocket;

pub use std::net::{
    AddrParseError, IpAddr, Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr, SocketAddrV4, SocketAddrV6,
};
