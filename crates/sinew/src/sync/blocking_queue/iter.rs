//! Taking values one after the other.

use super::BlockingQueue;

/// The values of a [`BlockingQueue`], as they come: waits for each, until the queue is stopped and nothing is left in it.
#[derive(Debug)]
pub struct BlockingQueueIter<'a, T> {
    pub(super) queue: &'a BlockingQueue<T>,
}

impl<T> Iterator for BlockingQueueIter<'_, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.queue.pop().ok()
    }
}

/// The values of a [`BlockingQueue`] that are there. Waits for none.
#[derive(Debug)]
pub struct BlockingQueueTryIter<'a, T> {
    pub(super) queue: &'a BlockingQueue<T>,
}

impl<T> Iterator for BlockingQueueTryIter<'_, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.queue.try_pop().ok()
    }
}

impl<'a, T> IntoIterator for &'a BlockingQueue<T> {
    type Item = T;
    type IntoIter = BlockingQueueIter<'a, T>;

    fn into_iter(self) -> BlockingQueueIter<'a, T> {
        self.iter()
    }
}
