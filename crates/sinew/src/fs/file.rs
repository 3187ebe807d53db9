//! An open file, without reading, writing and seeking.

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

/// An open file: [`std::fs::File`], for fibers and threads.
///
/// If a fiber makes a call, it [runs on another thread](mod@crate::blocking). `read_exact`,
/// `read_to_end`, `write_all` and similar methods are one call each. `write!` makes one call for
/// each of its parts: write to a [`BufWriter`](io::BufWriter) or a string instead.
/// [`FileExt`](std::os::unix::fs::FileExt) is implemented too. The [module](crate::fs) lists the
/// differences from std.
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
    /// Returns std's errors, and an error if the caller is [stopped](crate::fs).
    #[track_caller]
    pub fn open<P: AsRef<Path>>(path: P) -> io::Result<Self> {
        let path = path.as_ref();
        call(|| fs::File::open(path)).map(Self::from)
    }

    /// Opens a file for writing. Creates it if it does not exist, and truncates it if it does.
    ///
    /// # Errors
    ///
    /// Returns std's errors, and an error if the caller is [stopped](crate::fs).
    #[track_caller]
    pub fn create<P: AsRef<Path>>(path: P) -> io::Result<Self> {
        let path = path.as_ref();
        call(|| fs::File::create(path)).map(Self::from)
    }

    /// Creates a new file, for reading and writing.
    ///
    /// # Errors
    ///
    /// Returns an error if the file exists, and otherwise the errors of [`create`](Self::create).
    #[track_caller]
    pub fn create_new<P: AsRef<Path>>(path: P) -> io::Result<Self> {
        let path = path.as_ref();
        call(|| fs::File::create_new(path)).map(Self::from)
    }

    /// Returns a new [`OpenOptions`].
    #[must_use]
    pub fn options() -> OpenOptions {
        OpenOptions::new()
    }

    /// Waits until all written data and metadata have reached the disk.
    ///
    /// # Errors
    ///
    /// Returns std's errors, and an error if the caller is [stopped](crate::fs).
    #[track_caller]
    pub fn sync_all(&self) -> io::Result<()> {
        call(|| self.inner.sync_all())
    }

    /// Waits until all written data has reached the disk. Metadata may be written later.
    ///
    /// # Errors
    ///
    /// Returns std's errors, and an error if the caller is [stopped](crate::fs).
    #[track_caller]
    pub fn sync_data(&self) -> io::Result<()> {
        call(|| self.inner.sync_data())
    }

    /// Acquires an exclusive lock on the file. This may wait for long and occupies a thread
    /// meanwhile. Neither cancellation nor a deadline ends the wait.
    ///
    /// ```
    /// use sinew::fs::{File, TryLockError};
    ///
    /// # let path = std::env::temp_dir().join(format!("sinew-doc-lock-{}", std::process::id()));
    /// let file = File::create(&path)?;
    /// file.lock()?;
    /// let other = File::open(&path)?;
    /// assert!(matches!(other.try_lock(), Err(TryLockError::WouldBlock)));
    /// file.unlock()?;
    /// other.try_lock()?;
    /// # sinew::fs::remove_file(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns std's errors, and an error if the caller is [stopped](crate::fs).
    #[track_caller]
    pub fn lock(&self) -> io::Result<()> {
        call(|| self.inner.lock())
    }

    /// Acquires a shared lock on the file. It waits as [`lock`](Self::lock) does.
    ///
    /// # Errors
    ///
    /// As [`lock`](Self::lock).
    #[track_caller]
    pub fn lock_shared(&self) -> io::Result<()> {
        call(|| self.inner.lock_shared())
    }

    /// Acquires an exclusive lock on the file if no other handle holds a lock.
    ///
    /// # Errors
    ///
    /// Returns an error if another handle holds a lock, and otherwise the errors of
    /// [`lock`](Self::lock).
    #[track_caller]
    pub fn try_lock(&self) -> Result<(), TryLockError> {
        try_lock(|| self.inner.try_lock())
    }

    /// Acquires a shared lock on the file if no other handle holds an exclusive one.
    ///
    /// # Errors
    ///
    /// Returns an error if another handle holds an exclusive lock, and otherwise the errors of
    /// [`lock`](Self::lock).
    #[track_caller]
    pub fn try_lock_shared(&self) -> Result<(), TryLockError> {
        try_lock(|| self.inner.try_lock_shared())
    }

    /// Releases all locks on the file.
    ///
    /// # Errors
    ///
    /// Returns std's errors, and an error if the caller is [stopped](crate::fs). Closing the file
    /// releases its locks too.
    #[track_caller]
    pub fn unlock(&self) -> io::Result<()> {
        call(|| self.inner.unlock())
    }

    /// Truncates or extends the file to this length. An extension reads as zeros.
    ///
    /// # Errors
    ///
    /// Returns std's errors, and an error if the caller is [stopped](crate::fs).
    #[track_caller]
    pub fn set_len(&self, size: u64) -> io::Result<()> {
        call(|| self.inner.set_len(size))
    }

    /// Returns the metadata of the file.
    ///
    /// # Errors
    ///
    /// Returns std's errors, and an error if the caller is [stopped](crate::fs).
    #[track_caller]
    pub fn metadata(&self) -> io::Result<Metadata> {
        call(|| self.inner.metadata())
    }

    /// Returns another handle to the same open file, with its own descriptor. Both share the
    /// position in the file.
    ///
    /// # Errors
    ///
    /// Returns the errors of std's method.
    pub fn try_clone(&self) -> io::Result<Self> {
        self.inner.try_clone().map(Self::from)
    }

    /// Changes the permissions of the file.
    ///
    /// # Errors
    ///
    /// Returns std's errors, and an error if the caller is [stopped](crate::fs).
    #[track_caller]
    pub fn set_permissions(&self, permissions: Permissions) -> io::Result<()> {
        call(|| self.inner.set_permissions(permissions))
    }

    /// Changes the access and modification times of the file.
    ///
    /// # Errors
    ///
    /// Returns std's errors, and an error if the caller is [stopped](crate::fs).
    #[track_caller]
    pub fn set_times(&self, times: FileTimes) -> io::Result<()> {
        call(|| self.inner.set_times(times))
    }

    /// Changes the modification time of the file.
    ///
    /// # Errors
    ///
    /// Returns std's errors, and an error if the caller is [stopped](crate::fs).
    #[track_caller]
    pub fn set_modified(&self, time: SystemTime) -> io::Result<()> {
        call(|| self.inner.set_modified(time))
    }
}

/// Runs [`call`] for a lock that may be held elsewhere.
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
