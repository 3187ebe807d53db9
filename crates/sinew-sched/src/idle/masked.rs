//! Idle workers of [`Strategy::Shared`](crate::Strategy): spinners and sleepers are known one by one, and a producer claims one for
//! each task. A spinner that is claimed needs no system call: it looks before it sleeps.

use crossbeam_utils::CachePadded;

use super::mask::Mask;
use super::{Searching, SeenTo, most_searching};
use crate::sync::{AtomicIsize, Fence, Ordering, full_fence};

/// Workers that search and were not claimed.
#[derive(Debug)]
struct Spinning(Mask);

/// Workers that sleep, or are about to, and were not claimed.
#[derive(Debug)]
struct Sleeping(Mask);

/// The idle workers of a group.
#[derive(Debug)]
pub(crate) struct Masked {
    words: CachePadded<Words>,
    most_spinning: usize,
}

#[derive(Debug)]
struct Words {
    spinning: Spinning,
    sleeping: Sleeping,
    /// Sleepers that were claimed and do not spin yet: one at a time is enough, since it has the next one woken if there is more. A
    /// claimed one may be up before its claimer has counted it, so that it may be -1 for a moment.
    pending: AtomicIsize,
}

impl Masked {
    pub(super) fn new(workers: usize) -> Self {
        let words = Words {
            spinning: Spinning(Mask::new()),
            sleeping: Sleeping(Mask::new()),
            pending: AtomicIsize::new(0),
        };
        Self { words: CachePadded::new(words), most_spinning: most_searching(workers) }
    }

    pub(super) fn search(&self, worker: usize) -> Option<Searching> {
        // Two that look at once may both begin: one more than there should be, for a moment.
        (self.words.spinning.0.count() < self.most_spinning).then(|| self.search_anyway(worker))
    }

    pub(super) fn search_anyway(&self, worker: usize) -> Searching {
        self.words.spinning.0.add(worker, Ordering::Relaxed);
        Searching(())
    }

    /// It may have been claimed, for more than it has found.
    pub(super) fn leave(&self, worker: usize, _searching: Searching) -> bool {
        self.words.spinning.0.remove(worker, Ordering::Relaxed);
        // Pairs with the fence of a producer: one that claimed us is seen by our look at the queues.
        full_fence(Fence::Leave);
        true
    }

    pub(super) fn lie_down(&self, worker: usize, searching: Option<Searching>) {
        self.words.sleeping.0.add(worker, Ordering::Relaxed);
        // After the bit, so that a producer who finds no spinner finds a sleeper: release pairs with its acquire.
        if let Some(Searching(())) = searching {
            self.words.spinning.0.remove(worker, Ordering::Release);
        }
        // Pairs with the fence of a producer: one that claimed us as a spinner, or found us neither spinning nor asleep, is seen by
        // our look at the queues.
        full_fence(Fence::LieDown);
    }

    pub(super) fn get_up(&self, worker: usize) -> Option<Searching> {
        if self.words.sleeping.0.remove(worker, Ordering::Relaxed) {
            return None;
        }
        // Spinning first, so that a producer sees one or the other: release pairs with its acquire.
        let searching = self.search_anyway(worker);
        self.words.pending.fetch_sub(1, Ordering::Release);
        Some(searching)
    }

    #[inline(never)]
    pub(super) fn work_arrived(
        &self,
        count: usize,
        is_there: impl FnOnce() -> bool,
        mut tell: impl FnMut(usize),
    ) -> SeenTo {
        // Acquire: pairs with the releases above. SeqCst, because what stands for the fence before may be an exchange.
        let is_anybody = self.words.pending.load(Ordering::SeqCst) > 0
            || !self.words.spinning.0.is_empty(Ordering::SeqCst)
            || !self.words.sleeping.0.is_empty(Ordering::SeqCst);
        if !is_anybody {
            return SeenTo::ByNobody;
        }
        if !is_there() {
            return SeenTo::Here;
        }
        let mut seen_to = 0;
        while seen_to < count {
            if self.words.spinning.0.claim_lowest().is_none() && !self.wake_one(seen_to, &mut tell) {
                break;
            }
            seen_to += 1;
        }
        if seen_to == 0 { SeenTo::ByNobody } else { SeenTo::Here }
    }

    /// Has a sleeper woken, unless one is on its way: then that one will see to it, if this is the first task. Whether somebody is
    /// there.
    fn wake_one(&self, seen_to: usize, tell: &mut impl FnMut(usize)) -> bool {
        if seen_to == 0 && self.words.pending.load(Ordering::SeqCst) > 0 {
            return true;
        }
        self.claim(1, tell) == 1
    }

    #[cold]
    pub(super) fn claim(&self, count: usize, mut tell: impl FnMut(usize)) -> usize {
        let mut claimed = 0;
        while claimed < count {
            let Some(worker) = self.words.sleeping.0.claim_lowest() else { break };
            // On the worker's behalf, which may be up at once.
            self.words.pending.fetch_add(1, Ordering::Relaxed);
            tell(worker);
            claimed += 1;
        }
        claimed
    }

    pub(super) fn has_any(&self) -> bool {
        self.words.pending.load(Ordering::Relaxed) > 0
            || !self.words.spinning.0.is_empty(Ordering::Relaxed)
            || !self.words.sleeping.0.is_empty(Ordering::SeqCst)
    }

    pub(super) fn has_others(&self, worker: usize) -> bool {
        self.words.spinning.0.has_others(worker) || self.words.sleeping.0.has_others(worker)
    }

    pub(super) fn is_sleeping(&self, worker: usize) -> bool {
        self.words.sleeping.0.contains(worker)
    }
}
