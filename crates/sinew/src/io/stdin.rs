//! Standard input, with the names of std. Knows not what it is: a terminal, a pipe or a file.

use std::fmt;
use std::io::{self, BufRead, BufReader, Lines, Read};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::sync::OnceLock;

use super::forward::forward_read;
use super::input::Input;
use crate::rt::sync::ignore_poison;
use crate::sync::{Mutex, MutexGuard};

/// The buffer that all handles share.
static STDIN: OnceLock<Mutex<BufReader<Input>>> = OnceLock::new();

/// Returns a handle to standard input. A reader that waits suspends its fiber. Otherwise as
/// [`std::io::stdin`].
///
/// ```no_run
/// use sinew::io;
///
/// for line in io::stdin().lines() {
///     println!("{}", line?.to_uppercase());
/// }
/// # Ok::<(), io::Error>(())
/// ```
///
/// The buffer is not std's: read through one of the two, not both.
#[must_use]
pub fn stdin() -> Stdin {
    Stdin { inner: STDIN.get_or_init(|| Mutex::new(BufReader::new(Input::New))) }
}

/// A handle to standard input, made by [`stdin()`].
///
/// The descriptor's mode does not change, because it is shared with other processes, such as a
/// shell. Instead, the kernel is asked before each read whether bytes are available. If another
/// process takes them between the question and the read, the read blocks its worker until more
/// bytes arrive. Another thread makes the reads from files.
///
/// The first read determines the source: if the program replaces the descriptor later, reads
/// continue from the old one.
///
/// Further differences from std: reads observe cancellation and deadlines, also while they wait for
/// the lock. [`IsTerminal`](super::IsTerminal) is a trait of this crate, because std's cannot be
/// implemented outside of std.
pub struct Stdin {
    inner: &'static Mutex<BufReader<Input>>,
}

/// A locked handle to standard input.
#[must_use = "if unused stdin will immediately unlock"]
pub struct StdinLock<'a> {
    inner: MutexGuard<'a, BufReader<Input>>,
}

impl Stdin {
    /// Acquires the lock until the guard is dropped. Neither cancellation nor a deadline ends the
    /// wait.
    pub fn lock(&self) -> StdinLock<'static> {
        StdinLock { inner: ignore_poison(self.inner.lock()) }
    }

    /// Locks the handle, reads a line and appends it to `buf`. As [`BufRead::read_line`].
    ///
    /// # Errors
    ///
    /// Returns the errors of [`BufRead::read_line`], and an error if the caller is stopped.
    #[track_caller]
    pub fn read_line(&self, buf: &mut String) -> io::Result<usize> {
        self.claim()?.read_line(buf)
    }

    /// Locks the handle and returns an iterator over its lines. As [`BufRead::lines`].
    pub fn lines(self) -> Lines<StdinLock<'static>> {
        self.lock().lines()
    }

    /// Acquires the lock, unless the caller is stopped.
    #[track_caller]
    fn claim(&self) -> io::Result<StdinLock<'static>> {
        let inner = ignore_poison(self.inner.lock_cancellable()?);
        Ok(StdinLock { inner })
    }
}

impl Read for Stdin {
    forward_read!(|this| &*this);
}

/// Each call locks once.
impl Read for &Stdin {
    forward_read!(|this| this.claim()?);
}

impl Read for StdinLock<'_> {
    forward_read!(|this| this.inner);
}

impl BufRead for StdinLock<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.inner.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.inner.consume(amount);
    }

    fn read_until(&mut self, byte: u8, buf: &mut Vec<u8>) -> io::Result<usize> {
        self.inner.read_until(byte, buf)
    }

    fn read_line(&mut self, buf: &mut String) -> io::Result<usize> {
        self.inner.read_line(buf)
    }
}

impl AsFd for Stdin {
    fn as_fd(&self) -> BorrowedFd<'_> {
        rustix::stdio::stdin()
    }
}

impl AsFd for StdinLock<'_> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        rustix::stdio::stdin()
    }
}

impl AsRawFd for Stdin {
    fn as_raw_fd(&self) -> RawFd {
        libc::STDIN_FILENO
    }
}

impl AsRawFd for StdinLock<'_> {
    fn as_raw_fd(&self) -> RawFd {
        libc::STDIN_FILENO
    }
}

impl fmt::Debug for Stdin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stdin").finish_non_exhaustive()
    }
}

impl fmt::Debug for StdinLock<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StdinLock").finish_non_exhaustive()
    }
}
