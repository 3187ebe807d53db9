//! What a channel keeps, and who has still to receive it. All of it is under the lock of a wait queue: counted values are moved here, and neither
//! cloned nor dropped, and nothing is allocated. Knows no lock.
//!
//! Values have numbers, from zero on, and each receiver has that of its next one. A value is kept for as long as it is somebody's next one, or
//! comes after such a one. To know that, each has the number of receivers whose next one it is, and so has the end: a receiver that goes
//! on, comes or leaves changes one or two of these, however many values are kept. If the oldest one has to go, those whose next one it is
//! count for the one after it, which will be theirs when they have heard of what they missed.

use std::collections::VecDeque;
use std::mem;
use std::sync::Arc;

/// What is kept.
pub(super) struct KeptValues<T> {
    values: VecDeque<KeptValue<T>>,
    /// The number of the oldest.
    first: u64,
    capacity: usize,
    /// How many receivers have received all.
    at_end: usize,
    pub(super) senders: usize,
    pub(super) weak_senders: usize,
    pub(super) receivers: usize,
}

struct KeptValue<T> {
    value: Arc<T>,
    /// How many receivers have this one next. Of the oldest it is zero only while somebody is about to release it.
    readers: usize,
}

/// What a receiver finds.
pub(super) enum FoundValue<T> {
    Value(Arc<T>),
    Lagged(u64),
    Nothing,
}

impl<T> KeptValues<T> {
    pub(super) fn new(capacity: usize) -> Self {
        Self {
            values: VecDeque::new(),
            first: 0,
            capacity,
            at_end: 0,
            senders: 1,
            weak_senders: 0,
            receivers: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    /// The number of the next one that is sent.
    pub(super) fn end(&self) -> u64 {
        self.first + self.values.len() as u64
    }

    /// The size of a new ring, if this one has no place for one more value. The new one is made without the lock.
    pub(super) fn wants_ring(&self) -> Option<usize> {
        let len = self.values.len();
        let wants = self.receivers > 0 && len < self.capacity && len == self.values.capacity();
        wants.then(|| len.saturating_mul(2).max(4).min(self.capacity))
    }

    /// Moves into a ring that has more places, and leaves the old one there.
    pub(super) fn move_into(&mut self, ring: &mut KeptRing<T>) {
        if ring.0.capacity() > self.values.capacity() {
            ring.0.append(&mut self.values);
            mem::swap(&mut ring.0, &mut self.values);
        }
    }

    /// Keeps one more, for which there is a place. Returns the one that had to go for it.
    pub(super) fn push(&mut self, value: Arc<T>) -> Option<Arc<T>> {
        let oldest = if self.values.len() == self.capacity { self.release() } else { None };
        self.values.push_back(KeptValue { value, readers: mem::take(&mut self.at_end) });
        let (oldest, readers) = oldest.map_or((None, 0), |oldest| (Some(oldest.value), oldest.readers));
        self.values[0].readers += readers;
        oldest
    }

    /// The oldest is not kept any more.
    fn release(&mut self) -> Option<KeptValue<T>> {
        let oldest = self.values.pop_front()?;
        self.first += 1;
        Some(oldest)
    }

    /// One more listens, to what is sent from now on. Its next one.
    pub(super) fn enter(&mut self) -> u64 {
        self.receivers += 1;
        self.at_end += 1;
        self.end()
    }

    /// One listens no more, whose next one this is. What nobody needs is still to be [collected](Self::collect).
    pub(super) fn leave(&mut self, next: u64) {
        self.receivers -= 1;
        *self.readers(next.max(self.first)) -= 1;
    }

    /// The oldest, if nobody needs it.
    pub(super) fn collect(&mut self) -> Option<Arc<T>> {
        let is_over = self.values.front().is_some_and(|oldest| oldest.readers == 0);
        if is_over { self.release().map(|oldest| oldest.value) } else { None }
    }

    /// For a receiver whose next one this is; it is another one then.
    pub(super) fn find(&mut self, next: &mut u64) -> FoundValue<T> {
        if *next < self.first {
            return FoundValue::Lagged(self.first - mem::replace(next, self.first));
        }
        if *next == self.end() {
            return FoundValue::Nothing;
        }
        let at = *next;
        *next += 1;
        *self.readers(at) -= 1;
        *self.readers(at + 1) += 1;
        // Nobody else needs it, unless there are older ones that are about to be collected.
        let last = if at == self.first { self.collect() } else { None };
        FoundValue::Value(last.unwrap_or_else(|| self.values[(at - self.first) as usize].value.clone()))
    }

    /// How many receivers have this one next.
    fn readers(&mut self, number: u64) -> &mut usize {
        let at = (number - self.first) as usize;
        self.values.get_mut(at).map_or(&mut self.at_end, |value| &mut value.readers)
    }
}

/// A ring without values, to be moved into.
pub(super) struct KeptRing<T>(VecDeque<KeptValue<T>>);

impl<T> KeptRing<T> {
    pub(super) fn new(size: usize) -> Self {
        Self(VecDeque::with_capacity(size))
    }

    pub(super) fn size(&self) -> usize {
        self.0.capacity()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::KeptValues;

    #[test]
    fn a_ring_grows_for_receivers_up_to_the_capacity() {
        let mut kept = KeptValues::<u32>::new(6);
        assert_eq!(kept.wants_ring(), None, "nobody receives");
        kept.receivers = 1;
        assert_eq!(kept.wants_ring(), Some(4));
        kept.capacity = 3;
        assert_eq!(kept.wants_ring(), Some(3));
    }
}
