//! The seam between a fiber and what runs it: a pool of workers, or anything else that runs tasks.
//!
//! A fiber that is woken on one of its own workers goes to that worker's queues directly, which is
//! the hot path and no call through a seam. Only wake-ups from other threads come here.

use std::sync::{Arc, OnceLock};

use sinew_sched::{Placement, TaskRef};

use crate::rt::base::Counters;

/// Runs tasks. Implemented by those that run fibers.
pub(crate) trait Schedule: Send + Sync {
    /// Runs a task that has run before, or begins it, at this place. Callable from any thread.
    ///
    /// A task that cannot run any more is discarded.
    fn schedule(&self, task: TaskRef, to: Placement);

    /// Begins all of these tasks, anywhere. Callable from any thread.
    fn schedule_all(&self, tasks: Vec<TaskRef>);

    /// Returns how many groups of workers there are.
    fn groups(&self) -> usize;

    /// Lets idle workers poll the driver of this worker now and then: it watches for events that
    /// concern others, and its worker is awake, and may compute for long.
    fn begin_watch(&self, worker: usize);

    /// Calls `body`, which makes fibers where no fiber runs. No shutdown ends meanwhile.
    fn deliver(&self, body: &mut dyn FnMut());
}

/// What a control block knows of who runs its fiber.
#[derive(Default)]
pub(crate) struct Scheduler {
    schedule: OnceLock<Arc<dyn Schedule>>,
    /// What threads count that are none of its workers.
    pub(crate) outside: Counters,
}

impl Scheduler {
    /// Says who runs the fibers. Once, before there are any.
    pub(crate) fn begin(&self, schedule: Arc<dyn Schedule>) {
        assert!(self.schedule.set(schedule).is_ok(), "a scheduler begins once");
    }

    /// Returns who runs the fibers, if it has begun.
    pub(crate) fn try_get(&self) -> Option<&Arc<dyn Schedule>> {
        self.schedule.get()
    }

    /// Returns who runs the fibers.
    pub(crate) fn get(&self) -> &Arc<dyn Schedule> {
        self.schedule.get().expect("a scheduler begins before its first fiber")
    }
}
