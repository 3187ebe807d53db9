//! Standard input, with the names of std. Knows not what it is: a terminal, a pipe or a file.

use std::fmt;
use std::io::{self, BufRead, BufReader, Lines, Read};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::sync::OnceLock;

use super::forward::forward_read;
use super::input::Input;
use crate::rt::sync::ignore_poison;
use crate::sync::{Mutex, MutexGuard};

/// The one buffer that all share.
static STDIN: OnceLock<Mutex<BufReader<Input>>> = OnceLock::new();

/// Standard input, whose reader gives way while nothing comes. As [`std::io::stdin`] otherwise.
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
/// The buffer is another one than std's: read through the one or the other, not both.
#[must_use]
pub fn stdin() -> Stdin {
    Stdin { inner: STDIN.get_or_init(|| Mutex::new(BufReader::new(Input::New))) }
}

/// Standard input, as made by [`stdin()`].
///
/// What the process has as standard input is shared with others, a shell among them, and so is whether calls on it wait: that is left as it is. Instead
/// the kernel is asked whether there is something before each read. If another process reads from the same terminal or pipe
/// and takes it in between, the read waits in the kernel, and its worker with it, until more comes. So does a read
/// from a file, for as long as the disk takes.
///
/// It is what it was at the first read: a program that puts another descriptor in its place later goes on reading from the old one.
///
/// It differs from std's in this too: reads observe cancellation and deadlines, also while others hold the lock, and
/// [`IsTerminal`](super::IsTerminal) is a trait of this crate, because that of std cannot be
/// implemented outside of it.
pub struct Stdin {
    inner: &'static Mutex<BufReader<Input>>,
}

/// Standard input, locked.
#[must_use = "if unused stdin will immediately unlock"]
pub struct StdinLock<'a> {
    inner: MutexGuard<'a, BufReader<Input>>,
}

impl Stdin {
    /// Locks it, until the guard is dropped. Waits for as long as others have it, come what may.
    pub fn lock(&self) -> StdinLock<'static> {
        StdinLock { inner: ignore_poison(self.inner.lock()) }
    }

    /// Locks it, reads a line and puts that behind what is in the buffer. As [`BufRead::read_line`].
    ///
    /// # Errors
    ///
    /// As that, and if the caller is to stop.
    #[track_caller]
    pub fn read_line(&self, buf: &mut String) -> io::Result<usize> {
        self.claim()?.read_line(buf)
    }

    /// Locks it, for an iterator over its lines. As [`BufRead::lines`].
    pub fn lines(self) -> Lines<StdinLock<'static>> {
        self.lock().lines()
    }

    /// Locks it, unless the caller is to stop.
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
