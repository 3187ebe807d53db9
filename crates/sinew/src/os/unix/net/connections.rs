//! The connections of a listener, for as long as a server lives.

use std::io;
use std::iter::FusedIterator;
use std::os::unix::net::SocketAddr;

use super::listener::UnixListener;
use super::stream::UnixStream;
use crate::net::Accepting;

/// Accepts one connection after the other: [`UnixListener::connections`].
///
/// It goes on whatever happens, until the listener is closed or the caller is to stop.
#[derive(Debug)]
#[must_use = "iterators are lazy and do nothing unless consumed"]
pub struct Connections<'a> {
    pub(super) accepting: Accepting<'a, UnixListener>,
}

impl Connections<'_> {
    /// Why it has ended, once it has: [`ConnectionAborted`](io::ErrorKind::ConnectionAborted) after [`close`](UnixListener::close), a
    /// [`Stopped`](crate::fiber::Stopped) if the caller is to stop.
    #[must_use]
    pub fn error(&self) -> Option<&io::Error> {
        self.accepting.error()
    }
}

impl Iterator for Connections<'_> {
    type Item = (UnixStream, SocketAddr);

    #[track_caller]
    fn next(&mut self) -> Option<Self::Item> {
        self.accepting.next()
    }
}

impl FusedIterator for Connections<'_> {}
