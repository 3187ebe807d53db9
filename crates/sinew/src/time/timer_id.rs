//! What names timers.

use std::fmt;
use std::hash::{Hash, Hasher};

use crate::rt::{Callback, WeakCallback};

/// Names a [`Timer`](super::Timer): for its callback, or for whoever is to cancel it and does not have it.
///
/// It keeps nothing of the timer, and differs from the id of any other for as long as it is there.
///
/// ```
/// use sinew::time::Timer;
///
/// let timer = Timer::new(|| ());
/// let id = timer.id();
/// assert_eq!(id, timer.id());
/// assert_ne!(id, Timer::new(|| ()).id());
/// drop(timer);
/// assert!(!id.cancel());
/// ```
#[derive(Clone)]
pub struct TimerId(WeakCallback);

impl TimerId {
    pub(super) fn new(timer: &Callback) -> Self {
        Self(timer.downgrade())
    }

    /// As [`Timer::cancel`](super::Timer::cancel), from anywhere: inside the callback too, where it has a periodic timer end. False for one that
    /// is gone, whatever runtime it was of.
    pub fn cancel(&self) -> bool {
        self.0.upgrade().is_some_and(|timer| timer.cancel())
    }
}

impl PartialEq for TimerId {
    fn eq(&self, other: &Self) -> bool {
        self.0.address() == other.0.address()
    }
}

impl Eq for TimerId {}

impl Hash for TimerId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.address().hash(state);
    }
}

impl fmt::Debug for TimerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TimerId({:#x})", self.0.address())
    }
}
