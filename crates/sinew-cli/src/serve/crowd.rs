//! The open connections: limits their number, and waits until none is left. Knows no connection.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use sinew::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Counts the open connections.
#[derive(Debug)]
pub(crate) struct Crowd {
    most: usize,
    counts: Mutex<Counts>,
    left: Condvar,
    /// Requests that were answered.
    pub(crate) answered: AtomicU64,
}

/// The counts of connections.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    /// Connections that are open now.
    pub(crate) now: usize,
    /// Connections that were accepted.
    pub(crate) admitted: u64,
    /// Connections that were turned away.
    pub(crate) refused: u64,
}

/// One of the counted connections, until it is dropped.
#[derive(Debug)]
pub(crate) struct Member {
    crowd: Arc<Crowd>,
}

impl Crowd {
    pub(crate) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self {
            most,
            counts: Mutex::new(Counts::default()),
            left: Condvar::new(),
            answered: AtomicU64::new(0),
        })
    }

    /// Counts one more connection, if there is room.
    pub(crate) fn enter(self: &Arc<Self>) -> Option<Member> {
        let mut counts = self.lock();
        if counts.now >= self.most {
            counts.refused += 1;
            return None;
        }
        counts.now += 1;
        counts.admitted += 1;
        Some(Member { crowd: self.clone() })
    }

    /// Waits until no connection is left, or until the time is over. Returns the counts at that
    /// moment.
    pub(crate) fn wait_until_empty(&self, at_most: Duration) -> Counts {
        let waited = self.left.wait_timeout_while(self.lock(), at_most, |counts| counts.now > 0);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        let mut counts = self.crowd.lock();
        counts.now -= 1;
        drop(counts);
        self.crowd.left.notify_all();
    }
}
