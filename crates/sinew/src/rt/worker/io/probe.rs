//! Checks which descriptors can be waited for. Knows no runtime.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Mutex;

use rustix::event::epoll;
use rustix::fs::{FileType, fstat};
use rustix::io::Errno;

use crate::rt::base::sync::ignore_poison;

/// A set on which no thread waits.
static SET: Mutex<Option<OwnedFd>> = Mutex::new(None);

/// Checks that the kernel reports when this descriptor is ready.
///
/// # Errors
///
/// Returns an error if it does not: a file on a disk is always ready, and blocks its reader all the
/// same.
pub(crate) fn check_pollable(fd: BorrowedFd<'_>) -> io::Result<()> {
    let kind = FileType::from_raw_mode(fstat(fd)?.st_mode);
    if matches!(kind, FileType::RegularFile | FileType::Directory) {
        return Err(refused("a regular file or a directory"));
    }
    let mut set = ignore_poison(SET.lock());
    if set.is_none() {
        *set = Some(epoll::create(epoll::CreateFlags::CLOEXEC)?);
    }
    let set = set.as_ref().expect("it is there by now");
    match epoll::add(set, fd, epoll::EventData::new_u64(0), epoll::EventFlags::empty()) {
        Ok(()) => Ok(epoll::delete(set, fd)?),
        Err(Errno::PERM) => Err(refused("of a kind that the kernel does not watch")),
        Err(error) => Err(error.into()),
    }
}

fn refused(what: &str) -> io::Error {
    let text = format!(
        "the descriptor is {what}, which cannot be waited for: use `sinew::fs`, or `sinew::blocking`"
    );
    io::Error::new(io::ErrorKind::InvalidInput, text)
}
