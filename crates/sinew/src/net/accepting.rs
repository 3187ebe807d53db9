//! Taking connections for as long as a server lives: what to do about errors is done here. Knows no kind of listener.

use std::io::{self, Write, stderr};
use std::time::{Duration, Instant};

use rustix::io::Errno;

use crate::fiber;
use crate::rt;

/// The first pause after an error, which doubles with each more.
const SHORTEST: Duration = Duration::from_millis(5);
const LONGEST: Duration = Duration::from_secs(1);
/// What fails again within that time is part of the same trouble, even if some connections were taken in between.
const QUIET: Duration = Duration::from_secs(5);

/// A listener, whatever its kind.
pub(crate) trait Accepts {
    type Connection;

    /// Waits for a connection, whatever is set for it.
    ///
    /// # Errors
    ///
    /// As the kernel has them, and if the caller is to stop.
    #[track_caller]
    fn accept_waiting(&self) -> io::Result<Self::Connection>;

    /// Where it listens, for people.
    fn name(&self) -> Option<String>;
}

/// Accepts one connection after the other.
#[derive(Debug)]
pub(crate) struct Accepting<'a, L> {
    listener: &'a L,
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

impl<'a, L: Accepts> Accepting<'a, L> {
    pub(crate) fn new(listener: &'a L) -> Self {
        Self { listener, pause: SHORTEST, troubled: None, error: None }
    }

    /// Why it has ended, once it has.
    pub(crate) fn error(&self) -> Option<&io::Error> {
        self.error.as_ref()
    }

    /// The next connection; none, once it has ended.
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

    /// Waits a little. After that one may try again.
    ///
    /// # Errors
    ///
    /// If the caller is to stop.
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
        // Not by `eprintln!`, which panics if nobody reads.
        let _ = writeln!(
            stderr(),
            "sinew: {at} cannot accept connections ({error}): it tries again until it can"
        );
    }
}

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
