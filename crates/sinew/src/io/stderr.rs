//! Standard error, with the names of std. Knows not what it is: a terminal, a pipe or a file.

use std::fmt;
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::process::Stdio;
use std::sync::OnceLock;

use super::output::Output;
use super::shared_writer::{SharedWriter, WriterGuard, standard_writer};

/// The writer that all handles share.
static STDERR: OnceLock<SharedWriter<Output>> = OnceLock::new();

/// Returns a handle to standard error. Its lock belongs to the fiber that has acquired it.
/// Otherwise as [`std::io::stderr`]: it has no buffer.
///
/// ```
/// use sinew::io::{self, Write};
///
/// writeln!(io::stderr(), "something is wrong")?;
/// # Ok::<(), io::Error>(())
/// ```
///
/// [`eprintln!`] differs from this as [described](fn@super::stdout#instead-of-println) for
/// `println!`.
#[must_use]
pub fn stderr() -> Stderr {
    Stderr { inner: STDERR.get_or_init(|| SharedWriter::new(Output::new(rustix::stdio::stderr))) }
}

/// A handle to standard error, made by [`stderr()`]. Its descriptor and its waits behave as those
/// of [`Stdout`](super::Stdout).
pub struct Stderr {
    inner: &'static SharedWriter<Output>,
}

/// A locked handle to standard error, as [`StdoutLock`](super::StdoutLock).
#[must_use = "if unused stderr will immediately unlock"]
pub struct StderrLock<'a> {
    inner: WriterGuard<'a, Output>,
}

impl Stderr {
    /// Acquires the lock until the guard is dropped. Neither cancellation nor a deadline ends the
    /// wait.
    #[track_caller]
    pub fn lock(&self) -> StderrLock<'static> {
        StderrLock { inner: self.inner.lock() }
    }

    /// Acquires the lock. If it has to wait, it observes cancellation and deadlines.
    #[track_caller]
    fn claim(&self) -> io::Result<StderrLock<'static>> {
        Ok(StderrLock { inner: self.inner.claim()? })
    }
}

standard_writer!(Stderr, StderrLock, stderr, STDERR_FILENO);
