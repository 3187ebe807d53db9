//! Descriptors whose calls cannot be told one by one not to wait: they are set so for as long as they are ours, and set back when they become
//! somebody else's. Knows no kind of descriptor.
//!
//! The kernel has that setting for all duplicates of a descriptor, wherever they are.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

use super::handle::IoHandle;

/// Whether calls on the descriptor say that they would wait, instead of waiting.
///
/// # Errors
///
/// If it is not open for input or output.
pub(super) fn is_nonblocking(fd: impl AsFd) -> io::Result<bool> {
    Ok(fcntl_getfl(fd)?.contains(OFlags::NONBLOCK))
}

/// Has calls on the descriptor say so, or wait. Returns which of them they did before.
///
/// # Errors
///
/// As [`is_nonblocking`].
pub(super) fn set_nonblocking(fd: impl AsFd, is_nonblocking: bool) -> io::Result<bool> {
    let before = fcntl_getfl(&fd)?;
    let mut flags = before;
    flags.set(OFlags::NONBLOCK, is_nonblocking);
    if flags != before {
        fcntl_setfl(fd, flags)?;
    }
    Ok(before.contains(OFlags::NONBLOCK))
}

impl<T: AsFd> IoHandle<T> {
    /// Takes a descriptor over. If its calls were not to wait, ours do not either.
    pub(crate) fn nonblocking(inner: T) -> Self {
        // It fails for what is no descriptor for input or output, whose calls all fail.
        let was_nonblocking = set_nonblocking(&inner, true).unwrap_or(false);
        let this = Self::new(inner);
        this.settings().set_nonblocking(was_nonblocking);
        this
    }

    /// The descriptor as it was, or as it was set since. If a clone is ours still, it stays as that needs it.
    pub(crate) fn into_blocking(self) -> T {
        let (inner, settings) = self.into_parts();
        if let Some(is_nonblocking) = settings.into_last() {
            let _ = set_nonblocking(&inner, is_nonblocking);
        }
        inner
    }
}

/// A descriptor that is set back when this is dropped, too: others may have it, who know nothing of us.
#[derive(Debug)]
pub(super) struct Nonblocking<T: AsFd> {
    /// Until it is taken out.
    inner: Option<T>,
    was_nonblocking: bool,
}

impl<T: AsFd> Nonblocking<T> {
    /// # Errors
    ///
    /// As [`is_nonblocking`], with what was given.
    pub(super) fn new(inner: T) -> Result<Self, (T, io::Error)> {
        match set_nonblocking(&inner, true) {
            Ok(was_nonblocking) => Ok(Self { inner: Some(inner), was_nonblocking }),
            Err(error) => Err((inner, error)),
        }
    }

    pub(super) fn get(&self) -> &T {
        self.inner.as_ref().expect("it is there until it is taken out")
    }

    pub(super) fn into_inner(mut self) -> T {
        // It is asked for its descriptor once more, and may panic: once, and not again when this is dropped.
        let inner = self.inner.take().expect("it is there until it is taken out");
        self.restore(&inner);
        inner
    }

    fn restore(&self, inner: &T) {
        if !self.was_nonblocking {
            let _ = set_nonblocking(inner, false);
        }
    }
}

impl<T: AsFd> Drop for Nonblocking<T> {
    fn drop(&mut self) {
        self.inner.iter().for_each(|inner| self.restore(inner));
    }
}

impl<T: AsFd> AsFd for Nonblocking<T> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.get().as_fd()
    }
}
