//! Sockets with the names of [`std::net`], for fibers and threads.
//!
//! A program that changes its imports works as before. A fiber that waits yields its worker to
//! other fibers; on a plain thread the same calls block the thread. Addresses, [`Shutdown`] and
//! errors are std's own types. This module adds to std:
//!
//! | to | use |
//! | --- | --- |
//! | end calls that wait on other fibers or threads | [`TcpStream::close`], [`TcpListener::close`], [`UdpSocket::close`] |
//! | share a port between listeners, or lengthen the queue of connections | [`ListenOptions`] |
//! | accept connections for the lifetime of a server, in spite of errors | [`TcpListener::connections`] |
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
//! Every call that may wait observes [cancellation and deadlines](crate::fiber#stopping), even if
//! it does not have to wait. The error contains a [`Stopped`](crate::fiber::Stopped); its kind is
//! [`TimedOut`](std::io::ErrorKind::TimedOut) for a deadline and
//! [`Other`](std::io::ErrorKind::Other) for a cancel. When a time-out set on the socket expires,
//! the error is [`WouldBlock`](std::io::ErrorKind::WouldBlock), as with std on Linux. A stop does
//! not lose bytes: a call that has moved some returns their number.
//!
//! A destructor is stopped as any other code is. A cancelled fiber that drops a
//! [`BufWriter`](std::io::BufWriter) cannot write the buffered bytes, and they are lost silently.
//! Flush bytes that must be written inside [`shield`](crate::fiber::shield), before the drop.
//!
//! # Many connections at once
//!
//! A listener has a queue for 128 connections that are not accepted yet, as std's has. If a
//! thousand clients connect at once, those that do not fit into the queue get no answer: their
//! systems try again after a second, and then at growing intervals. A server that expects such
//! bursts lengthens the queue with [`ListenOptions::backlog`].
//!
//! # Names
//!
//! [`ToSocketAddrs`] is a trait of this module, with the method of std's trait and for the same
//! types. Resolving a name may take long, so it runs on a thread of its own while the worker runs
//! other fibers. Parsing a numeric address needs no thread. Types that implement std's trait should
//! implement this one too. Code that is generic over std's trait passes on the addresses:
//! `TcpStream::connect(&*addr.to_socket_addrs()?.collect::<Vec<_>>())`.
//!
//! # Options
//!
//! These sockets have the options that std's sockets have. For other options use
//! [`AsFd`](std::os::fd::AsFd): socket2's `SockRef` works with these sockets as with std's, for
//! example `SockRef::from(&stream).set_keepalive(true)`. There are two exceptions: a time-out that
//! was not set by our methods has no effect, and a listener must stay non-blocking.
//!
//! # Descriptors
//!
//! The descriptors of streams and UDP sockets are as std's, and become std's at any time by `From`.
//! The descriptor of a listener is non-blocking for the kernel, independent of
//! [`set_nonblocking`](TcpListener::set_nonblocking), until it becomes std's; then it gets the mode
//! that was set.
//!
//! The kernel's mode applies to all duplicates of a descriptor. Duplicates that were made by std's
//! `try_clone` or through [`AsFd`](std::os::fd::AsFd) are therefore non-blocking too, and remain so
//! if our listener is dropped instead of becoming std's. If several listeners accept on one socket,
//! convert one of them and make the others with its [`try_clone`](TcpListener::try_clone). A
//! listener that is made of a duplicate finds the descriptor non-blocking and takes this for the
//! user's choice, so its `accept` never waits; [`set_nonblocking`](TcpListener::set_nonblocking)
//! corrects that.

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
