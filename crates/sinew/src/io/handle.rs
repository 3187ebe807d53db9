//! A descriptor as all of our types have it: what it is to std, who waits for it, and what is set. Knows no kind of descriptor.

use std::io;
use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd};
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::sync::Arc;
use std::time::Duration;

use super::failure;
use super::socket_settings::Modes;
use crate::rt;
use crate::rt::io::{Direction, IoFailure, Left, Patience, Source};

/// A descriptor.
#[derive(Debug)]
pub(crate) struct Handle<T> {
    /// Before the descriptor, since it is dropped in this order: nobody watches a descriptor that is not open any more.
    watch: Watch,
    inner: T,
    modes: Modes,
}

/// Ends when it is dropped.
#[derive(Debug)]
struct Watch(Arc<Source>);

/// No code of a user's runs while it changes, so no panic leaves it half changed.
impl UnwindSafe for Watch {}

impl RefUnwindSafe for Watch {}

impl Drop for Watch {
    fn drop(&mut self) {
        self.0.retire();
    }
}

impl<T: AsFd> Handle<T> {
    /// Calls that would wait must say so, by [`WouldBlock`](io::ErrorKind::WouldBlock): that is the caller's to see to.
    pub(crate) fn new(inner: T) -> Self {
        Self::with_modes(inner, Modes::default())
    }

    /// A duplicate of another one, which has the same settings.
    pub(crate) fn clone_of(&self, inner: T) -> Self {
        self.as_doubtful(Self::with_modes(inner, self.modes.share()))
    }

    /// A connection that this one has taken in, with its time-outs.
    pub(crate) fn accepted<S: AsFd>(&self, inner: S) -> Handle<S> {
        self.as_doubtful(Handle::with_modes(inner, self.modes.of_accepted()))
    }

    /// One whose short reads say as much as those of this one.
    fn as_doubtful<S: AsFd>(&self, other: Handle<S>) -> Handle<S> {
        if self.watch.0.distrusts_short_reads() {
            other.distrust_short_reads();
        }
        other
    }

    /// One on which users make calls of their own, of which one may have to wait and another one not.
    pub(crate) fn mixed(inner: T) -> Self {
        Self { watch: Watch(Source::mixed()), inner, modes: Modes::default() }
    }

    fn with_modes(inner: T, modes: Modes) -> Self {
        Self { watch: Watch(Source::new()), inner, modes }
    }

    #[inline]
    pub(crate) fn get(&self) -> &T {
        &self.inner
    }

    pub(crate) fn modes(&self) -> &Modes {
        &self.modes
    }

    /// The descriptor, which nobody watches any more.
    pub(crate) fn into_inner(self) -> T {
        drop(self.watch);
        self.inner
    }

    /// The descriptor, and what is set for it and its clones.
    pub(crate) fn into_parts(self) -> (T, Modes) {
        drop(self.watch);
        (self.inner, self.modes)
    }

    /// Does something that does not depend on how much was read or written.
    ///
    /// # Errors
    ///
    /// As `attempt` has them, and if the caller is to stop, or would have to wait and is not to, or for too long.
    #[inline]
    #[track_caller]
    pub(crate) fn call<R>(
        &self,
        direction: Direction,
        mut attempt: impl FnMut(&T) -> io::Result<R>,
    ) -> io::Result<R> {
        self.drive(direction, self.modes.patience(direction), |_| {
            attempt(&self.inner).map(|done| (done, Left::Perhaps))
        })
    }

    /// The same, to move so many bytes at most: if that is none, there is nothing to wait for, whatever is known of the descriptor.
    ///
    /// # Errors
    ///
    /// As [`call`](Self::call).
    #[inline]
    #[track_caller]
    pub(crate) fn transfer(
        &self,
        most: usize,
        direction: Direction,
        mut attempt: impl FnMut(&T) -> io::Result<usize>,
    ) -> io::Result<usize> {
        let patience = if most == 0 { Patience::None } else { self.modes.patience(direction) };
        self.drive(direction, patience, |_| attempt(&self.inner).map(|done| (done, Left::Perhaps)))
    }

