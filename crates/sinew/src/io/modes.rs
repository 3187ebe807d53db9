//! What is set for a descriptor and its clones, as the kernel has it for all duplicates of one: whether calls wait, and for how long.

//!
//! Most descriptors have nothing set and no clone: those have no memory for it either, and nothing to look up for each call.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use crate::rt::io::{Direction, Patience};

/// No limit.
const NONE: u64 = 0;

/// What is set; nothing, as long as there is none.
#[derive(Debug, Default)]
pub(crate) struct Modes(OnceLock<Arc<Settings>>);

/// All zeros are those of a descriptor that waits for ever.
#[derive(Debug, Default)]
struct Settings {
    is_nonblocking: AtomicBool,
    /// In nanoseconds, or [`NONE`].
    read_timeout: AtomicU64,
    write_timeout: AtomicU64,
}

impl Modes {
    /// Those of a clone: from now on they are set for both.
    pub(crate) fn share(&self) -> Self {
        Self(OnceLock::from(self.0.get_or_init(Arc::default).clone()))
    }

    /// Whether calls do not wait; none, if a clone has the same settings still.
    pub(crate) fn into_last(self) -> Option<bool> {
        let Some(settings) = self.0.into_inner() else { return Some(false) };
        Arc::into_inner(settings).map(|last| last.is_nonblocking())
    }

    #[inline]
    pub(crate) fn patience(&self, direction: Direction) -> Patience {
        match self.0.get() {
            None => Patience::Wait(None),
            Some(settings) => settings.patience(direction),
        }
    }

    pub(crate) fn is_nonblocking(&self) -> bool {
        self.0.get().is_some_and(|settings| settings.is_nonblocking())
    }

    pub(crate) fn set_nonblocking(&self, is_nonblocking: bool) {
        // Relaxed: it says nothing of anything else.
        self.set(is_nonblocking, |settings| settings.is_nonblocking.store(is_nonblocking, Ordering::Relaxed));
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
    fn set(&self, is_needed: bool, change: impl FnOnce(&Settings)) {
        let settings = if is_needed { Some(self.0.get_or_init(Arc::default)) } else { self.0.get() };
        if let Some(settings) = settings {
            change(settings);
        }
    }
}

impl Settings {
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
