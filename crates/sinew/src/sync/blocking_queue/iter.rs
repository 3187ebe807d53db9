//! Iterators that pop values.

use super::BlockingQueue;

/// An iterator that pops the values of a [`BlockingQueue`]. It waits for each value, and ends when
/// the queue is stopped and empty.
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

/// An iterator that pops the values in a [`BlockingQueue`]. It never waits.
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
