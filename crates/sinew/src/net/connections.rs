//! The connections of a listener, for as long as a server lives.

use std::io;
use std::iter::FusedIterator;
use std::net::SocketAddr;

use super::accepting::Accepting;
use super::tcp_listener::TcpListener;
use super::tcp_stream::TcpStream;

/// Accepts one connection after the other: [`TcpListener::connections`].
///
/// It goes on whatever happens, until the listener is closed or the caller is to stop.
#[derive(Debug)]
#[must_use = "iterators are lazy and do nothing unless consumed"]
pub struct Connections<'a> {
    pub(super) accepting: Accepting<'a, TcpListener>,
}

impl Connections<'_> {
    /// Why it has ended, once it has: [`ConnectionAborted`](io::ErrorKind::ConnectionAborted) after [`close`](TcpListener::close), a
    /// [`Stopped`](crate::fiber::Stopped) if the caller is to stop.
    #[must_use]
    pub fn error(&self) -> Option<&io::Error> {
        self.accepting.error()
    }
}

impl Iterator for Connections<'_> {
    type Item = (TcpStream, SocketAddr);

    #[track_caller]
    fn next(&mut self) -> Option<Self::Item> {
        self.accepting.next()
    }
}

impl FusedIterator for Connections<'_> {}
