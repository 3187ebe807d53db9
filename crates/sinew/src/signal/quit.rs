//! Waits for a signal that asks the process to end.

use std::io;

use super::channel::channel;
use super::number::Signal;

/// Waits for a signal that asks the process to end: SIGINT (Ctrl-C), SIGTERM (`kill`) or SIGQUIT
/// (Ctrl-\\). Returns the signal.
///
/// A fiber that waits yields its worker to other fibers; a plain thread blocks. While any caller
/// waits, these signals have no other effect on the process. After all callers have returned, the
/// former actions apply again. So a second Ctrl-C ends the process at once while it is still ending
/// in good order. To receive the second signal too, make a [`channel`].
///
/// SIGHUP is not included, because services reload their settings on it. The
/// [module](super#ending-in-good-order) has an example.
///
/// # Errors
///
/// - Returns an error if the caller [is stopped](crate::fiber#stopping):
///   [`TimedOut`](io::ErrorKind::TimedOut) for a deadline and [`Other`](io::ErrorKind::Other) for a
///   cancel, with a [`Stopped`](crate::fiber::Stopped) inside.
/// - Returns an error, as [`channel`], if the system has no descriptor or thread left.
///
/// # Panics
///
/// Panics if the caller has to wait and is inside [`no_suspend`](crate::fiber::no_suspend).
#[track_caller]
pub fn wait_for_quit_signal() -> io::Result<Signal> {
    let signals = channel([Signal::INTERRUPT, Signal::TERMINATE, Signal::QUIT])?;
    signals.recv_cancellable()?.map_err(io::Error::other)
}
