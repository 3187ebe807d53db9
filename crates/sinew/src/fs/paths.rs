//! Functions that take paths.

use std::fs::{self, Metadata, Permissions};
use std::io;
use std::path::{Path, PathBuf};

use super::call;

/// Reads a whole file, as [`std::fs::read`].
///
/// ```
/// let program = std::env::current_exe()?;
/// let bytes = sinew::fs::read(&program)?;
/// assert_eq!(bytes.len() as u64, sinew::fs::metadata(&program)?.len());
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
///
/// Returns std's errors, and an error if the caller is [stopped](crate::fs).
#[track_caller]
pub fn read<P: AsRef<Path>>(path: P) -> io::Result<Vec<u8>> {
    let path = path.as_ref();
    call(|| fs::read(path))
}

/// Reads a whole file as UTF-8, as [`std::fs::read_to_string`].
///
/// ```
/// let name = sinew::fs::read_to_string("/proc/self/comm")?;
/// assert!(name.ends_with('\n'));
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
///
/// As [`read`]. Also returns an error if the contents are not valid UTF-8.
#[track_caller]
pub fn read_to_string<P: AsRef<Path>>(path: P) -> io::Result<String> {
    let path = path.as_ref();
    call(|| fs::read_to_string(path))
}

/// Writes a whole file, as [`std::fs::write`].
///
/// ```
/// use sinew::fs;
///
/// # let path = std::env::temp_dir().join(format!("sinew-doc-write-{}", std::process::id()));
/// fs::write(&path, "hello")?;
/// assert_eq!(fs::read_to_string(&path)?, "hello");
/// fs::remove_file(&path)?;
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
///
/// Returns std's errors, and an error if the caller is [stopped](crate::fs).
#[track_caller]
pub fn write<P: AsRef<Path>, C: AsRef<[u8]>>(path: P, contents: C) -> io::Result<()> {
    let (path, contents) = (path.as_ref(), contents.as_ref());
    call(|| fs::write(path, contents))
}

/// Copies a file and its permissions, as [`std::fs::copy`]. The call cannot be interrupted before
/// all bytes are copied.
///
/// # Errors
///
/// Returns std's errors, and an error if the caller is [stopped](crate::fs).
#[track_caller]
pub fn copy<P: AsRef<Path>, Q: AsRef<Path>>(from: P, to: Q) -> io::Result<u64> {
    let (from, to) = (from.as_ref(), to.as_ref());
    call(|| fs::copy(from, to))
}

/// Renames a file or directory, as [`std::fs::rename`].
///
/// # Errors
///
/// Returns std's errors, and an error if the caller is [stopped](crate::fs).
#[track_caller]
pub fn rename<P: AsRef<Path>, Q: AsRef<Path>>(from: P, to: Q) -> io::Result<()> {
    let (from, to) = (from.as_ref(), to.as_ref());
    call(|| fs::rename(from, to))
}

/// Creates a hard link, as [`std::fs::hard_link`].
///
/// # Errors
///
/// Returns std's errors, and an error if the caller is [stopped](crate::fs).
#[track_caller]
pub fn hard_link<P: AsRef<Path>, Q: AsRef<Path>>(original: P, link: Q) -> io::Result<()> {
    let (original, link) = (original.as_ref(), link.as_ref());
    call(|| fs::hard_link(original, link))
}

/// Returns the target of a symbolic link, as [`std::fs::read_link`].
///
/// # Errors
///
/// Returns std's errors, and an error if the caller is [stopped](crate::fs).
#[track_caller]
pub fn read_link<P: AsRef<Path>>(path: P) -> io::Result<PathBuf> {
    let path = path.as_ref();
    call(|| fs::read_link(path))
}

