//! Who searches, who sleeps, and whom to wake for work that anyone may run. The states, the protocol and its proof are in
//! the README beside this file. Knows no queue and no thread: callers bring both.

mod mask;
mod patience;
mod spin;

use crossbeam_utils::CachePadded;

pub(crate) use mask::MOST_WORKERS;
use mask::Mask;
pub(crate) use patience::{Patience, Verdict};
pub(crate) use spin::{Spin, SpinBudget};

use crate::sync::{AtomicIsize, Fence, Ordering, full_fence};

/// The idle workers of a group: searchers are counted, and a producer relies on any of them.
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
    /// Workers that sleep or are about to.
    sleeping: Mask,
}

/// Whether a worker will look for work that has arrived.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Coverage {
    /// A worker searches, or was claimed.
    Covered,
    /// All are at work.
    Uncovered,
}

/// Evidence that the caller searches, and has to [`leave`](Idle::leave) or [lie down](Idle::lie_down).
#[must_use]
#[derive(Debug)]
pub(crate) struct Searching(());

impl Idle {
    /// For so many workers, spare ones not included.
    pub(crate) fn new(workers: usize) -> Self {
        let words = Words { searching: AtomicIsize::new(0), sleeping: Mask::new() };
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

    /// A searcher has work. If this returns true, others may have relied on it: producers have woken nobody else, so it looks at all
    /// queues now, and wakes somebody if there is more.
    #[must_use]
    pub(crate) fn leave(&self, _searching: Searching) -> bool {
        let before = self.words.searching.fetch_sub(1, Ordering::Relaxed);
        // Pairs with the fence of `work_arrived`: a producer that saw us searching is seen by our look at the queues.
        full_fence(Fence::Leave);
        before <= 1
    }

    /// A worker is about to sleep. It has to look at all queues after this, and [gets up](Self::get_up) if it sees work.
    pub(crate) fn lie_down(&self, worker: usize, searching: Option<Searching>) {
        self.words.sleeping.add(worker, Ordering::Relaxed);
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
        let claimed = !self.words.sleeping.remove(worker, Ordering::Relaxed);
        claimed.then_some(Searching(()))
    }

    /// Work was put where anyone can take it, and a SeqCst fence, or what is as good, stands between that and this call.
    /// Claims up to `count` workers, of which the caller has to tell those that sleep, each through `tell`. None, if the work is
    /// not there any more: a searcher may have taken it and be gone already. Whether anybody here sees to it.
    #[inline]
    pub(crate) fn work_arrived(
        &self,
        count: usize,
        is_there: impl Fn() -> bool,
        tell: impl FnMut(usize),
    ) -> Coverage {
        // Acquire: pairs with the release in `lie_down`. SeqCst, as below, because what stands for the fence before may be
        // an exchange, which orders no other loads.
        if self.words.searching.load(Ordering::SeqCst) > 0 {
            return Coverage::Covered;
        }
        if !self.has_sleepers() {
            return Coverage::Uncovered;
        }
        if is_there() && self.claim(count, tell) == 0 {
            return Coverage::Uncovered;
        }
        Coverage::Covered
    }

    /// Claims up to `count` sleepers, whoever is searching. Returns how many.
    #[cold]
    pub(crate) fn claim(&self, count: usize, mut tell: impl FnMut(usize)) -> usize {
        let mut claimed = 0;
        while claimed < count {
            let Some(worker) = self.words.sleeping.claim_lowest() else { break };
            // On the worker's behalf, which it may leave at once.
            self.words.searching.fetch_add(1, Ordering::Relaxed);
            tell(worker);
            claimed += 1;
        }
        claimed
    }

    #[inline]
    fn has_sleepers(&self) -> bool {
        !self.words.sleeping.is_empty(Ordering::SeqCst)
    }

    /// Whether somebody has nothing to do.
    pub(crate) fn has_any(&self) -> bool {
        self.words.searching.load(Ordering::Relaxed) > 0 || self.has_sleepers()
    }

    /// Whether somebody but this worker has nothing to do. `searching` says whether this one searches.
    pub(crate) fn has_others(&self, worker: usize, searching: bool) -> bool {
        self.words.searching.load(Ordering::Relaxed) > isize::from(searching)
            || self.words.sleeping.has_others(worker)
    }

    /// Whether a worker sleeps, or is about to.
    pub(crate) fn is_sleeping(&self, worker: usize) -> bool {
        self.words.sleeping.contains(worker)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_is_not_among_the_others() {
        let idle = Idle::new(4);
        assert!(!idle.has_others(0, false));
        let own = idle.search().expect("two may");
        assert!(!idle.has_others(0, true) && idle.has_others(1, false));
        let other = idle.search().expect("two may");
        assert!(idle.has_others(0, true) && idle.has_others(1, true));
        idle.lie_down(0, Some(own));
        assert!(idle.leave(other), "it is the last searcher");
        assert!(!idle.has_others(0, false) && idle.has_others(1, false));
    }
}
