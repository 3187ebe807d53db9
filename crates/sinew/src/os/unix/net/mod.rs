//! Sockets of one machine, with the names of [`std::os::unix::net`], for fibers and threads alike: a fiber that waits gives its worker to others, and
//! a plain thread blocks.
//!
//! ```
//! use sinew::fiber;
//! use sinew::io::{Read, Write};
//! use sinew::os::unix::net::UnixStream;
//!
//! let (mut one, mut other) = UnixStream::pair()?;
//! let echo = fiber::spawn(move || {
//!     let mut buffer = [0; 5];
//!     other.read_exact(&mut buffer)?;
//!     other.write_all(&buffer)
//! });
//! one.write_all(b"hello")?;
//! let mut answer = String::new();
//! one.read_to_string(&mut answer)?;
//! assert_eq!(answer, "hello");
//! echo.join().unwrap()?;
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! # What differs from std
//!
//! - Every wait ends with an error when its fiber is [cancelled](crate::fiber#stopping) or a deadline passes: the
//!   [`Stopped`](crate::fiber::Stopped) is inside.
//! - [`UnixStream::close`] and its like end the waits of others.
//! - Time-outs and [`set_nonblocking`](UnixStream::set_nonblocking) are kept here, for a socket and its clones, and in the kernel, too: a socket
//!   becomes std's, or comes from there, with what is set. What is set through a duplicate that is not a clone of ours is not seen.
//! - A stream and a datagram socket stay as they are for the kernel, since their calls are told one by one not to wait. A [`UnixListener`] does not:
//!   see there.
//! - For two things the kernel has no way to wait in without stopping the thread: to connect to a listener whose backlog is full, and to send a datagram by
//!   [`send_to`](UnixDatagram::send_to) to somebody who has too many unread. They are tried again after a while, which begins at 50 µs and grows to 10 ms.
//!   So those who wait for that have no order.

mod address;
mod backoff;
mod connections;
mod datagram;
mod listener;
mod raw;
mod stream;

pub use connections::Connections;
pub use datagram::UnixDatagram;
pub use listener::{Incoming, UnixListener};
pub use stream::UnixStream;

pub use std::os::unix::net::SocketAddr;
