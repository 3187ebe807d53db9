//! A descriptor with what all of this crate's types need: std's type, the source that waits, and
//! the settings. Knows no kind of descriptor.

use std::io;
use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd};
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::sync::Arc;

use super::socket_settings::{Patience, SocketSettings};
use crate::fiber::Stopped;
use crate::rt;
use crate::rt::io::{Direction, IoFailure, IoSource, Readiness};

/// A descriptor.
#[derive(Debug)]
pub(crate) struct IoHandle<T> {
    /// Dropped before the descriptor, because fields drop in this order: a closed descriptor must
    /// not be watched.
    watch: Watch,
    inner: T,
    settings: SocketSettings,
}

/// Ends the watch when it is dropped.
#[derive(Debug)]
struct Watch(Arc<IoSource>);

/// No user code runs while it changes, so no panic leaves it half changed.
impl UnwindSafe for Watch {}

impl RefUnwindSafe for Watch {}

impl Drop for Watch {
    fn drop(&mut self) {
        self.0.retire();
    }
}

impl<T: AsFd> IoHandle<T> {
    /// Wraps a descriptor. Calls on it that would wait must fail with
    /// [`WouldBlock`](io::ErrorKind::WouldBlock); the caller ensures this.
    pub(crate) fn new(inner: T) -> Self {
        Self::with_settings(inner, SocketSettings::default())
    }

    /// Wraps a duplicate of this descriptor, which shares its settings.
    pub(crate) fn clone_of(&self, inner: T) -> Self {
        self.with_same_trust(Self::with_settings(inner, self.settings.share()))
    }

    /// Wraps a connection that this socket has accepted, which inherits its time-outs.
    pub(crate) fn accepted<S: AsFd>(&self, inner: S) -> IoHandle<S> {
        self.with_same_trust(IoHandle::with_settings(inner, self.settings.of_accepted()))
    }

    /// Returns `other` with this descriptor's trust in short reads.
    fn with_same_trust<S: AsFd>(&self, other: IoHandle<S>) -> IoHandle<S> {
        if !self.readiness().look().trusts_short_reads() {
            other.readiness().distrust_short_reads();
        }
        other
    }

    /// Wraps a descriptor on which users make calls of their own: one call may have to wait while
    /// another does not.
    pub(crate) fn mixed(inner: T) -> Self {
        Self { watch: Watch(IoSource::new(Readiness::mixed())), inner, settings: SocketSettings::default() }
    }

    fn with_settings(inner: T, settings: SocketSettings) -> Self {
        Self { watch: Watch(IoSource::new(Readiness::new())), inner, settings }
    }

    #[inline]
    pub(crate) fn get(&self) -> &T {
        &self.inner
    }

    pub(crate) fn settings(&self) -> &SocketSettings {
        &self.settings
    }

    /// Returns the descriptor and ends its watch.
    pub(crate) fn into_inner(self) -> T {
        drop(self.watch);
        self.inner
    }

    /// Returns the descriptor, and the settings that it shares with its clones. Ends its watch.
    pub(crate) fn into_parts(self) -> (T, SocketSettings) {
        drop(self.watch);
        (self.inner, self.settings)
    }

    /// Returns what is known of the descriptor's readiness.
    #[inline]
    pub(crate) fn readiness(&self) -> &Readiness {
        &self.watch.0.readiness
    }

    /// Makes all later calls on a socket fail, and those that wait now.
    pub(crate) fn close(&self) {
        self.readiness().close();
        // The shutdown wakes threads that block in the kernel. If it fails because the socket is
        // not connected, either it wakes them nevertheless, or no thread waits.
        let _ = rustix::net::shutdown(self, rustix::net::Shutdown::Both);
    }

    /// Runs an operation on the descriptor. Calls `attempt` until it does not fail with
    /// [`WouldBlock`](io::ErrorKind::WouldBlock), and waits for `direction` in between. This error
    /// must come from a system call on this descriptor.
    ///
    /// # Errors
    ///
    /// Returns the errors of `attempt`, and an error if the caller is stopped. Returns the error of
    /// [`would_block`] if the call has to wait and must not, or if its time expires.
    #[inline]
    #[track_caller]
    pub(crate) fn call<R>(
        &self,
        direction: Direction,
        patience: Patience,
        mut attempt: impl FnMut(&T) -> io::Result<R>,
    ) -> io::Result<R> {
        let (at, mut patience) = (Location::caller(), self.settings.resolve(patience, direction));
        if matches!(patience, Patience::Wait(_)) {
            rt::spend(rt::SYSTEM_CALL);
        }
        rt::check_stop().map_err(|stop| stopped(stop, at))?;
        let (readiness, mut limit) = (self.readiness(), None);
        // Runs however the call ends: an event may have woken only this caller, and the next waiter
        // must get its turn.
        let _pass_on = PassOn { readiness, direction };
        loop {
            let seen = readiness.look();
            if seen.is_closed() {
                return Err(closed());
            }
            // A caller that does not wait may know from elsewhere that the descriptor is ready.
            let does_not_wait = matches!(patience, Patience::None);
            if seen.is_ready(direction) || does_not_wait || seen.is_mixed() || !self.watch.0.is_told_here() {
                match attempt(&self.inner) {
                    Err(error) if is_would_block(&error) => readiness.unmark(direction, seen),
                    Err(error) => return Err(self.or_closed(error)),
                    result => return result,
                }
            }
            let Patience::Wait(time) = patience else { return Err(would_block()) };
            match self.watch.0.wait(self.as_fd(), (direction, seen), (time, &mut limit)) {
                Ok(()) => {}
                // One last attempt: an event may be reported too late if the time is short.
                Err(IoFailure::TimedOut) => patience = Patience::None,
                Err(IoFailure::Stopped(stop)) => return Err(stopped(*stop, at)),
                Err(IoFailure::Failed(error)) => return Err(self.or_closed(error)),
            }
        }
    }

