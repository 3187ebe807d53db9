//! Any descriptor that the kernel can tell to be ready. Knows no kind of it.

use std::error::Error;
use std::fmt;
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::time::Duration;

use super::forward::{forward_read, forward_write, reads_exactly, writes_all};
use super::handle::IoHandle;
use super::input::check_ready;
use super::nonblocking::Nonblocking;
use super::slices::MOST_SLICES;
use super::socket_settings::Patience;
use crate::rt::io::{Direction, check_pollable};

/// A descriptor to wait for: an eventfd, a timer, a terminal, a device, a socket of a kind that has no type here.
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
/// It can be read from and written to as a descriptor, by `read` and `write` of the kernel, also by reference and whatever `T` is. What `T` has of its own, such as
/// a buffer or another way to read, is used by [`read_with`](Self::read_with) and [`write_with`](Self::write_with).
///
/// As long as it is in here, its calls do not wait (`O_NONBLOCK`), which is so for all its duplicates, also those of other processes;
/// [`into_inner`](Self::into_inner) and dropping set that back to what it was. So standard input is better read through [`stdin`](super::stdin()).
/// And of duplicates, the first one that came into an `Fd` has to leave last: if it is gone before, calls on the others block their thread.
///
/// One descriptor belongs into one `Fd`, which fibers and threads may share: the second one of the same number fails to wait on the
/// same worker, with [`AlreadyExists`](io::ErrorKind::AlreadyExists). A duplicate is another descriptor.
pub struct Fd<T: AsFd> {
    handle: IoHandle<Nonblocking<T>>,
}

/// A descriptor that cannot be waited for, and why.
///
/// By `?` it becomes the [`io::Error`], and the descriptor is dropped.
pub struct FdError<T> {
    /// What was given.
    pub inner: T,
    /// Why. [`InvalidInput`](io::ErrorKind::InvalidInput), if it is of a kind that is always ready, or that the kernel does not watch.
    pub error: io::Error,
}

impl<T: AsFd> Fd<T> {
    /// Makes a descriptor one to wait for.
    ///
    /// # Errors
    ///
    /// As [`try_new`](Self::try_new). The value is dropped then.
    pub fn new(inner: T) -> io::Result<Self> {
        Ok(Self::try_new(inner)?)
    }

    /// Makes a descriptor one to wait for, or gives it back.
    ///
    /// # Errors
    ///
    /// [`InvalidInput`](io::ErrorKind::InvalidInput), if nobody can wait for it: files on a disk, directories and `/dev/null` are always ready, and
    /// some make the caller wait all the same. Others as the kernel has them.
    pub fn try_new(inner: T) -> Result<Self, FdError<T>> {
        if let Err(error) = check_pollable(inner.as_fd()) {
            return Err(FdError { inner, error });
        }
        match Nonblocking::new(inner) {
            Ok(inner) => Ok(Self { handle: IoHandle::mixed(inner) }),
            Err((inner, error)) => Err(FdError { inner, error }),
        }
    }

    /// Waits until there is something to read, or an error or an end to be told of. The kernel is asked each time, so what was true once is not
    /// reported again; but others who read may be faster than the caller.
    ///
    /// # Errors
    ///
    /// If the caller is to stop, or the kernel does not watch it.
    #[track_caller]
    pub fn readable(&self) -> io::Result<()> {
        self.ready(Direction::Read)
    }

    /// Waits until something can be written, or an error can be told of. As [`readable`](Self::readable).
    ///
    /// # Errors
    ///
    /// As [`readable`](Self::readable).
    #[track_caller]
    pub fn writable(&self) -> io::Result<()> {
        self.ready(Direction::Write)
    }

    /// [`readable`](Self::readable), for so long at most.
    ///
    /// # Errors
    ///
    /// As [`readable`](Self::readable), and [`TimedOut`](io::ErrorKind::TimedOut) if it is not by then.
    #[track_caller]
    pub fn readable_timeout(&self, time: Duration) -> io::Result<()> {
        self.ready_within(time, Direction::Read)
    }

    /// [`writable`](Self::writable), for so long at most.
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

    /// Reads in whatever way the descriptor has: calls `read` until it does not say [`WouldBlock`](io::ErrorKind::WouldBlock), and waits in between. It
    /// must be the kernel who says that, of this descriptor: otherwise nobody may tell when to go on.
    ///
    /// # Errors
    ///
    /// As `read` has them, and as [`readable`](Self::readable).
    #[track_caller]
    pub fn read_with<R>(&self, mut read: impl FnMut(&T) -> io::Result<R>) -> io::Result<R> {
        self.handle.call(Direction::Read, Patience::AsSet, |fd| read(fd.get()))
    }

    /// Writes in whatever way the descriptor has, as [`read_with`](Self::read_with).
    ///
    /// # Errors
    ///
    /// As `write` has them, and as [`readable`](Self::readable).
    #[track_caller]
    pub fn write_with<R>(&self, mut write: impl FnMut(&T) -> io::Result<R>) -> io::Result<R> {
        self.handle.call(Direction::Write, Patience::AsSet, |fd| write(fd.get()))
    }

    /// What is inside. There is no way to change it, since it has to stay the descriptor that it is.
    pub fn get_ref(&self) -> &T {
        self.handle.get().get()
    }

    /// What was inside, set as it was before.
    pub fn into_inner(self) -> T {
        self.handle.into_inner().into_inner()
    }
}

// By a bound on what is inside, `&T: Read`, the compiler would look for ever for a `T` that it has yet to infer, also in code that knows nothing of
// this type.
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

/// Its text is that of the error inside, so that one is no source of it: whoever tells of sources too would say it twice.
impl<T> Error for FdError<T> {}

impl<T> From<FdError<T>> for io::Error {
    fn from(error: FdError<T>) -> Self {
        error.error
    }
}