    /// The same, for so long at most; for ever, if there is no time.
    ///
    /// # Errors
    ///
    /// As [`call`](Self::call); if the time is over, that says what the kernel says when a socket's time is over.
    #[track_caller]
    pub(crate) fn call_within<R>(
        &self,
        time: Option<Duration>,
        direction: Direction,
        mut attempt: impl FnMut(&T) -> io::Result<R>,
    ) -> io::Result<R> {
        self.drive(direction, Patience::Wait(time), |_| {
            attempt(&self.inner).map(|done| (done, Left::Perhaps))
        })
    }

    /// Tries something once, whatever is known of the descriptor and set for it.
    ///
    /// # Errors
    ///
    /// As `attempt` has them, and if the caller is to stop.
    #[track_caller]
    pub(crate) fn call_once<R>(
        &self,
        direction: Direction,
        mut attempt: impl FnMut(&T) -> io::Result<R>,
    ) -> io::Result<R> {
        self.drive(direction, Patience::None, |_| attempt(&self.inner).map(|done| (done, Left::Perhaps)))
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
        self.modes.hear_error()?;
        let written = self.transfer(len, Direction::Write, |inner| attempt(inner, 0))?;
        Ok(if written < len { self.write_rest(written..len, attempt) } else { written })
    }

    #[cold]
    #[track_caller]
    fn write_rest(
        &self,
        Range { start: mut written, end }: Range<usize>,
        mut attempt: impl FnMut(&T, usize) -> io::Result<usize>,
    ) -> usize {
        let Patience::Wait(time) = self.modes.patience(Direction::Write) else { return written };
        let until = time.and_then(|time| rt::now().checked_add(time));
        while written < end {
            let left = until.map(|until| until.saturating_duration_since(rt::now()));
            match self.call_within(left, Direction::Write, |inner| attempt(inner, written)) {
                Ok(0) => break,
                Ok(more) => written += more,
                Err(error) => {
                    // The kernel has told of it once.
                    self.modes.keep_error(&error);
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
        self.drive(Direction::Read, self.modes.patience(Direction::Read), |trusts_short| {
            let read = self.unless_closed(attempt(&self.inner)?)?;
            let is_all = trusts_short && 0 < read && read < room;
            Ok((read, if is_all { Left::Nothing } else { Left::Perhaps }))
        })
    }

    #[inline]
    #[track_caller]
    fn drive<R>(
        &self,
        direction: Direction,
        patience: Patience,
        mut attempt: impl FnMut(bool) -> io::Result<(R, Left)>,
    ) -> io::Result<R> {
        let at = Location::caller();
        let driven =
            self.watch.0.drive(self.as_fd(), direction, patience, |seen| attempt(seen.trusts_short_reads()));
        driven.map_err(|failure| failure::error(self.or_closed(failure), at))
    }

    /// Whoever tries something while it is closed hears of that, and not of what the kernel makes of it.
    #[cold]
    fn or_closed(&self, failure: IoFailure) -> IoFailure {
        match failure {
            IoFailure::Failed(_) if self.watch.0.is_closed() => IoFailure::Closed,
            failure => failure,
        }
    }

    /// What an attempt to read has read: nothing may mean that it was closed meanwhile, and not that it is at its end.
    ///
    /// # Errors
    ///
    /// If it was.
    #[inline]
    pub(crate) fn unless_closed(&self, read: usize) -> io::Result<usize> {
        if read == 0 && self.watch.0.is_closed() {
            Err(io::ErrorKind::ConnectionAborted.into())
        } else {
            Ok(read)
        }
    }

    /// [`read_stream`](Self::read_stream) takes a short read for nothing but that.
    pub(crate) fn distrust_short_reads(&self) {
        self.watch.0.distrust_short_reads();
    }

    /// All calls fail from now on, also those that wait now on other fibers. Whoever waits on a plain thread is woken by what the caller does to the
    /// descriptor besides.
    pub(crate) fn close(&self) {
        self.watch.0.close();
    }
}

impl<T: AsFd> AsFd for Handle<T> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.inner.as_fd()
    }
}
