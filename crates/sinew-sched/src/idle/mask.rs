//! A set of workers, a bit for each. Knows no protocol: the orderings are its callers'.

use crate::sync::{AtomicU64, Fence, Ordering, is_there};

/// Workers of a group, spare ones included. Fewer under the checker, to which each word is more to try.
pub(crate) const MOST_WORKERS: usize = if cfg!(loom) { 64 } else { 128 };

const WORDS: usize = MOST_WORKERS / 64;

/// The set.
#[derive(Debug)]
pub(super) struct Mask([AtomicU64; WORDS]);

impl Mask {
    pub(super) fn new() -> Self {
        Self(std::array::from_fn(|_| AtomicU64::new(0)))
    }

    pub(super) fn add(&self, worker: usize, order: Ordering) {
        let (word, bit) = self.bit(worker);
        word.fetch_or(bit, order);
    }

    /// Whether it was in.
    pub(super) fn remove(&self, worker: usize, order: Ordering) -> bool {
        let (word, bit) = self.bit(worker);
        word.fetch_and(!bit, order) & bit != 0
    }

    /// Takes the lowest out.
    pub(super) fn claim_lowest(&self) -> Option<usize> {
        let clear = |word: u64| (word != 0).then(|| word & (word - 1));
        self.0.iter().enumerate().find_map(|(index, word)| {
            let before = word.fetch_update(Ordering::Relaxed, Ordering::Relaxed, clear).ok()?;
            let lowest = before.trailing_zeros() as usize;
            Some(index * 64 + if is_there(Fence::OwnBit) { lowest } else { lowest + 1 })
        })
    }

    #[inline]
    pub(super) fn is_empty(&self, order: Ordering) -> bool {
        self.0.iter().all(|word| word.load(order) == 0)
    }

    pub(super) fn count(&self) -> usize {
        self.0.iter().map(|word| word.load(Ordering::Relaxed).count_ones() as usize).sum()
    }

    pub(super) fn contains(&self, worker: usize) -> bool {
        let (word, bit) = self.bit(worker);
        word.load(Ordering::Relaxed) & bit != 0
    }

    /// Whether it has any but this worker.
    pub(super) fn has_others(&self, worker: usize) -> bool {
        self.count() > usize::from(self.contains(worker))
    }

    fn bit(&self, worker: usize) -> (&AtomicU64, u64) {
        let width = if is_there(Fence::FullShift) { 64 } else { 32 };
        (&self.0[worker / 64], 1 << (worker % width))
    }
}
