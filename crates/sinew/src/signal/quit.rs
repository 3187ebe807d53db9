//! Waiting for the end that somebody outside asks for.

use std::io;

use super::channel::channel;
use super::number::Signal;

/// Waits until somebody wants the process to end: for SIGINT (Ctrl-C), SIGTERM (`kill`) or SIGQUIT (Ctrl-\\). Returns which it was.
///
/// A fiber that waits gives its worker to others, a thread blocks. As long as somebody waits, these signals do nothing else to the process. Once all
/// who waited have returned, they do again what they did before: so, while the program ends in good order, another Ctrl-C ends it at once. Whoever
/// wants to hear of that one too makes a [`channel`].
///
/// SIGHUP is not among them, since services read their settings again for it. How to use it is shown [above](super#ending-in-good-order).
///
/// # Errors
///
/// - If the caller [is to stop](crate::fiber#stopping): [`TimedOut`](io::ErrorKind::TimedOut) for a deadline, [`Other`](io::ErrorKind::Other) for
///   a cancel, with [`Stopped`](crate::fiber::Stopped) inside.
/// - As [`channel`], if the system has no descriptor or thread left.
///
/// # Panics
///
/// If the caller would have to wait, and is inside [`no_suspend`](crate::fiber::no_suspend).
#[track_caller]
pub fn wait_for_quit_signal() -> io::Result<Signal> {
    let signals = channel([Signal::INTERRUPT, Signal::TERMINATE, Signal::QUIT])?;
    signals.recv_cancellable()?.map_err(io::Error::other)
}
