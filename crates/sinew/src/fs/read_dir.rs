//! What is in a directory.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fmt;
use std::fs::{self, FileType, Metadata};
use std::io;
use std::os::unix::fs::DirEntryExt;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::path::{Path, PathBuf};

use super::call;

/// So many entries are read at a time.
const BATCH: usize = 64;

/// What is in a directory, as [`std::fs::read_dir`].
///
/// # Errors
///
/// As std's, or if the caller is [to stop](crate::fs).
#[track_caller]
pub fn read_dir<P: AsRef<Path>>(path: P) -> io::Result<ReadDir> {
    let path = path.as_ref();
    call(|| {
        let mut directory = ReadDir { inner: fs::read_dir(path)?, read: VecDeque::new(), is_over: false };
        directory.fill();
        Ok(directory)
    })
}

/// The entries of a directory, as [`std::fs::ReadDir`]: made by [`read_dir`].
///
/// Many are read at a time, so that what is made or removed meanwhile may be seen later than by std's.
///
/// ```
/// let directory = std::env::temp_dir();
/// let names: Vec<_> = sinew::fs::read_dir(&directory)?.flatten().map(|entry| entry.file_name()).collect();
/// println!("{names:?}");
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// If the caller is to stop, an entry is an error, and the next call goes on.
pub struct ReadDir {
    inner: fs::ReadDir,
    read: VecDeque<io::Result<DirEntry>>,
    /// There are no more but those that were read.
    is_over: bool,
}

impl ReadDir {
    /// Reads some.
    fn fill(&mut self) {
        while self.read.len() < BATCH && !self.is_over {
            match self.inner.next() {
                Some(entry) => self.read.push_back(entry.map(DirEntry::new)),
                None => self.is_over = true,
            }
        }
    }
}

/// As std's. No code of a user's runs while it changes, so no panic leaves it half changed.
impl UnwindSafe for ReadDir {}

impl RefUnwindSafe for ReadDir {}

impl Iterator for ReadDir {
    type Item = io::Result<DirEntry>;

    #[track_caller]
    fn next(&mut self) -> Option<io::Result<DirEntry>> {
        if self.read.is_empty() && !self.is_over {
            let filled = call(|| {
                self.fill();
                Ok(())
            });
            if let Err(stopped) = filled {
                return Some(Err(stopped));
            }
        }
        self.read.pop_front()
    }
}

impl fmt::Debug for ReadDir {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

/// An entry of a directory, as [`std::fs::DirEntry`]. [`DirEntryExt`] is implemented too.
///
/// ```
/// for entry in sinew::fs::read_dir(std::env::temp_dir())? {
///     let entry = entry?;
///     println!("{:?} {:?}", entry.path(), entry.file_type()?);
/// }
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct DirEntry {
    inner: fs::DirEntry,
    /// Most file systems tell it with the name; if this one does not, it was asked for.
    file_type: Option<FileType>,
}

impl DirEntry {
    /// To be called where it may block.
    fn new(inner: fs::DirEntry) -> Self {
        Self { file_type: inner.file_type().ok(), inner }
    }

    /// The path of the directory, with the name behind it.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.inner.path()
    }

    /// The name.
    #[must_use]
    pub fn file_name(&self) -> OsString {
        self.inner.file_name()
    }

    /// What is known of the file, or of the symbolic link itself.
    ///
    /// # Errors
    ///
    /// As std's, or if the caller is [to stop](crate::fs).
    #[track_caller]
    pub fn metadata(&self) -> io::Result<Metadata> {
        call(|| self.inner.metadata())
    }

    /// What kind of file it is. It was found out together with the name, so that this makes no call.
    ///
    /// # Errors
    ///
    /// If it could not be found out then, nor now.
    #[track_caller]
    pub fn file_type(&self) -> io::Result<FileType> {
        match self.file_type {
            Some(file_type) => Ok(file_type),
            None => call(|| self.inner.file_type()),
        }
    }
}

impl DirEntryExt for DirEntry {
    fn ino(&self) -> u64 {
        self.inner.ino()
    }
}

impl fmt::Debug for DirEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}
