//! The connections of a listener as an iterator, with std's interface.

use std::io;
use std::iter::FusedIterator;

use super::tcp_listener::TcpListener;
use super::tcp_stream::TcpStream;

/// Accepts connections in a loop and never ends: see [`TcpListener::incoming`].
///
/// An error is an item too, and the next item may be the same error at once, for example when the
/// process has too many descriptors. Servers should prefer
/// [`connections`](TcpListener::connections), which handles errors.
#[derive(Debug)]
#[must_use = "iterators are lazy and do nothing unless consumed"]
pub struct Incoming<'a> {
    pub(super) listener: &'a TcpListener,
}

impl Iterator for Incoming<'_> {
    type Item = io::Result<TcpStream>;

    #[track_caller]
    fn next(&mut self) -> Option<io::Result<TcpStream>> {
        Some(self.listener.accept().map(|(stream, _)| stream))
    }
}

impl FusedIterator for Incoming<'_> {}
