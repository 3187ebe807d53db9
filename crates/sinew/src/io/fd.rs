//! Any descriptor that the kernel can report as ready. Knows no kind of descriptor.

use std::error::Error;
use std::fmt;
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::time::Duration;

use super::forward::{forward_read, forward_write, reads_exactly, writes_all};
use super::handle::IoHandle;
use super::nonblocking::Nonblocking;
use super::ready::check_ready;
use super::slices::MOST_SLICES;
use super::socket_settings::Patience;
use crate::rt::io::{Direction, check_pollable};

/// A descriptor to wait for: an eventfd, a timer, a terminal, a device, or a socket of a kind for
/// which this crate has no type.
///
/// ```
/// use sinew::fiber;
/// use sinew::io::Fd;
/// use std::io::{Read, Write};
/// use std::os::unix::net::UnixStream;
///
/// let (ours, mut theirs) = UnixStream::pair()?;
/// let ours = Fd::new(ours)?;
/// let reader = fiber::spawn(move || {
///     let mut buffer = [0; 4];
///     (&ours).read_exact(&mut buffer)?;
///     Ok::<_, std::io::Error>(buffer)
/// });
/// theirs.write_all(b"tick")?;
/// assert_eq!(&reader.join().unwrap()?, b"tick");
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// Reading and writing, also by reference, use the system calls `read` and `write` on the
/// descriptor, for all types `T`. To use what `T` itself provides, such as a buffer or another way
/// to read, call [`read_with`](Self::read_with) and [`write_with`](Self::write_with).
///
/// The descriptor is non-blocking (`O_NONBLOCK`) as long as it is in here, and so are all its
/// duplicates, also those in other processes. [`into_inner`](Self::into_inner) and dropping restore
/// the former mode. Standard input is therefore better read through [`stdin`](super::stdin()). If
/// several duplicates are in an `Fd`, take the first of them out last. Otherwise calls on the
/// others block their thread.
///
/// Put each descriptor into one `Fd`, which fibers and threads can share. If two are made for the
/// same number, the second to wait on a worker fails with
/// [`AlreadyExists`](io::ErrorKind::AlreadyExists). A duplicate is another descriptor.
pub struct Fd<T: AsFd> {
    handle: IoHandle<Nonblocking<T>>,
}

/// A descriptor that cannot be waited for, and the reason.
///
/// The `?` operator converts it to the [`io::Error`] and drops the descriptor.
pub struct FdError<T> {
    /// The value that was passed in.
    pub inner: T,
    /// The reason. It is [`InvalidInput`](io::ErrorKind::InvalidInput) if the kernel cannot report
    /// this kind of descriptor as ready.
    pub error: io::Error,
}

impl<T: AsFd> Fd<T> {
    /// Wraps a descriptor.
    ///
    /// # Errors
    ///
    /// As [`try_new`](Self::try_new), but drops the value.
    pub fn new(inner: T) -> io::Result<Self> {
        Ok(Self::try_new(inner)?)
    }

    /// Wraps a descriptor, or returns it with the error.
    ///
    /// # Errors
    ///
    /// Returns [`InvalidInput`](io::ErrorKind::InvalidInput) if the kernel cannot report the
    /// descriptor as ready: files on a disk, directories and `/dev/null` count as always ready,
    /// although calls on some of them block. Also returns any error of the system calls.
    pub fn try_new(inner: T) -> Result<Self, FdError<T>> {
        if let Err(error) = check_pollable(inner.as_fd()) {
            return Err(FdError { inner, error });
        }
        match Nonblocking::new(inner) {
            Ok(inner) => Ok(Self { handle: IoHandle::mixed(inner) }),
            Err((inner, error)) => Err(FdError { inner, error }),
        }
    }

    /// Waits until the descriptor is readable, or has an error or its end to report. Each call asks
    /// the kernel, so an earlier result is not repeated. Another reader may still be faster than
    /// the caller.
    ///
    /// # Errors
    ///
    /// Returns an error if the caller is stopped, or if the kernel cannot watch the descriptor.
    #[track_caller]
    pub fn readable(&self) -> io::Result<()> {
        self.ready(Direction::Read)
    }

    /// Waits until the descriptor is writable, or has an error to report. As
    /// [`readable`](Self::readable).
    ///
    /// # Errors
    ///
    /// As [`readable`](Self::readable).
    #[track_caller]
    pub fn writable(&self) -> io::Result<()> {
        self.ready(Direction::Write)
    }

    /// Waits as [`readable`](Self::readable), for at most `time`.
    ///
    /// ```
    /// use sinew::io::Fd;
    /// use std::io::ErrorKind;
    /// use std::os::unix::net::UnixStream;
    /// use std::time::Duration;
    ///
    /// let (silent, _peer) = UnixStream::pair()?;
    /// let error = Fd::new(silent)?.readable_timeout(Duration::from_millis(1)).unwrap_err();
    /// assert_eq!(error.kind(), ErrorKind::TimedOut);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`readable`](Self::readable). Also returns [`TimedOut`](io::ErrorKind::TimedOut) if the
    /// time expires.
    #[track_caller]
    pub fn readable_timeout(&self, time: Duration) -> io::Result<()> {
        self.ready_within(time, Direction::Read)
    }

