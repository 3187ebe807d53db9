//! The connections of a listener, for as long as a server lives: what to do about errors is done here.

use std::io::{self, Write, stderr};
use std::iter::FusedIterator;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use rustix::io::Errno;

use super::tcp_listener::TcpListener;
use super::tcp_stream::TcpStream;
use crate::fiber;

/// The first pause after an error, which doubles with each more.
const SHORTEST: Duration = Duration::from_millis(5);
const LONGEST: Duration = Duration::from_secs(1);
/// What fails again within that time is part of the same trouble, even if some connections were taken in between.
const QUIET: Duration = Duration::from_secs(5);

/// Accepts one connection after the other: [`TcpListener::connections`].
///
/// It goes on whatever happens, until the listener is closed or the caller is to stop.
#[derive(Debug)]
#[must_use = "iterators are lazy and do nothing unless consumed"]
pub struct Connections<'a> {
    listener: &'a TcpListener,
    pause: Duration,
    /// When there was trouble last.
    troubled: Option<Instant>,
    error: Option<io::Error>,
}

/// What an error of `accept` means for the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// This one connection came to nothing.
    Next,
    /// Others have to give something back first.
    Later,
    /// It will never get better.
    End,
}

impl<'a> Connections<'a> {
    pub(super) fn new(listener: &'a TcpListener) -> Self {
        Self { listener, pause: SHORTEST, troubled: None, error: None }
    }

    /// Why it has ended, once it has: [`ConnectionAborted`](io::ErrorKind::ConnectionAborted) after [`close`](TcpListener::close), a
    /// [`Stopped`](crate::fiber::Stopped) if the caller is to stop.
    #[must_use]
    pub fn error(&self) -> Option<&io::Error> {
        self.error.as_ref()
    }

    /// Waits a little. After that one may try again.
    ///
    /// # Errors
    ///
    /// If the caller is to stop.
    #[track_caller]
    fn back_off(&mut self, error: &io::Error) -> io::Result<()> {
        let now = Instant::now();
        if self.troubled.is_none_or(|last| now.duration_since(last) > QUIET) {
            self.tell(error);
        }
        let paused = fiber::sleep_cancellable(self.pause);
        self.troubled = Some(Instant::now());
        self.pause = (self.pause * 2).min(LONGEST);
        Ok(paused?)
    }

    fn tell(&self, error: &io::Error) {
        let at = self.listener.local_addr().map_or_else(|_| "a socket".to_owned(), |addr| addr.to_string());
        // Not by `eprintln!`, which panics if nobody reads.
        let _ = writeln!(
            stderr(),
            "sinew: {at} cannot accept connections ({error}): it tries again until it can"
        );
    }
}

impl Iterator for Connections<'_> {
    type Item = (TcpStream, SocketAddr);

    #[track_caller]
    fn next(&mut self) -> Option<Self::Item> {
        while self.error.is_none() {
            let error = match self.listener.accept_waiting() {
                Ok(connection) => {
                    self.pause = SHORTEST;
                    return Some(connection);
                }
                Err(error) => error,
            };
            self.error = match verdict(&error) {
                Verdict::Next => None,
                Verdict::Later => self.back_off(&error).err(),
                Verdict::End => Some(error),
            };
        }
        None
    }
}

impl FusedIterator for Connections<'_> {}

fn verdict(error: &io::Error) -> Verdict {
    // Those without a number are ours: it was closed, or the caller is to stop.
    let Some(errno) = Errno::from_io_error(error) else { return Verdict::End };
    match errno {
        Errno::INVAL | Errno::BADF | Errno::NOTSOCK | Errno::OPNOTSUPP | Errno::FAULT => Verdict::End,
        // What has happened to the connection, or to the network that it came through, is told by the call that would have taken it.
        Errno::CONNABORTED | Errno::CONNRESET | Errno::INTR | Errno::PROTO | Errno::NOPROTOOPT => {
            Verdict::Next
        }
        Errno::NETDOWN | Errno::NETUNREACH | Errno::HOSTDOWN | Errno::HOSTUNREACH | Errno::NONET => {
            Verdict::Next
        }
        // Too many descriptors, no memory, a firewall's refusal; and what nobody has thought of.
        _ => Verdict::Later,
    }
}
