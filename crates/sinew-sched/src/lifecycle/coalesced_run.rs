//! A function that runs after each request for it, on one thread at a time and never inside itself.
//! Requests that arrive while it runs are answered by one more run.

use crate::sync::{AtomicUsize, Ordering};

/// Requests that are not yet answered.
#[derive(Debug)]
pub(crate) struct CoalescedRun(AtomicUsize);

impl CoalescedRun {
    pub(crate) fn new() -> Self {
        Self(AtomicUsize::new(0))
    }

    /// Has `run` called after this moment: here, or by whoever is at it already, which then does it once more. So it does not
    /// matter how often it comes to be requested from inside.
    pub(crate) fn request(&self, mut run: impl FnMut()) {
        // Acquire and release: whoever runs it sees what was done before the request.
        if self.0.fetch_add(1, Ordering::AcqRel) != 0 {
            return;
        }
        let mut requests = 1;
        loop {
            run();
            match self.0.compare_exchange(requests, 0, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return,
                Err(more) => requests = more,
            }
        }
    }
}
