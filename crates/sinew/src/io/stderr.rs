//! Standard error, with the names of std. Knows not what it is: a terminal, a pipe or a file.

use std::fmt;
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::process::Stdio;
use std::sync::OnceLock;

use super::output::Output;
use super::shared_writer::{SharedWriter, WriterGuard, standard_writer};

/// What all share.
static STDERR: OnceLock<SharedWriter<Output>> = OnceLock::new();

/// Standard error, which belongs to the fiber that has locked it. As [`std::io::stderr`] otherwise:
/// it has no buffer.
///
/// ```
/// use sinew::io::{self, Write};
///
/// writeln!(io::stderr(), "something is wrong")?;
/// # Ok::<(), io::Error>(())
/// ```
///
/// What [`stdout()`](fn@super::stdout#instead-of-println) says of `println!` holds for
/// [`eprintln!`].
#[must_use]
pub fn stderr() -> Stderr {
    Stderr { inner: STDERR.get_or_init(|| SharedWriter::new(Output::new(rustix::stdio::stderr))) }
}

/// Standard error, as made by [`stderr()`]. What [`Stdout`](super::Stdout) says of its descriptor
/// and its waits holds for it too.
pub struct Stderr {
    inner: &'static SharedWriter<Output>,
}

/// Standard error, locked, as [`StdoutLock`](super::StdoutLock) is.
#[must_use = "if unused stderr will immediately unlock"]
pub struct StderrLock<'a> {
    inner: WriterGuard<'a, Output>,
}

impl Stderr {
    /// Locks it, until the guard is dropped. Neither cancellation nor a deadline ends the wait.
    #[track_caller]
    pub fn lock(&self) -> StderrLock<'static> {
        StderrLock { inner: self.inner.lock() }
    }

    /// Locks it, unless the caller has to wait for that and is to stop.
    #[track_caller]
    fn claim(&self) -> io::Result<StderrLock<'static>> {
        Ok(StderrLock { inner: self.inner.claim()? })
    }
}

standard_writer!(Stderr, StderrLock, stderr, STDERR_FILENO);
