//! A function that runs after each request for it, on one thread at a time and never inside itself.
//! One more run answers all requests that arrive during a run.

use crate::sync::{AtomicUsize, Ordering};

/// The number of requests that are not yet answered.
#[derive(Debug)]
pub(crate) struct CoalescedRun(AtomicUsize);

impl CoalescedRun {
    pub(crate) fn new() -> Self {
        Self(AtomicUsize::new(0))
    }

    /// Makes sure that `run` is called after this moment: here, or by the thread that runs it
    /// already, which then runs it once more. So `run` may itself request another run.
    pub(crate) fn request(&self, mut run: impl FnMut()) {
        // Acquire and release: the thread that runs it sees what was done before the request.
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
