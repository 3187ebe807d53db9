//! Tasks that cannot run for now, until somebody takes them back. Knows neither why nor who.
//!
//! They are no work: nobody is woken for them, and nobody who looks for work sees them. But they are there: a pool is not drained
//! before they are gone, and discards them when it is over.

use crate::sync::{AtomicUsize, Lock, Ordering};
use crate::task::{List, TaskRef};

/// The tasks, those first that have been here for longest.
#[derive(Debug)]
pub(crate) struct Deferred {
    tasks: Lock<List>,
    /// How many, those included that somebody tries at the moment: they do not come and go for whoever looks without the lock.
    count: AtomicUsize,
}

impl Deferred {
    pub(crate) fn new() -> Self {
        Self { tasks: Lock::new(List::new()), count: AtomicUsize::new(0) }
    }

    /// How many there are. A worker that knows of one by other means sees it here: by a task it was sent, or by being told.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }

    /// Adds one. Whether it is the only one.
    pub(crate) fn put(&self, task: TaskRef) -> bool {
        let tasks = self.tasks.lock();
        tasks.push_back(task);
        self.count.fetch_add(1, Ordering::Relaxed) == 0
    }

    /// Takes the one that has been here for longest.
    pub(crate) fn take(&self) -> Option<TaskRef> {
        let task = self.tasks.lock().pop_front()?;
        self.count.fetch_sub(1, Ordering::Relaxed);
        Some(task)
    }

    /// Tries the one that has been here for longest. What comes back goes behind the others. None, if there is none that nobody
    /// else tries; else whether it is gone.
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
