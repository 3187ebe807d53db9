//! The entries of a directory.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fmt;
use std::fs::{self, FileType, Metadata};
use std::io;
use std::os::unix::fs::DirEntryExt;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::path::{Path, PathBuf};

use super::call;

/// How many entries one call reads.
const BATCH: usize = 64;

/// Returns an iterator over the entries of a directory, as [`std::fs::read_dir`].
///
/// # Errors
///
/// Returns std's errors, and an error if the caller is [stopped](crate::fs).
#[track_caller]
pub fn read_dir<P: AsRef<Path>>(path: P) -> io::Result<ReadDir> {
    let path = path.as_ref();
    call(|| {
        let mut directory = ReadDir { inner: fs::read_dir(path)?, read: VecDeque::new(), is_over: false };
        directory.fill();
        Ok(directory)
    })
}

/// An iterator over the entries of a directory: [`std::fs::ReadDir`], made by [`read_dir`].
///
/// It reads many entries at a time. So it may show changes to the directory later than std's does.
///
/// ```
/// let directory = std::env::temp_dir();
/// let entries = sinew::fs::read_dir(&directory)?.flatten();
/// let names: Vec<_> = entries.map(|entry| entry.file_name()).collect();
/// println!("{names:?}");
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// If the caller is stopped, the item is an error. The iteration can still be continued.
pub struct ReadDir {
    inner: fs::ReadDir,
    read: VecDeque<io::Result<DirEntry>>,
    /// Whether `inner` has ended.
    is_over: bool,
}

impl ReadDir {
    /// Reads entries until the batch is full.
    fn fill(&mut self) {
        while self.read.len() < BATCH && !self.is_over {
            match self.inner.next() {
                Some(entry) => self.read.push_back(entry.map(DirEntry::new)),
                None => self.is_over = true,
            }
        }
    }
}

/// std's type implements these too. No user code runs while it changes, so no panic leaves it half
/// changed.
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

/// An entry of a directory: [`std::fs::DirEntry`]. [`DirEntryExt`] is implemented too.
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
    /// Most file systems return it together with the name. `new` asks for it otherwise.
    file_type: Option<FileType>,
}

impl DirEntry {
    /// Wraps an entry. This may block, so only the other thread calls it.
    fn new(inner: fs::DirEntry) -> Self {
        Self { file_type: inner.file_type().ok(), inner }
    }

    /// Returns the path of the file: the path given to [`read_dir`] and the file's name.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.inner.path()
    }

    /// Returns the file's name.
    #[must_use]
    pub fn file_name(&self) -> OsString {
        self.inner.file_name()
    }

    /// Returns the metadata of the file, or of the symbolic link itself.
    ///
    /// # Errors
    ///
    /// Returns std's errors, and an error if the caller is [stopped](crate::fs).
    #[track_caller]
    pub fn metadata(&self) -> io::Result<Metadata> {
        call(|| self.inner.metadata())
    }

    /// Returns the type of the file. It was read together with the name, so this usually makes no
    /// call.
    ///
    /// # Errors
    ///
    /// Returns an error if the type could not be read then and cannot be read now.
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
