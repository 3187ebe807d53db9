//! The seam between a fiber and what runs it: a pool of workers, or anything else that runs tasks.
//!
//! A fiber that is woken on one of its own workers goes to that worker's queues directly, since
//! that is the hot path. Only wake-ups from other threads use this seam.

use std::sync::{Arc, OnceLock};

use sinew_sched::{Placement, TaskRef};

use crate::rt::base::Counters;

/// Runs tasks. Implemented by engines.
pub(crate) trait Schedule: Send + Sync {
    /// Schedules a task at this place, whether it has run before or not. Callable from any thread.
    ///
    /// A task that cannot run any more is discarded.
    fn schedule(&self, task: TaskRef, to: Placement);

    /// Schedules all of these new tasks, anywhere. Callable from any thread.
    fn schedule_all(&self, tasks: Vec<TaskRef>);

    /// Returns how many groups of workers there are.
    fn groups(&self) -> usize;

    /// Lets idle workers poll this worker's driver now and then. The driver watches for events that
    /// concern other workers, and its own worker is awake and may compute for long.
    fn begin_watch(&self, worker: usize);

    /// Calls `body`, which spawns fibers where no fiber runs. Shutdown does not complete meanwhile.
    fn deliver(&self, body: &mut dyn FnMut());
}

/// The scheduler of a fiber, as its control block knows it.
#[derive(Default)]
pub(crate) struct Scheduler {
    schedule: OnceLock<Arc<dyn Schedule>>,
    /// Counters of threads that are not its workers.
    pub(crate) outside: Counters,
}

impl Scheduler {
    /// Sets what runs the fibers. Called once, before there are any.
    pub(crate) fn begin(&self, schedule: Arc<dyn Schedule>) {
        assert!(self.schedule.set(schedule).is_ok(), "a scheduler begins once");
    }

    /// Returns what runs the fibers, if it was set.
    pub(crate) fn try_get(&self) -> Option<&Arc<dyn Schedule>> {
        self.schedule.get()
    }

    /// Returns what runs the fibers.
    pub(crate) fn get(&self) -> &Arc<dyn Schedule> {
        self.schedule.get().expect("a scheduler begins before its first fiber")
    }
}
