//! Idle workers of [`Strategy::Shared`](crate::Strategy): spinners and sleepers are known one by one, and a producer claims one for
//! each task. A spinner that is claimed needs no system call: it looks before it sleeps.

use crossbeam_utils::CachePadded;

use super::mask::Mask;
use super::{Coverage, Searching, most_searching};
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
        // Two that look at once may both begin: one more than there should be, for a moment. One that was claimed does not count, though it
        // searches: it may be kept from running, and whoever comes back from the task in its place goes on searching for it.
        (self.words.spinning.0.count() < self.most_spinning).then(|| self.search_anyway(worker))
    }

    pub(super) fn search_anyway(&self, worker: usize) -> Searching {
        self.words.spinning.0.add(worker, Ordering::Relaxed);
        Searching(())
    }

    /// Whoever claimed it relies on its look when it leaves or lies down, which is still to come.
    pub(super) fn go_on(&self, worker: usize) {
        if !self.words.spinning.0.contains(worker) {
            self.words.spinning.0.add(worker, Ordering::Relaxed);
        }
    }

    /// It has always been relied on, for all it knows: whoever saw it on its way, or is of another group, has only looked.
    pub(super) fn leave(&self, worker: usize, _searching: Searching) -> bool {
        self.words.spinning.0.remove(worker, Ordering::Relaxed);
        // Pairs with the fences of those that only looked: a producer that saw us on our way, a worker of another group that saw us
        // spin. They are seen by our look at the queues and at who sleeps. A producer that claimed us would be seen without: it has
        // changed the same word.
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
        is_there: impl Fn() -> bool,
        mut tell: impl FnMut(usize),
    ) -> Coverage {
        // Acquire: pairs with the releases above. SeqCst, because what stands for the fence before may be an exchange. Before the
        // look at who spins, so that whoever is not on its way any more is seen there.
        let is_pending = self.words.pending.load(Ordering::SeqCst) > 0;
        let is_anybody = is_pending
            || !self.words.spinning.0.is_empty(Ordering::SeqCst)
            || !self.words.sleeping.0.is_empty(Ordering::SeqCst);
        if !is_anybody {
            return Coverage::Uncovered;
        }
        let mut seen_to = 0;
        while seen_to < count {
            // Whoever is on its way sees to the first task only: a batch is to have as many workers as tasks.
            let is_seen_to = self.words.spinning.0.claim_lowest().is_some() || is_pending && seen_to == 0;
            // After the look at who spins: one that has taken it meanwhile is not to be replaced.
            if !is_seen_to && !is_there() {
                return Coverage::Covered;
            }
            if !is_seen_to && self.claim(1, &mut tell) == 0 {
                break;
            }
            seen_to += 1;
        }
        if seen_to == 0 { Coverage::Uncovered } else { Coverage::Covered }
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
        // Whoever is on its way too: this worker may just have had it woken, to leave it something.
        self.words.pending.load(Ordering::Relaxed) > 0
            || self.words.spinning.0.has_others(worker)
            || self.words.sleeping.0.has_others(worker)
    }

    pub(super) fn is_sleeping(&self, worker: usize) -> bool {
        self.words.sleeping.0.contains(worker)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whom a batch of so many tasks has told, and whether it was seen to.
    fn arrive(idle: &Masked, count: usize) -> (Vec<usize>, Coverage) {
        let mut told = Vec::new();
        let seen_to = idle.work_arrived(count, || true, |worker| told.push(worker));
        (told, seen_to)
    }

    #[test]
    fn spinners_are_claimed_first_and_not_told() {
        let idle = Masked::new(4);
        let spinning = [2, 3].map(|worker| idle.search(worker).expect("two may"));
        assert!(idle.search(1).is_none(), "no more than two");
        idle.lie_down(1, None);
        assert_eq!(arrive(&idle, 1), (vec![], Coverage::Covered));
        assert_eq!(arrive(&idle, 1), (vec![], Coverage::Covered));
        assert_eq!(arrive(&idle, 1), (vec![1], Coverage::Covered));
        for (worker, evidence) in [2, 3].into_iter().zip(spinning) {
            assert!(idle.leave(worker, evidence), "each looks");
        }
    }

    #[test]
    fn one_on_its_way_is_enough_for_tasks_one_by_one() {
        let idle = Masked::new(4);
        (0..4).for_each(|worker| idle.lie_down(worker, None));
        assert_eq!(arrive(&idle, 1), (vec![0], Coverage::Covered));
        assert_eq!(arrive(&idle, 1), (vec![], Coverage::Covered));
        // Of a batch, only one task is left to it.
        assert_eq!(arrive(&idle, 3), (vec![1, 2], Coverage::Covered));
        for worker in 0..3 {
            let evidence = idle.get_up(worker).expect("it was claimed");
            assert!(idle.leave(worker, evidence), "each looks");
        }
        assert_eq!(arrive(&idle, 2), (vec![3], Coverage::Covered));
        assert!(idle.get_up(3).is_some());
    }

    #[test]
    fn nobody_sees_to_it_if_all_are_at_work() {
        let idle = Masked::new(2);
        assert_eq!(arrive(&idle, 2), (vec![], Coverage::Uncovered));
        idle.lie_down(0, None);
        assert!(idle.get_up(0).is_none(), "nobody claimed it");
        assert_eq!(arrive(&idle, 1), (vec![], Coverage::Uncovered));
    }

    /// Or a worker that has somebody woken, to leave it a task, takes that task itself.
    #[test]
    fn one_on_its_way_is_one_to_leave_work_to() {
        let idle = Masked::new(2);
        let _searching = idle.search(0);
        assert!(!idle.has_others(0));
        idle.lie_down(1, None);
        assert!(idle.has_others(0));
        assert_eq!(idle.claim(1, |_| {}), 1);
        assert!(idle.has_others(0));
    }
}
