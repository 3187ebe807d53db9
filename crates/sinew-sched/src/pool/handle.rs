//! Submitting work to a pool, from anywhere.

use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;

use super::error::{Refusal, SubmitError};
use crate::context::Context;
use crate::group::{Group, Seat};
use crate::life::Stage;
use crate::stats::PoolStats;
use crate::task::{List, TaskRef};
use crate::tls;
use crate::worker::Worker;

/// Who is to run a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Placement {
    /// Any worker: the one that submits it, if it is one of the pool's and gets to it first.
    #[default]
    Anyone,
    /// The worker of this number, below [`Pool::workers`](crate::Pool::workers).
    Worker(usize),
}

/// Submits work to a pool. Outlives it: then work is refused.
#[derive(Clone)]
pub struct Handle {
    group: Arc<Group>,
}

impl Handle {
    pub(super) fn new(group: Arc<Group>) -> Self {
        Self { group }
    }

    /// Has a task run.
    ///
    /// # Errors
    ///
    /// If the pool is being shut down, or there is no such worker. The task is in the error. A running task that has more to
    /// do then uses [`Context::submit`].
    pub fn submit(&self, task: TaskRef, to: Placement) -> Result<(), SubmitError> {
        match self.refusal(to) {
            Some(refusal) => Err(SubmitError { tasks: vec![task], refusal }),
            None => {
                self.reschedule(task, to);
                Ok(())
            }
        }
    }

    /// Has many tasks run, and works out only once whom to wake for them. Those for any worker go to the queue for all, also
    /// from a worker.
    ///
    /// # Errors
    ///
    /// As [`submit`](Self::submit), for all of them or none.
    pub fn submit_batch(
        &self,
        tasks: impl IntoIterator<Item = TaskRef>,
        to: Placement,
    ) -> Result<(), SubmitError> {
        if let Some(refusal) = self.refusal(to) {
            return Err(SubmitError { tasks: tasks.into_iter().collect(), refusal });
        }
        // Collected first: the iterator is the caller's code, and may submit tasks itself.
        let tasks: List = tasks.into_iter().collect();
        match to {
            Placement::Anyone => self.with_worker(|worker| match worker {
                Some(worker) => worker.push_all(tasks),
                None => self.group.submit_outside(tasks),
            }),
            Placement::Worker(_) => {
                while let Some(task) = tasks.pop_front() {
                    self.reschedule(task, to);
                }
            }
        }
        Ok(())
    }

    /// Has a task run that the pool has taken before and that has given up its turn. It is never refused: when the pool is
    /// over, the task is discarded. The worker may be a spare one; if that one is gone, any other runs the task.
    ///
    /// # Panics
    ///
    /// If there has been no such worker.
    pub fn reschedule(&self, task: TaskRef, to: Placement) {
        match to {
            Placement::Anyone => self.with_worker(|worker| match worker {
                Some(worker) => worker.push(task),
                None => self.group.submit_outside(List::from(task)),
            }),
            Placement::Worker(index) => {
                let seat = self.group.seat(index).unwrap_or_else(|| panic!("there is no worker {index}"));
                self.with_worker(|worker| self.place_at(worker, index, seat, task));
            }
        }
    }

    fn place_at(&self, worker: Option<&Worker>, index: usize, seat: &Seat, task: TaskRef) {
        match worker {
            Some(worker) if worker.index() == index => worker.push_here(task),
            Some(worker) => worker.post(seat, task),
            None => self.group.post_outside(seat, task),
        }
    }

    fn refusal(&self, to: Placement) -> Option<Refusal> {
        match to {
            _ if self.group.life.stage() != Stage::Open => Some(Refusal::Closed),
            Placement::Worker(index) if index >= self.group.workers() => Some(Refusal::NoSuchWorker(index)),
            Placement::Anyone | Placement::Worker(_) => None,
        }
    }

    /// Whether the calling thread is a worker of this pool.
    #[must_use]
    pub fn is_current(&self) -> bool {
        self.with_worker(|worker| worker.is_some())
    }

    /// Whether nothing is run any more: the pool has drained, or its deadline has passed.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.group.life.is_over()
    }

    /// How many workers the pool has, spare ones not counted.
    #[must_use]
    pub fn workers(&self) -> usize {
        self.group.workers()
    }

    /// What the pool has done so far.
    #[must_use]
    pub fn stats(&self) -> PoolStats {
        self.group.stats()
    }

    /// Calls `with` with the calling thread's worker, if it is one of this pool.
    #[inline]
    fn with_worker<R>(&self, with: impl FnOnce(Option<&Worker>) -> R) -> R {
        tls::with(|context| {
            let worker = context.and_then(Context::as_worker);
            with(worker.filter(|worker| Arc::ptr_eq(worker.group(), &self.group)))
        })
    }
}

// Whatever a panic interrupts is a task's: the pool itself is never seen half done.
impl UnwindSafe for Handle {}
impl RefUnwindSafe for Handle {}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").field("group", &self.group).finish()
    }
}
