//! Ctrl-C and its like: the tour ends at once, and leaves the terminal as it was.

use std::io;
use std::sync::Arc;
use std::thread;

use sinew::signal::{self, Signal};

use crate::output::screen::Screen;

/// Ends the process when a signal asks for that. Processes that chapters have started end by
/// themselves: the other end of their standard input is gone.
pub(crate) fn watch(screen: &Arc<Screen>) -> io::Result<()> {
    let signals = signal::channel([Signal::INTERRUPT, Signal::TERMINATE])?;
    let screen = screen.clone();
    // A thread of its own: every worker may be busy with a chapter, and chapters start and end
    // runtimes.
    thread::Builder::new().name("interrupt".to_owned()).spawn(move || {
        if let Ok(signal) = signals.recv() {
            // The status by which a shell tells of a process that a signal has ended.
            screen.leave("interrupted", 128 + signal.as_raw());
        }
    })?;
    Ok(())
}
