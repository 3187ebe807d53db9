//! A descriptor as all of our types have it: what it is to std, who waits for it, and what is set. Knows no kind of descriptor.

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
    /// Before the descriptor, since it is dropped in this order: nobody watches a descriptor that is not open any more.
    watch: Watch,
    inner: T,
    settings: SocketSettings,
}

/// Ends when it is dropped.
#[derive(Debug)]
struct Watch(Arc<IoSource>);

/// No code of a user's runs while it changes, so no panic leaves it half changed.
impl UnwindSafe for Watch {}

impl RefUnwindSafe for Watch {}

impl Drop for Watch {
    fn drop(&mut self) {
        self.0.retire();
    }
}

impl<T: AsFd> IoHandle<T> {
    /// Calls that would wait must say so, by [`WouldBlock`](io::ErrorKind::WouldBlock): that is the caller's to see to.
    pub(crate) fn new(inner: T) -> Self {
        Self::with_settings(inner, SocketSettings::default())
    }

    /// A duplicate of another one, which has the same settings.
    pub(crate) fn clone_of(&self, inner: T) -> Self {
        self.with_same_trust(Self::with_settings(inner, self.settings.share()))
    }

    /// A connection that this one has taken in, with its time-outs.
    pub(crate) fn accepted<S: AsFd>(&self, inner: S) -> IoHandle<S> {
        self.with_same_trust(IoHandle::with_settings(inner, self.settings.of_accepted()))
    }

    /// One whose short reads say as much as those of this one.
    fn with_same_trust<S: AsFd>(&self, other: IoHandle<S>) -> IoHandle<S> {
        if !self.readiness().look().trusts_short_reads() {
            other.readiness().distrust_short_reads();
        }
        other
    }

    /// One on which users make calls of their own, of which one may have to wait and another one not.
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

    /// The descriptor, which nobody watches any more.
    pub(crate) fn into_inner(self) -> T {
        drop(self.watch);
        self.inner
    }

    /// The descriptor, and what is set for it and its clones.
    pub(crate) fn into_parts(self) -> (T, SocketSettings) {
        drop(self.watch);
        (self.inner, self.settings)
    }

    /// What is known of the descriptor.
    #[inline]
    pub(crate) fn readiness(&self) -> &Readiness {
        &self.watch.0.readiness
    }

    /// Has all calls on a socket fail from now on, also those that wait now.
    pub(crate) fn close(&self) {
        self.readiness().close();
        // Wakes threads that wait. If it fails because the socket is not connected, it does so all the same, or nobody waits.
        let _ = rustix::net::shutdown(self, rustix::net::Shutdown::Both);
    }

    /// Does something with the descriptor: calls `attempt` until that does not fail with [`WouldBlock`](io::ErrorKind::WouldBlock), and waits for the direction
    /// in between. It must be the kernel that says so, of this descriptor.
    ///
    /// # Errors
    ///
    /// As `attempt` has them, and if the caller is to stop. A call that would have to wait and is not to, or whose time is over, fails as those of a socket.
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
        // However the call ends: others may have been left waiting for the sake of this one.
        let _pass_on = PassOn { readiness, direction };
        loop {
            let seen = readiness.look();
            if seen.is_closed() {
                return Err(closed());
            }
            // A caller that does not wait may have been told elsewhere that the descriptor is ready.
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
                // The kernel is asked once more: an event may have come too late for a short time.
                Err(IoFailure::TimedOut) => patience = Patience::None,
                Err(IoFailure::Stopped(stop)) => return Err(stopped(*stop, at)),
                Err(IoFailure::Failed(error)) => return Err(self.or_closed(error)),
            }
        }
    }

    /// A call that fails after the descriptor was closed says that, and not what the kernel makes of it.
    #[cold]
    fn or_closed(&self, error: io::Error) -> io::Error {
        if self.readiness().look().is_closed() { closed() } else { error }
    }

    /// Writes so many bytes to a stream, and comes back when all are written, as std's calls do that may wait: `attempt` writes from a place on. What was
    /// written is said, whatever came then: the next call hears of that.
    ///
    /// # Errors
    ///
    /// As [`call`](Self::call), if nothing was written.
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
                    // The kernel has told of it once.
                    self.settings.keep_error(&error);
                    break;
                }
            }
        }
        written
    }

    /// Reads from a stream whose kernel says by a short read that nothing is left: if fewer than `room` bytes were read, and some, the next read does not
    /// ask the kernel before it waits.
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

    /// What an attempt to read has read: nothing may mean that it was closed meanwhile, and not that it is at its end.
    ///
    /// # Errors
    ///
    /// If it was.
    #[inline]
    pub(crate) fn unless_closed(&self, read: usize) -> io::Result<usize> {
        if read == 0 && self.readiness().look().is_closed() { Err(closed()) } else { Ok(read) }
    }
}

/// Lets the next waiter have its turn when it is dropped.
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

/// The first comparison spares the second, which has to find out what the kernel's error means.
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

/// As std's sockets on Linux have it: the kernel has one error for a call that is not to wait, and for one whose time is over.
#[cold]
pub(crate) fn would_block() -> io::Error {
    io::Error::from_raw_os_error(libc::EAGAIN)
}

impl<T: AsFd> AsFd for IoHandle<T> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.inner.as_fd()
    }
}
