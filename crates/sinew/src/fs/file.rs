//! An open file: what is not reading, writing or seeking.

use std::fmt;
use std::fs::{self, FileTimes, Metadata, Permissions, TryLockError};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::panic::Location;
use std::path::Path;
use std::process::Stdio;
use std::time::SystemTime;

use super::call;
use super::open_options::OpenOptions;
use crate::fiber::Stopped;
use crate::rt;

/// An open file, as [`std::fs::File`], and what it is converted from and to.
///
/// Each call [is made by another thread](mod@crate::blocking) if a fiber makes it. `read_exact`, `read_to_end`, `write_all` and the like are one call each;
/// `write!` is one for each of its parts, so that it is better done to a [`BufWriter`](io::BufWriter) or to a string first. [`FileExt`](std::os::unix::fs::FileExt)
/// is implemented too. What is not as for std is told [above](crate::fs).
///
/// ```
/// use sinew::fs::File;
/// use std::io::{Read, Seek};
///
/// let mut program = File::open(std::env::current_exe()?)?;
/// let mut magic = [0; 4];
/// program.read_exact(&mut magic)?;
/// assert_eq!(program.stream_position()?, 4);
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct File {
    pub(crate) inner: fs::File,
}

impl File {
    /// Opens a file for reading.
    ///
    /// # Errors
    ///
    /// As std's, or if the caller is [to stop](crate::fs).
    #[track_caller]
    pub fn open<P: AsRef<Path>>(path: P) -> io::Result<Self> {
        let path = path.as_ref();
        call(|| fs::File::open(path)).map(Self::from)
    }

    /// Opens a file for writing: it is made if it is not there, and emptied if it is.
    ///
    /// # Errors
    ///
    /// As std's, or if the caller is [to stop](crate::fs).
    #[track_caller]
    pub fn create<P: AsRef<Path>>(path: P) -> io::Result<Self> {
        let path = path.as_ref();
        call(|| fs::File::create(path)).map(Self::from)
    }

    /// Makes a file, for reading and writing.
    ///
    /// # Errors
    ///
    /// If it is there; else as [`create`](Self::create).
    #[track_caller]
    pub fn create_new<P: AsRef<Path>>(path: P) -> io::Result<Self> {
        let path = path.as_ref();
        call(|| fs::File::create_new(path)).map(Self::from)
    }

    /// How a file is to be opened.
    #[must_use]
    pub fn options() -> OpenOptions {
        OpenOptions::new()
    }

    /// Has all that was written reach the disk, and what is known of the file too.
    ///
    /// # Errors
    ///
    /// As std's, or if the caller is [to stop](crate::fs).
    #[track_caller]
    pub fn sync_all(&self) -> io::Result<()> {
        call(|| self.inner.sync_all())
    }

    /// Has all that was written reach the disk.
    ///
    /// # Errors
    ///
    /// As std's, or if the caller is [to stop](crate::fs).
    #[track_caller]
    pub fn sync_data(&self) -> io::Result<()> {
        call(|| self.inner.sync_data())
    }

    /// Takes the lock of the file, for this one alone. It may wait for long, and keeps a thread busy that long: neither cancellation nor a deadline ends
    /// it.
    ///
    /// # Errors
    ///
    /// As std's, or if the caller is [to stop](crate::fs).
    #[track_caller]
    pub fn lock(&self) -> io::Result<()> {
        call(|| self.inner.lock())
    }

    /// Takes the lock of the file, together with others. As [`lock`](Self::lock).
    ///
    /// # Errors
    ///
    /// As [`lock`](Self::lock).
    #[track_caller]
    pub fn lock_shared(&self) -> io::Result<()> {
        call(|| self.inner.lock_shared())
    }

    /// Takes the lock of the file, for this one alone, if nobody has it.
    ///
    /// # Errors
    ///
    /// If somebody has it; else as [`lock`](Self::lock).
    #[track_caller]
    pub fn try_lock(&self) -> Result<(), TryLockError> {
        try_lock(|| self.inner.try_lock())
    }

    /// Takes the lock of the file, together with others, if nobody has it for itself.
    ///
    /// # Errors
    ///
    /// If somebody has it; else as [`lock`](Self::lock).
    #[track_caller]
    pub fn try_lock_shared(&self) -> Result<(), TryLockError> {
        try_lock(|| self.inner.try_lock_shared())
    }

    /// Gives the lock of the file back.
    ///
    /// # Errors
    ///
    /// As std's, or if the caller is [to stop](crate::fs): closing the file gives it back too.
    #[track_caller]
    pub fn unlock(&self) -> io::Result<()> {
        call(|| self.inner.unlock())
    }

    /// Cuts the file, or fills it with zeros, to this length.
    ///
    /// # Errors
    ///
    /// As std's, or if the caller is [to stop](crate::fs).
    #[track_caller]
    pub fn set_len(&self, size: u64) -> io::Result<()> {
        call(|| self.inner.set_len(size))
    }

    /// What is known of the file.
    ///
    /// # Errors
    ///
    /// As std's, or if the caller is [to stop](crate::fs).
    #[track_caller]
    pub fn metadata(&self) -> io::Result<Metadata> {
        call(|| self.inner.metadata())
    }

    /// The same open file, by another descriptor: they share where they are in it.
    ///
    /// # Errors
    ///
    /// As std's.
    pub fn try_clone(&self) -> io::Result<Self> {
        self.inner.try_clone().map(Self::from)
    }

    /// Changes who may use the file.
    ///
    /// # Errors
    ///
    /// As std's, or if the caller is [to stop](crate::fs).
    #[track_caller]
    pub fn set_permissions(&self, permissions: Permissions) -> io::Result<()> {
        call(|| self.inner.set_permissions(permissions))
    }

    /// Changes when the file is said to have been read and written.
    ///
    /// # Errors
    ///
    /// As std's, or if the caller is [to stop](crate::fs).
    #[track_caller]
    pub fn set_times(&self, times: FileTimes) -> io::Result<()> {
        call(|| self.inner.set_times(times))
    }

    /// Changes when the file is said to have been written.
    ///
    /// # Errors
    ///
    /// As std's, or if the caller is [to stop](crate::fs).
    #[track_caller]
    pub fn set_modified(&self, time: SystemTime) -> io::Result<()> {
        call(|| self.inner.set_modified(time))
    }
}

/// [`call`], for a lock that may be somebody else's.
#[track_caller]
fn try_lock(lock: impl FnOnce() -> Result<(), TryLockError> + Send) -> Result<(), TryLockError> {
    let at = Location::caller();
    rt::check_stop().map_err(|stop| TryLockError::Error(Stopped::new(stop, at).into()))?;
    rt::blocking(lock)
}

impl fmt::Debug for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

impl From<fs::File> for File {
    fn from(inner: fs::File) -> Self {
        Self { inner }
    }
}

impl From<File> for fs::File {
    fn from(file: File) -> Self {
        file.inner
    }
}

impl From<OwnedFd> for File {
    fn from(fd: OwnedFd) -> Self {
        Self { inner: fd.into() }
    }
}

impl From<File> for OwnedFd {
    fn from(file: File) -> Self {
        file.inner.into()
    }
}

impl From<File> for Stdio {
    fn from(file: File) -> Self {
        file.inner.into()
    }
}

impl AsFd for File {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.inner.as_fd()
    }
}
