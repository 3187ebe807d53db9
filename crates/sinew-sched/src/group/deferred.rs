//! Tasks that cannot run for now, until a caller takes them back. Knows neither the reason nor the
//! callers.
//!
//! They do not count as work: no worker is woken for them, and no worker finds them while it
//! searches. But a pool is not drained before they are gone, and it discards them when it is over.

use crate::sync::{AtomicUsize, Lock, Ordering};
use crate::task::{List, TaskRef};

/// The tasks, the oldest first.
#[derive(Debug)]
pub(crate) struct Deferred {
    tasks: Lock<List>,
    /// The number of tasks, including the ones that are being tried at the moment: for a reader
    /// without the lock, they do not go and come back.
    count: AtomicUsize,
}

impl Deferred {
    pub(crate) fn new() -> Self {
        Self { tasks: Lock::new(List::new()), count: AtomicUsize::new(0) }
    }

    /// Returns the number of tasks. A worker that learned of one in another way, by a task that was
    /// sent to it or by being told, sees it here.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }

    /// Adds a task. Returns whether it is the only one.
    pub(crate) fn put(&self, task: TaskRef) -> bool {
        let tasks = self.tasks.lock();
        tasks.push_back(task);
        self.count.fetch_add(1, Ordering::Relaxed) == 0
    }

    /// Takes the oldest task.
    pub(crate) fn take(&self) -> Option<TaskRef> {
        let task = self.tasks.lock().pop_front()?;
        self.count.fetch_sub(1, Ordering::Relaxed);
        Some(task)
    }

    /// Tries the oldest task. If `attempt` returns the task, it goes behind the others. Returns
    /// whether the task is gone; none, if there is no task, except those that other threads try.
    pub(crate) fn attempt(&self, attempt: impl FnOnce(TaskRef) -> Result<(), TaskRef>) -> Option<bool> {
        let task = self.tasks.lock().pop_front()?;
        Some(match attempt(task) {
            Ok(()) => {
                self.count.fetch_sub(1, Ordering::Relaxed);
                true
            }
            Err(task) => {
                self.tasks.lock().push_back(task);
                false
            }
        })
    }
}
