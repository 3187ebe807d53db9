//! The values that a channel stores, and which receivers have not received them yet. Used under the
//! lock of a wait queue: values are moved as `Arc`s, neither cloned nor dropped, and nothing is
//! allocated. Knows no lock.
//!
//! Values are numbered from zero, and each receiver knows the number of its next value. A value is
//! stored as long as it is the next value of a receiver, or comes after such a value. To know that,
//! each value counts the receivers whose next value it is, and so does the end of the list. A
//! receiver that advances, subscribes or leaves changes one or two of these counts, however many
//! values are stored. If the oldest value is removed, its receivers count for the value after it,
//! which will be their next one when they have been told what they missed.

use std::collections::VecDeque;
use std::mem;
use std::sync::Arc;

/// The stored values.
pub(super) struct KeptValues<T> {
    values: VecDeque<KeptValue<T>>,
    /// The number of the oldest value.
    first: u64,
    capacity: usize,
    /// The number of receivers that have received all values.
    at_end: usize,
    pub(super) senders: usize,
    pub(super) weak_senders: usize,
    pub(super) receivers: usize,
}

struct KeptValue<T> {
    value: Arc<T>,
    /// The number of receivers whose next value this is. Zero for the oldest value only until it is
    /// collected.
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

    /// Returns the number of the next value that will be sent.
    pub(super) fn end(&self) -> u64 {
        self.first + self.values.len() as u64
    }

    /// Returns the size of a new ring, if this one has no room for another value. The caller
    /// allocates the new ring without the lock.
    pub(super) fn wants_ring(&self) -> Option<usize> {
        let len = self.values.len();
        let wants = self.receivers > 0 && len < self.capacity && len == self.values.capacity();
        wants.then(|| len.saturating_mul(2).max(4).min(self.capacity))
    }

    /// Moves the values into `ring` if it is larger, and leaves the old ring there.
    pub(super) fn move_into(&mut self, ring: &mut KeptRing<T>) {
        if ring.0.capacity() > self.values.capacity() {
            ring.0.append(&mut self.values);
            mem::swap(&mut ring.0, &mut self.values);
        }
    }

    /// Stores a value, for which the ring has room. Returns the oldest value if it was removed for
    /// that.
    pub(super) fn push(&mut self, value: Arc<T>) -> Option<Arc<T>> {
        let oldest = if self.values.len() == self.capacity { self.release() } else { None };
        self.values.push_back(KeptValue { value, readers: mem::take(&mut self.at_end) });
        let (oldest, readers) = oldest.map_or((None, 0), |oldest| (Some(oldest.value), oldest.readers));
        self.values[0].readers += readers;
        oldest
    }

    /// Removes the oldest value.
    fn release(&mut self) -> Option<KeptValue<T>> {
        let oldest = self.values.pop_front()?;
        self.first += 1;
        Some(oldest)
    }

    /// Adds a receiver of the values that are sent from now on. Returns the number of its next
    /// value.
    pub(super) fn enter(&mut self) -> u64 {
        self.receivers += 1;
        self.at_end += 1;
        self.end()
    }

    /// Removes a receiver whose next value is `next`. The caller then has to
    /// [collect](Self::collect) the values that no receiver needs.
    pub(super) fn leave(&mut self, next: u64) {
        self.receivers -= 1;
        *self.readers(next.max(self.first)) -= 1;
    }

    /// Removes the oldest value if no receiver needs it.
    pub(super) fn collect(&mut self) -> Option<Arc<T>> {
        let is_over = self.values.front().is_some_and(|oldest| oldest.readers == 0);
        if is_over { self.release().map(|oldest| oldest.value) } else { None }
    }

    /// Finds the next value of a receiver, and advances `next`.
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
        // No other receiver needs the value if its count is zero, unless older values are about to
        // be collected.
        let last = if at == self.first { self.collect() } else { None };
        FoundValue::Value(last.unwrap_or_else(|| self.values[(at - self.first) as usize].value.clone()))
    }

    /// Returns the number of receivers whose next value has this number.
    fn readers(&mut self, number: u64) -> &mut usize {
        let at = (number - self.first) as usize;
        self.values.get_mut(at).map_or(&mut self.at_end, |value| &mut value.readers)
    }
}

/// A ring without values, into which they can be moved.
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
        assert_eq!(kept.wants_ring(), None, "there is no receiver");
        kept.receivers = 1;
        assert_eq!(kept.wants_ring(), Some(4));
        kept.capacity = 3;
        assert_eq!(kept.wants_ring(), Some(3));
    }
}
