//! Standard output, with the names of std. Knows not what it is: a terminal, a pipe or a file.

use std::fmt;
use std::io::{self, LineWriter, Write};
use std::mem;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::process::Stdio;
use std::sync::OnceLock;

use super::at_exit::at_exit;
use super::output::{Output, block_from_now_on};
use super::shared_writer::{SharedWriter, WriterGuard, standard_writer};

/// The buffer that all handles share.
static STDOUT: OnceLock<SharedWriter<LineWriter<Output>>> = OnceLock::new();

/// Returns a handle to standard output. Its lock belongs to the fiber that has acquired it.
/// Otherwise as [`std::io::stdout`]: output is buffered until a line is complete.
///
/// ```
/// use sinew::io::{self, Write};
///
/// sinew::run(|| {
///     let mut out = io::stdout().lock();
///     writeln!(out, "two lines that")?;
///     sinew::fiber::yield_now();
///     // No other fiber writes between the two lines.
///     writeln!(out, "belong together")
/// })?;
/// # Ok::<(), io::Error>(())
/// ```
///
/// # Instead of `println!`
///
/// [`println!`], [`print!`] and [`std::io::stdout`] work in fibers too, but their lock belongs to
/// the *thread*:
///
/// - While a fiber that holds [`std::io::StdoutLock`] is suspended, the lock does not exclude other
///   fibers of the same worker, and fibers of other workers block their worker.
/// - A write to a full pipe or terminal blocks the worker.
///
/// Use `writeln!(io::stdout(), …)` where that matters. The output of a single `println!` is not
/// mixed with that of another fiber, because it does not suspend, unless a value that it formats
/// does.
///
/// # Together with `println!`
///
/// This buffer is not std's. Both write complete lines at once, so lines appear in the order in
/// which they are written, in any mixture. An incomplete line stays in its buffer: after `print!`,
/// flush [`std::io::stdout`] before writing here, and the other way round.
///
/// # At the end of the process
///
/// The rest of the buffer is written when `main` returns and by [`std::process::exit`], also if a
/// fiber calls that, unless another fiber or thread holds the lock then. It is lost if the process
/// ends in another way: by [`abort`](std::process::abort), a signal or `_exit`. All of this is as
/// in std.
#[must_use]
pub fn stdout() -> Stdout {
    Stdout {
        inner: STDOUT.get_or_init(|| {
            at_exit(flush_at_exit);
            SharedWriter::new(LineWriter::new(Output::new(rustix::stdio::stdout)))
        }),
    }
}

/// A handle to standard output, made by [`stdout()`].
///
/// The descriptor's mode does not change, because it is shared with other processes. Instead, the
/// kernel is asked before each write to a pipe or a socket, and [other
/// threads](mod@crate::blocking) make the writes to files and terminals. If another process fills a
/// pipe between the question and the write, the write blocks its worker until the pipe has room.
///
/// Waits for room observe cancellation and deadlines, and so do waits for the lock within the
/// methods of [`Write`]. A write that does not have to wait succeeds even if the fiber is stopped,
/// so that it can report that. Inside [`no_suspend`](crate::fiber::no_suspend) a write blocks the
/// worker, as std's does, and a fiber that has to wait for the lock panics.
///
/// A write to a closed descriptor succeeds, as with std.
pub struct Stdout {
    inner: &'static SharedWriter<LineWriter<Output>>,
}

/// A locked handle to standard output.
///
/// The lock belongs to the fiber or thread that has acquired it, which may lock it again. Others
/// wait until its last guard is dropped; a fiber that waits yields its worker to other fibers.
#[must_use = "if unused stdout will immediately unlock"]
pub struct StdoutLock<'a> {
    inner: WriterGuard<'a, LineWriter<Output>>,
}

impl Stdout {
    /// Acquires the lock until the guard is dropped. Neither cancellation nor a deadline ends the
    /// wait.
    #[track_caller]
    pub fn lock(&self) -> StdoutLock<'static> {
        StdoutLock { inner: self.inner.lock() }
    }

    /// Acquires the lock. If it has to wait, it observes cancellation and deadlines.
    #[track_caller]
    fn claim(&self) -> io::Result<StdoutLock<'static>> {
        Ok(StdoutLock { inner: self.inner.claim()? })
    }
}

standard_writer!(Stdout, StdoutLock, stdout, STDOUT_FILENO);

/// Writes the rest of the buffer, unless another fiber or thread holds the lock. Later writes are
/// not buffered.
fn flush_at_exit() {
    // The worker of the fiber that ends the process runs no other fiber any more.
    block_from_now_on();
    let lock = STDOUT.get().and_then(SharedWriter::try_lock);
    if let Some(mut writer) = lock.as_ref().and_then(WriterGuard::try_writer) {
        let unbuffered = LineWriter::with_capacity(0, Output::new(rustix::stdio::stdout));
        // Dropping the old writer writes its buffer.
        drop(mem::replace(&mut *writer, unbuffered));
    }
}