    /// Waits as [`writable`](Self::writable), for at most `time`.
    ///
    /// # Errors
    ///
    /// As [`readable_timeout`](Self::readable_timeout).
    #[track_caller]
    pub fn writable_timeout(&self, time: Duration) -> io::Result<()> {
        self.ready_within(time, Direction::Write)
    }

    #[track_caller]
    fn ready(&self, direction: Direction) -> io::Result<()> {
        self.handle.call(direction, Patience::AsSet, |fd| check_ready(fd, direction))
    }

    #[track_caller]
    fn ready_within(&self, time: Duration, direction: Direction) -> io::Result<()> {
        let ready = self.handle.call(direction, Patience::Wait(Some(time)), |fd| check_ready(fd, direction));
        ready.map_err(|error| match error.kind() {
            io::ErrorKind::WouldBlock => {
                io::Error::new(io::ErrorKind::TimedOut, "the descriptor was not ready in time")
            }
            _ => error,
        })
    }

    /// Reads with a function of the caller. Calls `read` until it does not fail with
    /// [`WouldBlock`](io::ErrorKind::WouldBlock), and waits for readiness in between. This error
    /// must come from a system call on this descriptor; otherwise the wait may never end.
    ///
    /// # Errors
    ///
    /// Returns the errors of `read`, and those of [`readable`](Self::readable).
    #[track_caller]
    pub fn read_with<R>(&self, mut read: impl FnMut(&T) -> io::Result<R>) -> io::Result<R> {
        self.handle.call(Direction::Read, Patience::AsSet, |fd| read(fd.get()))
    }

    /// Writes with a function of the caller, as [`read_with`](Self::read_with) reads.
    ///
    /// # Errors
    ///
    /// Returns the errors of `write`, and those of [`readable`](Self::readable).
    #[track_caller]
    pub fn write_with<R>(&self, mut write: impl FnMut(&T) -> io::Result<R>) -> io::Result<R> {
        self.handle.call(Direction::Write, Patience::AsSet, |fd| write(fd.get()))
    }

    /// Returns the value inside. There is no mutable access, because the value must keep its
    /// descriptor.
    pub fn get_ref(&self) -> &T {
        self.handle.get().get()
    }

    /// Returns the value inside, and restores its mode.
    pub fn into_inner(self) -> T {
        self.handle.into_inner().into_inner()
    }
}

// The bound is not `&T: Read`. With that, the compiler would recurse without end to infer `T`, even
// in code that does not use this type.
impl<T: AsFd> Read for &Fd<T> {
    #[track_caller]
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.handle.call(Direction::Read, Patience::AsSet, |fd| Ok(rustix::io::read(fd, &mut *buf)?))
    }

    #[track_caller]
    fn read_vectored(&mut self, bufs: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        let most = bufs.len().min(MOST_SLICES);
        self.handle.call(Direction::Read, Patience::AsSet, |fd| Ok(rustix::io::readv(fd, &mut bufs[..most])?))
    }

    reads_exactly!();
}

impl<T: AsFd> Read for Fd<T> {
    forward_read!(|this| &*this);
}

impl<T: AsFd> Write for &Fd<T> {
    #[track_caller]
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        self.handle.call(Direction::Write, Patience::AsSet, |fd| Ok(rustix::io::write(fd, buf)?))
    }

    #[track_caller]
    fn write_vectored(&mut self, bufs: &[IoSlice<'_>]) -> io::Result<usize> {
        let most = bufs.len().min(MOST_SLICES);
        self.handle.call(Direction::Write, Patience::AsSet, |fd| Ok(rustix::io::writev(fd, &bufs[..most])?))
    }

    writes_all!();

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<T: AsFd> Write for Fd<T> {
    forward_write!(|this| &*this);
}

impl<T: AsFd> AsFd for Fd<T> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }
}

impl<T: AsFd> AsRawFd for Fd<T> {
    fn as_raw_fd(&self) -> RawFd {
        self.as_fd().as_raw_fd()
    }
}

impl<T: AsFd + fmt::Debug> fmt::Debug for Fd<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Fd").field(self.get_ref()).finish()
    }
}

impl<T> fmt::Debug for FdError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FdError").field("error", &self.error).finish_non_exhaustive()
    }
}

impl<T> fmt::Display for FdError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

/// There is no `source`: `Display` shows the text of the inner error, so that a report of all
/// sources would repeat it.
impl<T> Error for FdError<T> {}

impl<T> From<FdError<T>> for io::Error {
    fn from(error: FdError<T>) -> Self {
        error.error
    }
}
