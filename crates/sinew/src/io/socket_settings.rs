//! What is set for a descriptor and its clones, as the kernel has it for all duplicates of one: whether calls wait, and for how long; and an error that nobody
//! has heard of yet.
//!
//! Most descriptors have nothing set and no clone: those have no memory for it either, and nothing to look up for each call.

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
    /// As it is set for the descriptor.
    AsSet,
    /// Not at all.
    None,
    /// For as long as it takes; in all no longer than the limit, if there is one.
    Wait(Option<Duration>),
}

impl Patience {
    /// To move at most this many bytes: if there are none, there is nothing to wait for, whatever is known of the descriptor.
    #[inline]
    pub(crate) fn to_move(most: usize) -> Self {
        if most == 0 { Self::None } else { Self::AsSet }
    }
}

/// No limit.
const NONE: u64 = 0;

/// What is set; nothing, as long as there is none.
#[derive(Debug, Default)]
pub(crate) struct SocketSettings(OnceLock<Arc<SettingValues>>);

/// All zeros are those of a descriptor that waits for ever.
#[derive(Debug, Default)]
struct SettingValues {
    is_nonblocking: AtomicBool,
    /// In nanoseconds, or [`NONE`].
    read_timeout: AtomicU64,
    write_timeout: AtomicU64,
    /// What the kernel told one who had written something, and has to be told to the next one; zero, if there is nothing.
    unheard: AtomicI32,
    nonblocking: Lock<NonblockingCount>,
}

/// Whose calls on a descriptor that blocks must not block now.
#[derive(Debug, Default)]
struct NonblockingCount {
    /// How many [`NonblockingGuard`] there are.
    count: usize,
    /// Whether calls on it did not block before the first of them.
    was_nonblocking: bool,
}

/// Until it is dropped, calls on a descriptor and its duplicates do not block.
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
    /// Those of a clone: from now on they are set for both.
    pub(crate) fn share(&self) -> Self {
        Self(OnceLock::from(self.0.get_or_init(Arc::default).clone()))
    }

    /// Whether calls do not wait; none, if a clone has the same settings still.
    pub(crate) fn into_last(self) -> Option<bool> {
        let Some(settings) = self.0.into_inner() else { return Some(false) };
        Arc::into_inner(settings).map(|last| last.is_nonblocking())
    }

    /// Finds out what [`Patience::AsSet`] stands for.
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
        // Relaxed: it says nothing of anything else.
        self.set(is_nonblocking, |settings| settings.is_nonblocking.store(is_nonblocking, Ordering::Relaxed));
    }

    /// The next one who writes hears of this error, if it is one of the kernel's, and not just that it would have to wait.
    #[cold]
    pub(crate) fn keep_error(&self, error: &io::Error) {
        if let Some(code) = error.raw_os_error().filter(|_| error.kind() != io::ErrorKind::WouldBlock) {
            self.set(true, |settings| settings.unheard.store(code, Ordering::Relaxed));
        }
    }

    /// An error that was kept.
    ///
    /// # Errors
    ///
    /// That one.
    #[inline]
    pub(crate) fn hear_error(&self) -> io::Result<()> {
        match self.0.get() {
            Some(settings) if settings.unheard.load(Ordering::Relaxed) != 0 => settings.hear(),
            _ => Ok(()),
        }
    }

    /// Has calls on this descriptor not block, until all guards of it and its clones are dropped.
    ///
    /// # Errors
    ///
    /// If it is no descriptor for input or output.
    pub(super) fn hold_nonblocking<'a>(&'a self, fd: BorrowedFd<'a>) -> io::Result<NonblockingGuard<'a>> {
        let settings = self.0.get_or_init(Arc::default);
        let mut state = settings.nonblocking.lock();
        if state.count == 0 {
            state.was_nonblocking = set_nonblocking(fd, true)?;
        }
        state.count += 1;
        Ok(NonblockingGuard { settings, fd })
    }

    /// What is set for a connection that a socket with these settings takes in: the kernel has it so.
    pub(super) fn of_accepted(&self) -> Self {
        let accepted = Self::default();
        for direction in Direction::BOTH {
            let time = self.0.get().and_then(|settings| settings.timeout(direction));
            accepted.set_timeout(direction, time);
        }
        accepted
    }

    /// Sets it, for as many nanoseconds as can be counted; for ever, if there is none.
    pub(crate) fn set_timeout(&self, direction: Direction, time: Option<Duration>) {
        let nanos = time.map_or(NONE, |time| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX).max(1));
        self.set(nanos != NONE, |settings| settings.limit(direction).store(nanos, Ordering::Relaxed));
    }

    /// Changes the settings, if there are any or some are needed.
    fn set(&self, is_needed: bool, change: impl FnOnce(&SettingValues)) {
        let settings = if is_needed { Some(self.0.get_or_init(Arc::default)) } else { self.0.get() };
        if let Some(settings) = settings {
            change(settings);
        }
    }
}

impl SettingValues {
    /// For one of those who ask at once.
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
        // Relaxed: as where it is set.
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
        // What did not block before does not afterwards.
        socket.set_nonblocking(true).unwrap();
        drop(clone.hold_nonblocking(fd).unwrap());
        assert!(is_nonblocking(fd).unwrap());
    }
}
