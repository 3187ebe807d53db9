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

/// The one buffer that all share.
static STDOUT: OnceLock<SharedWriter<LineWriter<Output>>> = OnceLock::new();

/// Standard output, which belongs to the fiber that has locked it. As [`std::io::stdout`]
/// otherwise: what is written is kept until a line is complete.
///
/// ```
/// use sinew::io::{self, Write};
///
/// sinew::run(|| {
///     let mut out = io::stdout().lock();
///     writeln!(out, "two lines that")?;
///     sinew::fiber::yield_now();
///     // No fiber has come between.
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
/// - While a fiber holds [`std::io::StdoutLock`] and is suspended, other fibers of the same worker
///   are not excluded, and those of other workers block theirs.
/// - A write to a pipe or a terminal that is full blocks the worker.
///
/// Use `writeln!(io::stdout(), …)` where that matters. A single `println!` is never torn apart by
/// another fiber, since it does not suspend, unless a value that it formats does.
///
/// # Together with `println!`
///
/// This buffer is not std's. Both write complete lines at once, so lines appear in the order in
/// which they are written, whichever is used for each. A part of a line waits in its own buffer:
/// after `print!`, flush [`std::io::stdout`] before writing here, and the other way round.
///
/// # At the end of the process
///
/// What is left in the buffer is written when `main` returns and by [`std::process::exit`], also if
/// a fiber calls that, unless another fiber or thread holds the lock then. It is lost if the
/// process is ended in another way: by [`abort`](std::process::abort), a signal or `_exit`. All of
/// this is so for std.
#[must_use]
pub fn stdout() -> Stdout {
    Stdout {
        inner: STDOUT.get_or_init(|| {
            at_exit(flush_at_exit);
            SharedWriter::new(LineWriter::new(Output::new(rustix::stdio::stdout)))
        }),
    }
}

/// Standard output, as made by [`stdout()`].
///
/// The descriptor is shared with other processes, and so is whether calls on it block: that is left
/// as it is. Instead, the kernel is asked before each write to a pipe or a socket, and other
/// threads make the writes to [files and terminals](mod@crate::blocking). If another process fills
/// a pipe between the question and the write, the write blocks its worker until there is room.
///
/// Waits for room, and for the lock within the methods of [`Write`], observe cancellation and
/// deadlines. A write that does not have to wait is made though the fiber is to stop, so that it
/// can say so. Inside [`no_suspend`](crate::fiber::no_suspend) a write blocks the worker, as std's
/// does, and a fiber that would have to wait for the lock panics.
///
/// A write to a descriptor that is closed succeeds, as with std.
pub struct Stdout {
    inner: &'static SharedWriter<LineWriter<Output>>,
}

/// Standard output, locked.
///
/// The lock belongs to the fiber or thread that has taken it, which may take it again. Others wait
/// until its last guard is dropped; a fiber that waits gives its worker to others.
#[must_use = "if unused stdout will immediately unlock"]
pub struct StdoutLock<'a> {
    inner: WriterGuard<'a, LineWriter<Output>>,
}

impl Stdout {
    /// Locks it, until the guard is dropped. Neither cancellation nor a deadline ends the wait.
    #[track_caller]
    pub fn lock(&self) -> StdoutLock<'static> {
        StdoutLock { inner: self.inner.lock() }
    }

    /// Locks it, unless the caller has to wait for that and is to stop.
    #[track_caller]
    fn claim(&self) -> io::Result<StdoutLock<'static>> {
        Ok(StdoutLock { inner: self.inner.claim()? })
    }
}

standard_writer!(Stdout, StdoutLock, stdout, STDOUT_FILENO);

/// Writes what is left in the buffer, unless another fiber or thread has the lock. Later writes are
/// not buffered.
fn flush_at_exit() {
    // The worker of the fiber that ends the process runs nothing else any more.
    block_from_now_on();
    let lock = STDOUT.get().and_then(SharedWriter::try_lock);
    if let Some(mut writer) = lock.as_ref().and_then(WriterGuard::try_writer) {
        let unbuffered = LineWriter::with_capacity(0, Output::new(rustix::stdio::stdout));
        // Dropped, it writes what it has.
        drop(mem::replace(&mut *writer, unbuffered));
    }
}
