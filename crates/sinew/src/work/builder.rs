//! How a queue is to be.

use super::batch::Batch;
use super::execution_queue::ExecutionQueue;
use super::shared::WorkSettings;
use super::work_queue::WorkQueue;
use crate::rt::check_size;

/// How a queue's fibers are to be.
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
    /// As fibers are that nothing is said of.
    pub fn new() -> Self {
        Self::default()
    }

    /// Their name, for messages. Any string will do.
    pub fn name(mut self, name: String) -> Self {
        self.settings.name = Some(name.into_boxed_str());
        self
    }

    /// How much stack they have at least, in bytes; what the runtime was set to, unless set.
    ///
    /// # Panics
    ///
    /// If no stack is that large: as for [`fiber::Builder::stack_size`](crate::fiber::Builder::stack_size).
    #[track_caller]
    pub fn stack_size(mut self, size: usize) -> Self {
        assert!(check_size(size).is_ok(), "a stack of {size} bytes was asked for, and none is that large");
        self.settings.stack_size = Some(size.max(1));
        self
    }

    /// As [`WorkQueue::new`].
    ///
    /// # Panics
    ///
    /// As that.
    #[track_caller]
    pub fn work_queue(self) -> WorkQueue {
        WorkQueue::with(self.settings)
    }

    /// As [`ExecutionQueue::new`].
    ///
    /// # Panics
    ///
    /// As that.
    #[track_caller]
    pub fn execution_queue<T, F>(self, work: F) -> ExecutionQueue<T>
    where
        T: Send + 'static,
        F: FnMut(Batch<'_, T>) + Send + 'static,
    {
        ExecutionQueue::with(self.settings, work)
    }
}
