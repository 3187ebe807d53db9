//! The settings that a descriptor and its clones share, as the kernel shares a descriptor's mode
//! among its duplicates: whether calls wait, for how long, and an error that was not reported yet.
//!
//! Most descriptors have no settings and no clones. They allocate no memory for this, and calls
//! have nothing to look up.

use std::io;
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use super::nonblocking::set_nonblocking;
use crate::rt::io::Direction;
use crate::rt::sync::Lock;

/// How long a call waits.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Patience {
    /// As the settings of the descriptor say.
    AsSet,
    /// Not at all.
    None,
    /// Until it succeeds, or until the limit has passed if there is one.
    Wait(Option<Duration>),
}

impl Patience {
    /// Returns the patience for moving at most `most` bytes. With zero bytes there is nothing to
    /// wait for, even if the descriptor is not ready.
    #[inline]
    pub(crate) fn to_move(most: usize) -> Self {
        if most == 0 { Self::None } else { Self::AsSet }
    }
}

/// The value for "no limit".
const NONE: u64 = 0;

/// The settings. They are allocated when the first one is set.
#[derive(Debug, Default)]
pub(crate) struct SocketSettings(OnceLock<Arc<SettingValues>>);

/// The values. All zeros mean that calls wait without limit.
#[derive(Debug, Default)]
struct SettingValues {
    is_nonblocking: AtomicBool,
    /// In nanoseconds, or [`NONE`].
    read_timeout: AtomicU64,
    write_timeout: AtomicU64,
    /// An error that ended a write after some of its bytes were written. The next write returns it.
    /// Zero means none.
    unheard: AtomicI32,
    nonblocking: Lock<NonblockingCount>,
}

/// How many guards hold a blocking descriptor in non-blocking mode.
#[derive(Debug, Default)]
struct NonblockingCount {
    /// The number of [`NonblockingGuard`]s.
    count: usize,
    /// Whether the descriptor was non-blocking before the first of them.
    was_nonblocking: bool,
}

/// Holds a descriptor and its duplicates in non-blocking mode until it is dropped.
#[derive(Debug)]
pub(crate) struct NonblockingGuard<'a> {
    settings: &'a SettingValues,
    fd: BorrowedFd<'a>,
}

impl Drop for NonblockingGuard<'_> {
    fn drop(&mut self) {
        let mut state = self.settings.nonblocking.lock();
        state.count -= 1;
        if state.count == 0 && !state.was_nonblocking {
            let _ = set_nonblocking(self.fd, false);
        }
    }
}

impl SocketSettings {
    /// Returns the settings for a clone. From now on they apply to both.
    pub(crate) fn share(&self) -> Self {
        Self(OnceLock::from(self.0.get_or_init(Arc::default).clone()))
    }

    /// Returns whether the descriptor is non-blocking, or `None` if a clone still shares the
    /// settings.
    pub(crate) fn into_last(self) -> Option<bool> {
        let Some(settings) = self.0.into_inner() else { return Some(false) };
        Arc::into_inner(settings).map(|last| last.is_nonblocking())
    }

    /// Replaces [`Patience::AsSet`] by the value that is set.
    #[inline]
    pub(crate) fn resolve(&self, patience: Patience, direction: Direction) -> Patience {
        match (patience, self.0.get()) {
            (Patience::AsSet, None) => Patience::Wait(None),
            (Patience::AsSet, Some(settings)) => settings.patience(direction),
            _ => patience,
        }
    }

    pub(crate) fn is_nonblocking(&self) -> bool {
        self.0.get().is_some_and(|settings| settings.is_nonblocking())
    }

    pub(crate) fn set_nonblocking(&self, is_nonblocking: bool) {
        // Relaxed: no other data depends on this value.
        self.set(is_nonblocking, |settings| settings.is_nonblocking.store(is_nonblocking, Ordering::Relaxed));
    }

    /// Keeps an error of the kernel for the next write. Does nothing if the error only means that
    /// the call would wait.
    #[cold]
    pub(crate) fn keep_error(&self, error: &io::Error) {
        if let Some(code) = error.raw_os_error().filter(|_| error.kind() != io::ErrorKind::WouldBlock) {
            self.set(true, |settings| settings.unheard.store(code, Ordering::Relaxed));
        }
    }

