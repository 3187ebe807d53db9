//! Unix sockets with the names of [`std::os::unix::net`], for fibers and threads. A fiber that
//! waits yields its worker to other fibers; a plain thread blocks.
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
//! # Differences from std
//!
//! - Every wait ends with an error if the caller is [cancelled](crate::fiber#stopping) or its
//!   deadline passes. The error contains a [`Stopped`](crate::fiber::Stopped).
//! - A call that has to wait inside [`no_suspend`](crate::fiber::no_suspend) panics.
//! - [`UnixStream::close`] and its siblings end calls that wait on other fibers or threads.
//! - Time-outs and [`set_nonblocking`](UnixStream::set_nonblocking) are stored here, for a socket
//!   and its clones, and in the kernel. A socket that becomes std's, or is made of std's, keeps
//!   these settings. Settings that are made through a duplicate that is not a clone of ours have no
//!   effect here.
//! - The kernel's mode of a stream or datagram socket does not change, because each of its calls
//!   passes a flag not to wait. That of a [`UnixListener`] does, as described there.
//! - The kernel reports no event for two conditions: a listener's backlog has room again, and a
//!   receiver to which [`send_to`](UnixDatagram::send_to) sends has room again. Such calls are
//!   retried after pauses that grow from 50 µs to 10 ms. Callers that wait for this are not served
//!   in order.

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
