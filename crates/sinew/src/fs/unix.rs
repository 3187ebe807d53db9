//! The functions of [`std::os::unix::fs`], which suspend the calling fiber.

use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs;
use std::path::Path;

use super::call;

/// Creates a symbolic link, as [`std::os::unix::fs::symlink`].
///
/// # Errors
///
/// Returns std's errors, and an error if the caller is [stopped](crate::fs).
#[track_caller]
pub fn symlink<P: AsRef<Path>, Q: AsRef<Path>>(original: P, link: Q) -> io::Result<()> {
    let (original, link) = (original.as_ref(), link.as_ref());
    call(|| fs::symlink(original, link))
}

/// Changes the owner and group of a file, as [`std::os::unix::fs::chown`].
///
/// # Errors
///
/// Returns std's errors, and an error if the caller is [stopped](crate::fs).
#[track_caller]
pub fn chown<P: AsRef<Path>>(dir: P, uid: Option<u32>, gid: Option<u32>) -> io::Result<()> {
    let dir = dir.as_ref();
    call(|| fs::chown(dir, uid, gid))
}

/// Changes the owner and group of an open file, as [`std::os::unix::fs::fchown`].
///
/// # Errors
///
/// Returns std's errors, and an error if the caller is [stopped](crate::fs).
#[track_caller]
pub fn fchown<F: AsFd>(fd: F, uid: Option<u32>, gid: Option<u32>) -> io::Result<()> {
    let fd = fd.as_fd();
    call(|| fs::fchown(fd, uid, gid))
}

/// Changes the owner and group of a file, or of the symbolic link itself, as
/// [`std::os::unix::fs::lchown`].
///
/// # Errors
///
/// Returns std's errors, and an error if the caller is [stopped](crate::fs).
#[track_caller]
pub fn lchown<P: AsRef<Path>>(dir: P, uid: Option<u32>, gid: Option<u32>) -> io::Result<()> {
    let dir = dir.as_ref();
    call(|| fs::lchown(dir, uid, gid))
}

/// Changes the root directory of the whole process, as [`std::os::unix::fs::chroot`].
///
/// # Errors
///
/// Returns std's errors, and an error if the caller is [stopped](crate::fs).
#[track_caller]
pub fn chroot<P: AsRef<Path>>(dir: P) -> io::Result<()> {
    let dir = dir.as_ref();
    call(|| fs::chroot(dir))
}