    /// Takes an error that was kept.
    ///
    /// # Errors
    ///
    /// Returns that error.
    #[inline]
    pub(crate) fn hear_error(&self) -> io::Result<()> {
        match self.0.get() {
            Some(settings) if settings.unheard.load(Ordering::Relaxed) != 0 => settings.hear(),
            _ => Ok(()),
        }
    }

    /// Makes calls on this descriptor non-blocking until all guards of it and its clones are
    /// dropped.
    ///
    /// # Errors
    ///
    /// Returns an error if the descriptor is not open for input or output.
    pub(super) fn hold_nonblocking<'a>(&'a self, fd: BorrowedFd<'a>) -> io::Result<NonblockingGuard<'a>> {
        let settings = self.0.get_or_init(Arc::default);
        let mut state = settings.nonblocking.lock();
        if state.count == 0 {
            state.was_nonblocking = set_nonblocking(fd, true)?;
        }
        state.count += 1;
        Ok(NonblockingGuard { settings, fd })
    }

    /// Returns the settings of a connection that this socket accepts: it inherits the time-outs, as
    /// in the kernel.
    pub(super) fn of_accepted(&self) -> Self {
        let accepted = Self::default();
        for direction in Direction::BOTH {
            let time = self.0.get().and_then(|settings| settings.timeout(direction));
            accepted.set_timeout(direction, time);
        }
        accepted
    }

    /// Sets the time-out in nanoseconds, at most `u64::MAX`. `None` removes it.
    pub(crate) fn set_timeout(&self, direction: Direction, time: Option<Duration>) {
        let nanos = time.map_or(NONE, |time| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX).max(1));
        self.set(nanos != NONE, |settings| settings.limit(direction).store(nanos, Ordering::Relaxed));
    }

    /// Changes the settings. Does nothing if none are allocated and `is_needed` is false.
    fn set(&self, is_needed: bool, change: impl FnOnce(&SettingValues)) {
        let settings = if is_needed { Some(self.0.get_or_init(Arc::default)) } else { self.0.get() };
        if let Some(settings) = settings {
            change(settings);
        }
    }
}

impl SettingValues {
    /// Takes the kept error. If several callers race for it, one gets it.
    #[cold]
    fn hear(&self) -> io::Result<()> {
        match self.unheard.swap(0, Ordering::Relaxed) {
            0 => Ok(()),
            code => Err(io::Error::from_raw_os_error(code)),
        }
    }

    fn patience(&self, direction: Direction) -> Patience {
        if self.is_nonblocking() {
            return Patience::None;
        }
        Patience::Wait(self.timeout(direction))
    }

    fn timeout(&self, direction: Direction) -> Option<Duration> {
        match self.limit(direction).load(Ordering::Relaxed) {
            NONE => None,
            nanos => Some(Duration::from_nanos(nanos)),
        }
    }

    fn is_nonblocking(&self) -> bool {
        // Relaxed: as where it is stored.
        self.is_nonblocking.load(Ordering::Relaxed)
    }

    fn limit(&self, direction: Direction) -> &AtomicU64 {
        match direction {
            Direction::Read => &self.read_timeout,
            Direction::Write => &self.write_timeout,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixStream;

    use super::super::nonblocking::is_nonblocking;
    use super::SocketSettings;

    #[test]
    fn the_last_guard_of_all_clones_lets_calls_block_again() {
        let (socket, _kept) = UnixStream::pair().unwrap();
        let (fd, settings) = (socket.as_fd(), SocketSettings::default());
        let clone = settings.share();
        let [first, second] = [&settings, &clone].map(|settings| settings.hold_nonblocking(fd).unwrap());
        assert!(is_nonblocking(fd).unwrap());
        drop(first);
        assert!(is_nonblocking(fd).unwrap());
        drop(second);
        assert!(!is_nonblocking(fd).unwrap());
        // A descriptor that was non-blocking before stays so.
        socket.set_nonblocking(true).unwrap();
        drop(clone.hold_nonblocking(fd).unwrap());
        assert!(is_nonblocking(fd).unwrap());
    }
}
