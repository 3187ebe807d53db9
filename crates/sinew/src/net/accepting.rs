//! Accepts connections for the lifetime of a server, and decides what to do about errors. Knows no
//! kind of listener.

use std::io::{self, Write, stderr};
use std::time::{Duration, Instant};

use rustix::io::Errno;

use crate::fiber;
use crate::rt;

/// The first pause after an error. Each further error doubles it.
const SHORTEST: Duration = Duration::from_millis(5);
/// The longest pause.
const LONGEST: Duration = Duration::from_secs(1);
/// Errors that are at most this far apart are reported once, even if connections were accepted in
/// between.
const QUIET: Duration = Duration::from_secs(5);

/// A listener of any kind.
pub(crate) trait Accepts {
    type Connection;

    /// Waits for a connection, even if the listener is set not to block.
    ///
    /// # Errors
    ///
    /// Returns any error of the system call, and an error if the caller is stopped.
    #[track_caller]
    fn accept_waiting(&self) -> io::Result<Self::Connection>;

    /// Returns the address of the listener, for messages.
    fn name(&self) -> Option<String>;
}

/// Accepts one connection after the other.
#[derive(Debug)]
pub(crate) struct Accepting<'a, L> {
    listener: &'a L,
    pause: Duration,
    /// When the last pause ended.
    troubled: Option<Instant>,
    error: Option<io::Error>,
}

/// What an error of `accept` means for the next call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// Only this connection failed: accept the next one at once.
    Next,
    /// A resource is used up: pause, then try again.
    Later,
    /// The listener cannot accept any more.
    End,
}

impl<'a, L: Accepts> Accepting<'a, L> {
    pub(crate) fn new(listener: &'a L) -> Self {
        Self { listener, pause: SHORTEST, troubled: None, error: None }
    }

    /// Returns the error that ended the iteration, if it has ended.
    pub(crate) fn error(&self) -> Option<&io::Error> {
        self.error.as_ref()
    }

    /// Returns the next connection, or `None` after the iteration has ended.
    #[track_caller]
    pub(crate) fn next(&mut self) -> Option<L::Connection> {
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

    /// Pauses before the next attempt.
    ///
    /// # Errors
    ///
    /// Returns an error if the caller is stopped.
    #[track_caller]
    fn back_off(&mut self, error: &io::Error) -> io::Result<()> {
        let now = rt::now();
        if self.troubled.is_none_or(|last| now.duration_since(last) > QUIET) {
            self.tell(error);
        }
        let paused = fiber::sleep_cancellable(self.pause);
        self.troubled = Some(rt::now());
        self.pause = (self.pause * 2).min(LONGEST);
        Ok(paused?)
    }

    fn tell(&self, error: &io::Error) {
        let at = self.listener.name();
        let at = at.as_deref().unwrap_or("a socket");
        // Not `eprintln!`, which panics if standard error is closed.
        let _ = writeln!(stderr(), "sinew: {at} cannot accept connections ({error}): retrying until it can");
    }
}

fn verdict(error: &io::Error) -> Verdict {
    // An error without a number is our own: the listener was closed, or the caller is stopped.
    let Some(errno) = Errno::from_io_error(error) else { return Verdict::End };
    match errno {
        Errno::INVAL | Errno::BADF | Errno::NOTSOCK | Errno::OPNOTSUPP | Errno::FAULT => Verdict::End,
        // The connection has failed, or the network that it came through. Linux reports such errors
        // in `accept`.
        Errno::CONNABORTED | Errno::CONNRESET | Errno::INTR | Errno::PROTO | Errno::NOPROTOOPT => {
            Verdict::Next
        }
        Errno::NETDOWN | Errno::NETUNREACH | Errno::HOSTDOWN | Errno::HOSTUNREACH | Errno::NONET => {
            Verdict::Next
        }
        // Too many descriptors, no memory, a firewall's refusal, and all errors that are not listed
        // here.
        _ => Verdict::Later,
    }
}
