//! Idle workers of [`Strategy::Local`](crate::Strategy): searchers are counted, and a producer relies on any of them.

use crossbeam_utils::CachePadded;

use super::mask::Mask;
use super::{Coverage, Searching, most_searching};
use crate::sync::{AtomicIsize, Fence, Ordering, full_fence};

/// The idle workers of a group.
#[derive(Debug)]
pub(crate) struct Counted {
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

impl Counted {
    pub(super) fn new(workers: usize) -> Self {
        let words = Words { searching: AtomicIsize::new(0), sleeping: Mask::new() };
        Self { words: CachePadded::new(words), most_searching: most_searching(workers).cast_signed() }
    }

    pub(super) fn search(&self) -> Option<Searching> {
        let more = |searching| (searching < self.most_searching).then_some(searching + 1);
        // Relaxed: a searcher's promise is kept when it leaves; producers order their load by their own fence.
        let begun = self.words.searching.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        begun.ok().map(|_| Searching(()))
    }

    pub(super) fn search_anyway(&self) -> Searching {
        self.words.searching.fetch_add(1, Ordering::Relaxed);
        Searching(())
    }

    pub(super) fn leave(&self, _searching: Searching) -> bool {
        let before = self.words.searching.fetch_sub(1, Ordering::Relaxed);
        // Pairs with the fence of `work_arrived`: a producer that saw us searching is seen by our look at the queues.
        full_fence(Fence::Leave);
        before <= 1
    }

    pub(super) fn lie_down(&self, worker: usize, searching: Option<Searching>) {
        self.words.sleeping.add(worker, Ordering::Relaxed);
        // After the bit, so that a producer who sees no searcher sees a sleeper: release pairs with its acquire.
        if let Some(Searching(())) = searching {
            self.words.searching.fetch_sub(1, Ordering::Release);
        }
        // Pairs with the fence of `work_arrived`: a producer that saw neither us searching nor us asleep is seen by our
        // look at the queues.
        full_fence(Fence::LieDown);
    }

    pub(super) fn get_up(&self, worker: usize) -> Option<Searching> {
        let claimed = !self.words.sleeping.remove(worker, Ordering::Relaxed);
        claimed.then_some(Searching(()))
    }

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

    #[cold]
    pub(super) fn claim(&self, count: usize, mut tell: impl FnMut(usize)) -> usize {
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

    pub(super) fn has_any(&self) -> bool {
        self.words.searching.load(Ordering::Relaxed) > 0 || self.has_sleepers()
    }

    pub(super) fn has_others(&self, worker: usize, searching: bool) -> bool {
        self.words.searching.load(Ordering::Relaxed) > isize::from(searching)
            || self.words.sleeping.has_others(worker)
    }

    pub(super) fn is_sleeping(&self, worker: usize) -> bool {
        self.words.sleeping.contains(worker)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_is_not_among_the_others() {
        let idle = Counted::new(4);
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