    /// Returns the error for a closed socket if it was closed meanwhile, instead of the kernel's
    /// error.
    #[cold]
    fn or_closed(&self, error: io::Error) -> io::Error {
        if self.readiness().look().is_closed() { closed() } else { error }
    }

    /// Writes `len` bytes to a stream, and returns after all are written, as std's blocking calls
    /// do. `attempt` writes the bytes from a position on. If an error occurs after some bytes were
    /// written, this returns their number, and the next call returns the error.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`call`](Self::call) if no byte was written.
    #[inline]
    #[track_caller]
    pub(crate) fn write_stream(
        &self,
        len: usize,
        mut attempt: impl FnMut(&T, usize) -> io::Result<usize>,
    ) -> io::Result<usize> {
        self.settings.hear_error()?;
        let written = self.call(Direction::Write, Patience::to_move(len), |inner| attempt(inner, 0))?;
        Ok(if written < len { self.write_rest(written..len, attempt) } else { written })
    }

    #[cold]
    #[track_caller]
    fn write_rest(
        &self,
        Range { start: mut written, end }: Range<usize>,
        mut attempt: impl FnMut(&T, usize) -> io::Result<usize>,
    ) -> usize {
        let Patience::Wait(time) = self.settings.resolve(Patience::AsSet, Direction::Write) else {
            return written;
        };
        let until = time.and_then(|time| rt::now().checked_add(time));
        while written < end {
            let left = until.map(|until| until.saturating_duration_since(rt::now()));
            match self.call(Direction::Write, Patience::Wait(left), |inner| attempt(inner, written)) {
                Ok(0) => break,
                Ok(more) => written += more,
                Err(error) => {
                    // The kernel reports this error only once.
                    self.settings.keep_error(&error);
                    break;
                }
            }
        }
        written
    }

    /// Reads from a stream for which a short read means that no byte is left in the kernel. If a
    /// read returns fewer than `room` bytes, but not zero, the next read waits without asking the
    /// kernel first.
    ///
    /// # Errors
    ///
    /// As [`call`](Self::call).
    #[inline]
    #[track_caller]
    pub(crate) fn read_stream(
        &self,
        room: usize,
        mut attempt: impl FnMut(&T) -> io::Result<usize>,
    ) -> io::Result<usize> {
        self.receive(|inner| {
            let seen = self.readiness().look();
            let read = attempt(inner)?;
            if seen.trusts_short_reads() && 0 < read && read < room {
                self.readiness().unmark(Direction::Read, seen);
            }
            Ok(read)
        })
    }

    /// Reads from a socket of any kind.
    ///
    /// # Errors
    ///
    /// As [`call`](Self::call).
    #[inline]
    #[track_caller]
    pub(crate) fn receive(&self, mut attempt: impl FnMut(&T) -> io::Result<usize>) -> io::Result<usize> {
        self.call(Direction::Read, Patience::AsSet, |inner| self.unless_closed(attempt(inner)?))
    }

    /// Returns the number of bytes that an attempt has read. Zero bytes may mean that the socket
    /// was closed meanwhile, and not that the stream has ended.
    ///
    /// # Errors
    ///
    /// Returns an error if it was closed.
    #[inline]
    pub(crate) fn unless_closed(&self, read: usize) -> io::Result<usize> {
        if read == 0 && self.readiness().look().is_closed() { Err(closed()) } else { Ok(read) }
    }
}

/// Wakes the next waiter when it is dropped.
struct PassOn<'a> {
    readiness: &'a Readiness,
    direction: Direction,
}

impl Drop for PassOn<'_> {
    #[inline]
    fn drop(&mut self) {
        self.readiness.pass_on(self.direction);
    }
}

/// The first comparison is cheap. The second has to map the error's number to a kind.
#[inline]
fn is_would_block(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::EAGAIN) || error.kind() == io::ErrorKind::WouldBlock
}

#[cold]
fn stopped(stop: rt::Stop, at: &'static Location<'static>) -> io::Error {
    Stopped::new(stop, at).into()
}

#[cold]
fn closed() -> io::Error {
    io::Error::new(io::ErrorKind::ConnectionAborted, "it was closed by `close`")
}

/// Returns the error of std's sockets on Linux. The kernel has one error for a call that must not
/// wait and for one whose time has expired.
#[cold]
pub(crate) fn would_block() -> io::Error {
    io::Error::from_raw_os_error(libc::EAGAIN)
}

impl<T: AsFd> AsFd for IoHandle<T> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.inner.as_fd()
    }
}
