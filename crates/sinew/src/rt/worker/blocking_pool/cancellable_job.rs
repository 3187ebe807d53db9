//! A job that owns its data, and whose result may be dropped: the wait for it may be stopped. Knows
//! no thread.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::thread;

use super::job::{BlockingJob, Task};
use crate::rt::base::sync::Lock;
use crate::rt::wait::{GaveUp, Limit, Place, Queue, Stop, WaitKind, pick};

/// A call to make, and later its result.
pub(super) struct CancellableJob<F, R> {
    /// `None` after the call has begun, or after the waiter was stopped.
    body: Lock<Option<F>>,
    result: Lock<Option<thread::Result<R>>>,
    is_done: Queue<bool, ()>,
}

impl<F, R> CancellableJob<F, R>
where
    F: FnOnce() -> R + Send + 'static,
    R: Send + 'static,
{
    pub(super) fn new(body: F) -> Arc<Self> {
        let (body, result) = (Lock::new(Some(body)), Lock::new(None));
        Arc::new(Self { body, result, is_done: Queue::new(false) })
    }

    pub(super) fn job(self: &Arc<Self>) -> BlockingJob {
        BlockingJob::given(self.clone())
    }

    /// Waits until the job is done. Resumes the job's panic, if it panicked.
    ///
    /// # Errors
    ///
    /// Returns an error if the caller is to stop. A job that has not begun is not run then. One
    /// that has begun runs on, and its result is dropped.
    pub(super) fn wait(&self) -> Result<R, Stop> {
        let (outcome, ()) = self.is_done.wait(WaitKind::Blocking, (), Limit::STOP.later(), |is_done, ()| {
            (!**is_done).then_some(Place::Back)
        });
        if let Err(GaveUp::Stopped(stop)) = outcome.into_result() {
            let unwanted = self.body.lock().take();
            drop(unwanted);
            return Err(stop);
        }
        match self.result.lock().take().expect("a wait without a time ends when it is done") {
            Ok(value) => Ok(value),
            Err(payload) => resume_unwind(payload),
        }
    }
}

impl<F, R> Task for CancellableJob<F, R>
where
    F: FnOnce() -> R + Send + 'static,
    R: Send + 'static,
{
    fn run(&self) {
        let body = self.body.lock().take();
        // The panic hook has reported a panic. It is resumed in the waiter.
        *self.result.lock() = body.map(|body| catch_unwind(AssertUnwindSafe(body)));
    }

    fn tell(&self) {
        let mut is_done = self.is_done.lock();
        *is_done = true;
        let claimed = is_done.claim(pick::First, |()| (), |()| ());
        drop(is_done);
        if let Some(claimed) = claimed {
            claimed.go();
        }
    }
}
