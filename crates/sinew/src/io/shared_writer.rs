//! A writer that fibers and threads share, behind a reentrant lock. Knows no descriptor.

use std::io;
use std::marker::PhantomData;
use std::panic::{RefUnwindSafe, UnwindSafe};

use crate::rt::sync::ignore_poison;
use crate::sync::{Mutex, MutexGuard, ReentrantLock, ReentrantLockGuard};

/// A writer behind a lock.
///
/// The outer lock decides which fiber may write, and for how long; its owner may lock it again. The
/// inner lock is held for one call. It makes the writer [`Sync`], so that a fiber that holds a
/// guard of the outer lock may be suspended and migrate to another worker, while the fiber has
/// further guards elsewhere.
pub(super) struct SharedWriter<W> {
    lock: ReentrantLock<Mutex<W>>,
}

/// The right to write, until it is dropped.
pub(super) struct WriterGuard<'a, W> {
    guard: ReentrantLockGuard<'a, Mutex<W>>,
    /// Not `Send`, as std's, whose lock belongs to a thread.
    stays: PhantomData<*const ()>,
}

// No panic leaves a writer here half changed: user code runs outside of the inner lock.
impl<W> UnwindSafe for WriterGuard<'_, W> {}
impl<W> RefUnwindSafe for WriterGuard<'_, W> {}

impl<W> SharedWriter<W> {
    pub(super) fn new(writer: W) -> Self {
        Self { lock: ReentrantLock::new(Mutex::new(writer)) }
    }

    /// Acquires the lock, and waits as long as that takes.
    #[track_caller]
    pub(super) fn lock(&self) -> WriterGuard<'_, W> {
        WriterGuard { guard: self.lock.lock(), stays: PhantomData }
    }

    /// Acquires the lock if no other fiber or thread holds it.
    pub(super) fn try_lock(&self) -> Option<WriterGuard<'_, W>> {
        self.lock.try_lock().map(|guard| WriterGuard { guard, stays: PhantomData })
    }

    /// Acquires the lock. If it has to wait, it observes cancellation and deadlines.
    ///
    /// # Errors
    ///
    /// Returns an error if the caller is stopped.
    #[track_caller]
    pub(super) fn claim(&self) -> io::Result<WriterGuard<'_, W>> {
        match self.try_lock() {
            Some(guard) => Ok(guard),
            None => Ok(WriterGuard { guard: self.lock.lock_cancellable()?, stays: PhantomData }),
        }
    }
}

impl<W> WriterGuard<'_, W> {
    /// Returns the writer for one call.
    pub(super) fn writer(&self) -> MutexGuard<'_, W> {
        ignore_poison(self.guard.lock())
    }

    /// Returns the writer, unless a call on it is in progress.
    pub(super) fn try_writer(&self) -> Option<MutexGuard<'_, W>> {
        self.guard.try_lock().ok()
    }
}

/// Implements the traits that the handles and guards of standard output and standard error share.
macro_rules! standard_writer {
    ($handle:ident, $guard:ident, $function:ident, $number:ident) => {
        impl Write for $handle {
            $crate::io::forward_write!(|this| &*this);
            $crate::io::forward!(|this| &*this; write_fmt(args: fmt::Arguments<'_>) -> (););
        }

        /// Each call locks once.
        impl Write for &$handle {
            $crate::io::forward_write!(|this| this.claim()?);
            $crate::io::forward!(|this| this.claim()?; write_fmt(args: fmt::Arguments<'_>) -> (););
        }

        impl Write for $guard<'_> {
            $crate::io::forward_write!(|this| this.inner.writer());
        }

        impl AsFd for $handle {
            fn as_fd(&self) -> BorrowedFd<'_> {
                rustix::stdio::$function()
            }
        }

        impl AsFd for $guard<'_> {
            fn as_fd(&self) -> BorrowedFd<'_> {
                rustix::stdio::$function()
            }
        }

        impl AsRawFd for $handle {
            fn as_raw_fd(&self) -> RawFd {
                libc::$number
            }
        }

        impl AsRawFd for $guard<'_> {
            fn as_raw_fd(&self) -> RawFd {
                libc::$number
            }
        }

        /// Redirects a child process to the same descriptor.
        impl From<$handle> for Stdio {
            fn from(_: $handle) -> Self {
                io::$function().into()
            }
        }

        impl fmt::Debug for $handle {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($handle)).finish_non_exhaustive()
            }
        }

        impl fmt::Debug for $guard<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($guard)).finish_non_exhaustive()
            }
        }
    };
}

pub(super) use standard_writer;
