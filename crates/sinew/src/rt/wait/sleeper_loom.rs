//! The counterpart of `sleeper.rs` for loom. A model has no time: a wait that may end by time does
//! so at any moment.

use std::time::{Duration, Instant};

use loom::sync::{Condvar, Mutex};

/// Whether the thread was woken.
#[derive(Debug)]
pub(crate) struct Sleeper(Mutex<bool>, Condvar);

impl Sleeper {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(false), Condvar::new())
    }

    pub(crate) fn reset(&self) {
        *self.0.lock().unwrap() = false;
    }

    pub(crate) fn is_woken(&self) -> bool {
        *self.0.lock().unwrap()
    }

    pub(crate) fn wake(&self) {
        *self.0.lock().unwrap() = true;
        self.1.notify_one();
    }

    pub(crate) fn left(until: Option<Instant>) -> Option<Duration> {
        until.map(|_| Duration::ZERO)
    }

    pub(crate) fn sleep(&self, _: Option<Duration>) {
        let mut is_woken = self.0.lock().unwrap();
        while !*is_woken {
            is_woken = self.1.wait(is_woken).unwrap();
        }
    }
}
