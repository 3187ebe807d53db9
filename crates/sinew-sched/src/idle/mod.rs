//! Who searches, who sleeps, and whom to wake for work that anyone may run. The states, the protocol and its proof are in
//! the README beside this file. Knows no queue and no thread: callers bring both.

mod patience;
mod spin;

use crossbeam_utils::CachePadded;

pub(crate) use patience::{Patience, Verdict};
pub(crate) use spin::Spin;

use crate::sync::{AtomicIsize, AtomicU64, Fence, Ordering, full_fence};

/// Workers of a group, spare ones included. Fewer under the checker, to which each word is more to try.
pub(crate) const MOST_WORKERS: usize = if cfg!(loom) { 64 } else { 128 };

const WORDS: usize = MOST_WORKERS / 64;

/// The idle workers of a group.
#[derive(Debug)]
pub(crate) struct Idle {
    words: CachePadded<Words>,
    most_searching: isize,
}

#[derive(Debug)]
struct Words {
    /// Searchers: begun and claimed ones, less those that left. Whoever is claimed may leave before the claimer has counted
    /// it in, so that it may be -1 for a moment.
    searching: AtomicIsize,
    /// A bit for each worker that sleeps or is about to.
    sleeping: [AtomicU64; WORDS],
}

/// Whether somebody is there for work that has arrived.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SeenTo {
    /// Somebody searches, or was claimed.
    Here,
    /// All are at work.
    ByNobody,
}

/// Evidence that the caller is counted as searching, and has to [`leave`](Idle::leave) or [lie down](Idle::lie_down).
#[must_use]
#[derive(Debug)]
pub(crate) struct Searching(());

impl Idle {
    /// For so many workers, spare ones not included.
    pub(crate) fn new(workers: usize) -> Self {
        let words =
            Words { searching: AtomicIsize::new(0), sleeping: std::array::from_fn(|_| AtomicU64::new(0)) };
        Self { words: CachePadded::new(words), most_searching: if workers <= 2 { 1 } else { 2 } }
    }

    /// A worker has run out of work. Searching is permitted to a few at a time.
    pub(crate) fn search(&self) -> Option<Searching> {
        let more = |searching| (searching < self.most_searching).then_some(searching + 1);
        // Relaxed: a searcher's promise is kept when it leaves; producers order their load by their own fence.
        let begun = self.words.searching.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        begun.ok().map(|_| Searching(()))
    }

    /// A worker has seen work while lying down: it searches, whoever else does.
    pub(crate) fn search_anyway(&self) -> Searching {
        self.words.searching.fetch_add(1, Ordering::Relaxed);
        Searching(())
    }

    /// A searcher has work. If this returns true, it may have been the last: producers that saw it searching have woken
    /// nobody, so it looks at all queues now, and wakes somebody if there is more.
    #[must_use]
    pub(crate) fn leave(&self, _searching: Searching) -> bool {
        let before = self.words.searching.fetch_sub(1, Ordering::Relaxed);
        // Pairs with the fence of `work_arrived`: a producer that saw us searching is seen by our look at the queues.
        full_fence(Fence::Leave);
        before <= 1
    }

    /// A worker is about to sleep. It has to look at all queues after this, and [gets up](Self::get_up) if it sees work.
    pub(crate) fn lie_down(&self, worker: usize, searching: Option<Searching>) {
        let (word, bit) = self.bit(worker);
        word.fetch_or(bit, Ordering::Relaxed);
        // After the bit, so that a producer who sees no searcher sees a sleeper: release pairs with its acquire.
        if let Some(Searching(())) = searching {
            self.words.searching.fetch_sub(1, Ordering::Release);
        }
        // Pairs with the fence of `work_arrived`: a producer that saw neither us searching nor us asleep is seen by our
        // look at the queues.
        full_fence(Fence::LieDown);
    }

    /// A worker does not sleep any more. If it was claimed meanwhile, it is to search.
    pub(crate) fn get_up(&self, worker: usize) -> Option<Searching> {
        let (word, bit) = self.bit(worker);
        let claimed = word.fetch_and(!bit, Ordering::Relaxed) & bit == 0;
        claimed.then_some(Searching(()))
    }

    /// Work was put where anyone can take it, and a SeqCst fence, or what is as good, stands between that and this call.
    /// Claims up to `count` sleepers, which the caller has to tell, each through `tell`. None, if somebody is searching, or
    /// if the work is not there any more: a searcher may have taken it and be gone already. Whether anybody here sees to it.
    #[inline]
    pub(crate) fn work_arrived(
        &self,
        count: usize,
        is_there: impl FnOnce() -> bool,
        tell: impl FnMut(usize),
    ) -> SeenTo {
        // Acquire: pairs with the release in `lie_down`. SeqCst, as below, because what stands for the fence before may be
        // an exchange, which orders no other loads.
        if self.words.searching.load(Ordering::SeqCst) > 0 {
            return SeenTo::Here;
        }
        if !self.has_sleepers() {
            return SeenTo::ByNobody;
        }
        if is_there() && self.claim(count, tell) == 0 {
            return SeenTo::ByNobody;
        }
        SeenTo::Here
    }

    /// Claims up to `count` sleepers, whoever is searching. Returns how many.
    #[cold]
    pub(crate) fn claim(&self, count: usize, mut tell: impl FnMut(usize)) -> usize {
        let mut claimed = 0;
        while claimed < count {
            let Some(worker) = self.claim_lowest() else { break };
            // On the worker's behalf, which it may leave at once.
            self.words.searching.fetch_add(1, Ordering::Relaxed);
            tell(worker);
            claimed += 1;
        }
        claimed
    }

    fn claim_lowest(&self) -> Option<usize> {
        let clear = |word: u64| (word != 0).then(|| word & (word - 1));
        self.words.sleeping.iter().enumerate().find_map(|(index, word)| {
            let before = word.fetch_update(Ordering::Relaxed, Ordering::Relaxed, clear).ok()?;
            Some(index * 64 + before.trailing_zeros() as usize)
        })
    }

    #[inline]
    fn has_sleepers(&self) -> bool {
        self.words.sleeping.iter().any(|word| word.load(Ordering::SeqCst) != 0)
    }

    /// Whether somebody has nothing to do.
    pub(crate) fn has_any(&self) -> bool {
        self.words.searching.load(Ordering::Relaxed) > 0 || self.has_sleepers()
    }

    /// Whether somebody but this worker has nothing to do. `searching` says whether this one is counted as searching.
    pub(crate) fn has_others(&self, worker: usize, searching: bool) -> bool {
        self.words.searching.load(Ordering::Relaxed) > isize::from(searching)
            || self.has_other_sleepers(worker)
    }

    fn has_other_sleepers(&self, worker: usize) -> bool {
        let (own, bit) = self.bit(worker);
        let others = |word: &AtomicU64| {
            let own_bit = if std::ptr::eq(word, own) { bit } else { 0 };
            word.load(Ordering::Relaxed) & !own_bit != 0
        };
        self.words.sleeping.iter().any(others)
    }

    /// Whether a worker sleeps, or is about to.
    pub(crate) fn is_sleeping(&self, worker: usize) -> bool {
        let (word, bit) = self.bit(worker);
        word.load(Ordering::Relaxed) & bit != 0
    }

    fn bit(&self, worker: usize) -> (&AtomicU64, u64) {
        (&self.words.sleeping[worker / 64], 1 << (worker % 64))
    }
}
