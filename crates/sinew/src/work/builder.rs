//! Settings for a new queue.

use super::batch::Batch;
use super::execution_queue::ExecutionQueue;
use super::shared::WorkSettings;
use super::work_queue::WorkQueue;
use crate::rt::check_size;

/// Settings for the fibers of a new queue.
///
/// ```
/// use sinew::work::Builder;
/// use sinew::{fiber, sync::mpsc};
///
/// let queue = Builder::new().name(String::from("log")).work_queue();
/// let (sender, receiver) = mpsc::channel();
/// queue.push(move || sender.send(fiber::current().name().map(String::from)).unwrap()).unwrap();
/// assert_eq!(receiver.recv().unwrap().as_deref(), Some("log"));
/// ```
#[must_use = "a queue is made by `work_queue` or `execution_queue`"]
#[derive(Debug, Default)]
pub struct Builder {
    settings: WorkSettings,
}

impl Builder {
    /// Makes the default settings.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the name of the fibers, for messages. Any string is permitted.
    pub fn name(mut self, name: String) -> Self {
        self.settings.name = Some(name.into_boxed_str());
        self
    }

    /// Sets the minimum stack size of the fibers, in bytes. The default is the setting of the
    /// runtime.
    ///
    /// # Panics
    ///
    /// Panics if there are no stacks of that size, as
    /// [`fiber::Builder::stack_size`](crate::fiber::Builder::stack_size) does.
    #[track_caller]
    pub fn stack_size(mut self, size: usize) -> Self {
        assert!(check_size(size).is_ok(), "a stack of {size} bytes was asked for, and none is that large");
        self.settings.stack_size = Some(size.max(1));
        self
    }

    /// Makes a queue of functions with these settings, like [`WorkQueue::new`].
    ///
    /// # Panics
    ///
    /// Panics as [`WorkQueue::new`] does.
    #[track_caller]
    pub fn work_queue(self) -> WorkQueue {
        WorkQueue::with(self.settings)
    }

    /// Makes a queue of tasks with these settings, like [`ExecutionQueue::new`].
    ///
    /// # Panics
    ///
    /// Panics as [`ExecutionQueue::new`] does.
    #[track_caller]
    pub fn execution_queue<T, F>(self, work: F) -> ExecutionQueue<T>
    where
        T: Send + 'static,
        F: FnMut(Batch<'_, T>) + Send + 'static,
    {
        ExecutionQueue::with(self.settings, work)
    }
}