/// Returns the absolute path without symbolic links and `..`, as [`std::fs::canonicalize`].
///
/// # Errors
///
/// Returns std's errors, and an error if the caller is [stopped](crate::fs).
#[track_caller]
pub fn canonicalize<P: AsRef<Path>>(path: P) -> io::Result<PathBuf> {
    let path = path.as_ref();
    call(|| fs::canonicalize(path))
}

/// Creates a directory, as [`std::fs::create_dir`].
///
/// # Errors
///
/// Returns std's errors, and an error if the caller is [stopped](crate::fs).
#[track_caller]
pub fn create_dir<P: AsRef<Path>>(path: P) -> io::Result<()> {
    let path = path.as_ref();
    call(|| fs::create_dir(path))
}

/// Creates a directory and its missing parents, as [`std::fs::create_dir_all`].
///
/// ```
/// use sinew::fs;
///
/// # let root = std::env::temp_dir().join(format!("sinew-doc-dirs-{}", std::process::id()));
/// fs::create_dir_all(root.join("some/directory"))?;
/// assert!(fs::exists(root.join("some"))?);
/// fs::remove_dir_all(&root)?;
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
///
/// Returns std's errors, and an error if the caller is [stopped](crate::fs).
#[track_caller]
pub fn create_dir_all<P: AsRef<Path>>(path: P) -> io::Result<()> {
    let path = path.as_ref();
    call(|| fs::create_dir_all(path))
}

/// Removes an empty directory, as [`std::fs::remove_dir`].
///
/// # Errors
///
/// Returns std's errors, and an error if the caller is [stopped](crate::fs).
#[track_caller]
pub fn remove_dir<P: AsRef<Path>>(path: P) -> io::Result<()> {
    let path = path.as_ref();
    call(|| fs::remove_dir(path))
}

/// Removes a directory and everything in it, as [`std::fs::remove_dir_all`].
///
/// # Errors
///
/// Returns std's errors, and an error if the caller is [stopped](crate::fs).
#[track_caller]
pub fn remove_dir_all<P: AsRef<Path>>(path: P) -> io::Result<()> {
    let path = path.as_ref();
    call(|| fs::remove_dir_all(path))
}

/// Removes a file, as [`std::fs::remove_file`].
///
/// # Errors
///
/// Returns std's errors, and an error if the caller is [stopped](crate::fs).
#[track_caller]
pub fn remove_file<P: AsRef<Path>>(path: P) -> io::Result<()> {
    let path = path.as_ref();
    call(|| fs::remove_file(path))
}

/// Returns the metadata of a file, as [`std::fs::metadata`].
///
/// # Errors
///
/// Returns std's errors, and an error if the caller is [stopped](crate::fs).
#[track_caller]
pub fn metadata<P: AsRef<Path>>(path: P) -> io::Result<Metadata> {
    let path = path.as_ref();
    call(|| fs::metadata(path))
}

/// Returns the metadata of a file, or of the symbolic link itself, as
/// [`std::fs::symlink_metadata`].
///
/// # Errors
///
/// Returns std's errors, and an error if the caller is [stopped](crate::fs).
#[track_caller]
pub fn symlink_metadata<P: AsRef<Path>>(path: P) -> io::Result<Metadata> {
    let path = path.as_ref();
    call(|| fs::symlink_metadata(path))
}

/// Changes the permissions of a file, as [`std::fs::set_permissions`].
///
/// # Errors
///
/// Returns std's errors, and an error if the caller is [stopped](crate::fs).
#[track_caller]
pub fn set_permissions<P: AsRef<Path>>(path: P, permissions: Permissions) -> io::Result<()> {
    let path = path.as_ref();
    call(|| fs::set_permissions(path, permissions))
}

/// Returns whether a file exists at this path, as [`std::fs::exists`].
///
/// # Errors
///
/// Returns std's errors, and an error if the caller is [stopped](crate::fs).
#[track_caller]
pub fn exists<P: AsRef<Path>>(path: P) -> io::Result<bool> {
    let path = path.as_ref();
    call(|| fs::exists(path))
}
