//! Descriptors whose calls have no flag not to wait. They are non-blocking as long as they are
//! ours, and get their former mode back afterwards. Knows no kind of descriptor.
//!
//! The kernel applies the mode to all duplicates of a descriptor, also in other processes.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

use super::handle::IoHandle;

/// Returns whether the descriptor is non-blocking.
///
/// # Errors
///
/// Returns an error if it is not open for input or output.
pub(super) fn is_nonblocking(fd: impl AsFd) -> io::Result<bool> {
    Ok(fcntl_getfl(fd)?.contains(OFlags::NONBLOCK))
}

/// Sets whether the descriptor is non-blocking. Returns the former mode.
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
    /// Wraps a descriptor and makes it non-blocking. If it was so before, calls on the handle do
    /// not wait.
    pub(crate) fn nonblocking(inner: T) -> Self {
        // This fails only if the descriptor is not for input or output. All its calls fail then.
        let was_nonblocking = set_nonblocking(&inner, true).unwrap_or(false);
        let this = Self::new(inner);
        this.settings().set_nonblocking(was_nonblocking);
        this
    }

    /// Returns the descriptor with its former mode, or the mode that was set since. If a clone is
    /// still ours, the descriptor stays non-blocking.
    pub(crate) fn into_blocking(self) -> T {
        let (inner, settings) = self.into_parts();
        if let Some(is_nonblocking) = settings.into_last() {
            let _ = set_nonblocking(&inner, is_nonblocking);
        }
        inner
    }
}

/// A descriptor that gets its former mode back also when it is dropped, because other processes may
/// share it.
#[derive(Debug)]
pub(super) struct Nonblocking<T: AsFd> {
    /// `None` after `into_inner` has taken it.
    inner: Option<T>,
    was_nonblocking: bool,
}

impl<T: AsFd> Nonblocking<T> {
    /// Makes the descriptor non-blocking.
    ///
    /// # Errors
    ///
    /// As [`is_nonblocking`], together with `inner`.
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
        // `restore` calls `as_fd`, which is user code and may panic. `inner` is taken first, so
        // that `drop` does not call it again.
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
