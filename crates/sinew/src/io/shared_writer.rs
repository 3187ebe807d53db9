//! A writer that fibers and threads share: a lock that its owner may take again, around the writer.
//! Knows no descriptor.

use std::io;
use std::marker::PhantomData;
use std::panic::{RefUnwindSafe, UnwindSafe};

use crate::rt::sync::ignore_poison;
use crate::sync::{Mutex, MutexGuard, ReentrantLock, ReentrantLockGuard};

/// A writer behind a lock.
///
/// The outer lock says who may write, for how long, and may be taken again. The inner one is held
/// for one call. It makes the writer [`Sync`], so that a guard of the outer lock can be held while
/// its fiber is suspended and moves to another worker, wherever another guard of the same fiber is.
pub(super) struct SharedWriter<W> {
    lock: ReentrantLock<Mutex<W>>,
}

/// The right to write, until it is dropped.
pub(super) struct WriterGuard<'a, W> {
    guard: ReentrantLockGuard<'a, Mutex<W>>,
    /// As std's, whose lock belongs to a thread.
    stays: PhantomData<*const ()>,
}

// No writer here is left half changed by a panic: the code of users runs outside of the inner lock.
impl<W> UnwindSafe for WriterGuard<'_, W> {}
impl<W> RefUnwindSafe for WriterGuard<'_, W> {}

impl<W> SharedWriter<W> {
    pub(super) fn new(writer: W) -> Self {
        Self { lock: ReentrantLock::new(Mutex::new(writer)) }
    }

    /// Locks it, for however long that takes.
    #[track_caller]
    pub(super) fn lock(&self) -> WriterGuard<'_, W> {
        WriterGuard { guard: self.lock.lock(), stays: PhantomData }
    }

    /// Locks it, if nobody else has it.
    pub(super) fn try_lock(&self) -> Option<WriterGuard<'_, W>> {
        self.lock.try_lock().map(|guard| WriterGuard { guard, stays: PhantomData })
    }

    /// Locks it, unless the caller has to wait for that and is to stop.
    ///
    /// # Errors
    ///
    /// If it is.
    #[track_caller]
    pub(super) fn claim(&self) -> io::Result<WriterGuard<'_, W>> {
        match self.try_lock() {
            Some(guard) => Ok(guard),
            None => Ok(WriterGuard { guard: self.lock.lock_cancellable()?, stays: PhantomData }),
        }
    }
}

impl<W> WriterGuard<'_, W> {
    /// The writer, for one call.
    pub(super) fn writer(&self) -> MutexGuard<'_, W> {
        ignore_poison(self.guard.lock())
    }

    /// The writer, unless a call is made on it now.
    pub(super) fn try_writer(&self) -> Option<MutexGuard<'_, W>> {
        self.guard.try_lock().ok()
    }
}

/// What handles and guards of standard output and standard error implement alike.
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

        /// For a child process, which writes to the same.
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
