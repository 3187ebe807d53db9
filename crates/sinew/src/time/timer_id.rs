//! The identity of a timer.

use std::fmt;
use std::hash::{Hash, Hasher};

use crate::rt::{Callback, WeakCallback};

/// An id of a [`Timer`](super::Timer), for its callback, or for code that cancels it without owning
/// it.
///
/// An id does not keep the timer alive. It differs from the id of every other timer for as long as
/// the id exists.
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

    /// Cancels the timer, as [`Timer::cancel`](super::Timer::cancel) does. It may be called
    /// anywhere, also inside the callback of a periodic timer, which it ends. Returns false if the
    /// timer is gone, in any runtime.
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
