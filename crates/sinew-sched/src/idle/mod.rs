//! Which workers search, which sleep, and which to wake for work that any of them may run. The
//! states, the protocol and its proof are in the README beside this file. Knows no queue and no
//! thread: callers bring both.

mod mask;
mod patience;
mod spin;

use crossbeam_utils::CachePadded;

pub(crate) use mask::MOST_WORKERS;
use mask::Mask;
pub(crate) use patience::{Patience, Verdict};
pub(crate) use spin::{Spin, SpinBudget};

use crate::sync::{AtomicIsize, Fence, Ordering, full_fence};

/// The idle workers of a group. Searchers are counted, and a producer relies on any of them.
#[derive(Debug)]
pub(crate) struct Idle {
    words: CachePadded<Words>,
    most_searching: isize,
}

#[derive(Debug)]
struct Words {
    /// The number of searchers: those that began and those that were claimed, minus those that
    /// left. A claimed worker may leave before its claimer has counted it in, so the number may be
    /// -1 for a moment.
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
    /// All workers are busy.
    Uncovered,
}

/// Evidence that the caller searches, and has to [`leave`](Idle::leave) or [lie
/// down](Idle::lie_down).
#[must_use]
#[derive(Debug)]
pub(crate) struct Searching(());

impl Idle {
    /// Returns the state of a group with this number of workers, without spare ones, all of them
    /// busy.
    pub(crate) fn new(workers: usize) -> Self {
        let words = Words { searching: AtomicIsize::new(0), sleeping: Mask::new() };
        Self { words: CachePadded::new(words), most_searching: if workers <= 2 { 1 } else { 2 } }
    }

    /// Begins to search, for a worker that has run out of work. Returns none if enough workers
    /// search already.
    pub(crate) fn search(&self) -> Option<Searching> {
        let more = |searching| (searching < self.most_searching).then_some(searching + 1);
        // Relaxed: a searcher keeps its promise when it leaves; producers order their load by their
        // own fence.
        let begun = self.words.searching.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        begun.ok().map(|_| Searching(()))
    }

    /// Begins to search, for a worker that has seen work while lying down, however many others
    /// search.
    pub(crate) fn search_anyway(&self) -> Searching {
        self.words.searching.fetch_add(1, Ordering::Relaxed);
        Searching(())
    }

    /// Ends the search of a worker that has found work. If this returns true, producers may have
    /// relied on this searcher and woken no other: it looks at all queues now, and wakes a worker
    /// if there is more work.
    #[must_use]
    pub(crate) fn leave(&self, _searching: Searching) -> bool {
        let before = self.words.searching.fetch_sub(1, Ordering::Relaxed);
        // Pairs with the fence before `work_arrived`: if a producer saw this worker searching, this
        // worker's look at the queues sees the producer's work.
        full_fence(Fence::Leave);
        before <= 1
    }

    /// Marks a worker as about to sleep. It has to look at all queues after this, and [gets
    /// up](Self::get_up) if it sees work.
    pub(crate) fn lie_down(&self, worker: usize, searching: Option<Searching>) {
        self.words.sleeping.add(worker, Ordering::Relaxed);
        // After the bit: a producer that sees no searcher sees a sleeper. Release pairs with the
        // producer's acquire.
        if let Some(Searching(())) = searching {
            self.words.searching.fetch_sub(1, Ordering::Release);
        }
        // Pairs with the fence before `work_arrived`: if a producer saw this worker neither
        // searching nor asleep, this worker's look at the queues sees the producer's work.
        full_fence(Fence::LieDown);
    }

    /// Marks a worker as awake again. If it was claimed meanwhile, it has to search.
    pub(crate) fn get_up(&self, worker: usize) -> Option<Searching> {
        let claimed = !self.words.sleeping.remove(worker, Ordering::Relaxed);
        claimed.then_some(Searching(()))
    }

    /// Finds a worker for work that was put where any worker can take it. The caller has a SeqCst
    /// fence, or an equivalent, between that and this call. Claims up to `count` sleepers, and
    /// calls `tell` for each of them, which wakes it. Claims none if the work is gone already: a
    /// searcher may have taken it and left. Returns whether a worker of this group will look for
    /// the work.
    #[inline]
    pub(crate) fn work_arrived(
        &self,
        count: usize,
        is_there: impl Fn() -> bool,
        tell: impl FnMut(usize),
    ) -> Coverage {
        // Acquire: pairs with the release in `lie_down`. SeqCst, here and below, because the
        // caller's fence may be an exchange, which orders no loads of another ordering.
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

    /// Claims up to `count` sleepers, however many workers search. Returns how many it claimed.
    #[cold]
    pub(crate) fn claim(&self, count: usize, mut tell: impl FnMut(usize)) -> usize {
        let mut claimed = 0;
        while claimed < count {
            let Some(worker) = self.words.sleeping.claim_lowest() else { break };
            // On behalf of the claimed worker, which may leave at once.
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

    /// Returns whether any worker is idle.
    pub(crate) fn has_any(&self) -> bool {
        self.words.searching.load(Ordering::Relaxed) > 0 || self.has_sleepers()
    }

    /// Returns whether any worker but this one is idle. `searching` says whether this one searches.
    pub(crate) fn has_others(&self, worker: usize, searching: bool) -> bool {
        self.words.searching.load(Ordering::Relaxed) > isize::from(searching)
            || self.words.sleeping.has_others(worker)
    }

    /// Returns whether a worker sleeps, or is about to.
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
