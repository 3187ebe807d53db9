//! The connections of a listener as an iterator, as std has it.

use std::io;
use std::iter::FusedIterator;

use super::tcp_listener::TcpListener;
use super::tcp_stream::TcpStream;

/// Accepts one connection after the other, and never ends: [`TcpListener::incoming`].
///
/// An error is an item as well, and the next one may be the same at once: if there are too many descriptors, say. A server had better use
/// [`connections`](TcpListener::connections), which knows what to do about errors.
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
