//! Who searches, who sleeps, and whom to wake for work that anyone may run. The states, the protocols and their proof are in
//! the README beside this file. Knows no queue and no thread: callers bring both.

mod counted;
mod mask;
mod masked;
mod patience;
mod spin;

use counted::Counted;
pub(crate) use mask::MOST_WORKERS;
use masked::Masked;
pub(crate) use patience::{Patience, Verdict};
pub(crate) use spin::{Spin, SpinBudget};

use crate::strategy::Strategy;

/// The idle workers of a group.
#[derive(Debug)]
pub(crate) enum Idle {
    Counted(Counted),
    Masked(Masked),
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

/// How many search at a time, of so many workers.
fn most_searching(workers: usize) -> usize {
    if workers <= 2 { 1 } else { 2 }
}

impl Idle {
    /// For so many workers, spare ones not included.
    pub(crate) fn new(strategy: Strategy, workers: usize) -> Self {
        match strategy {
            Strategy::Local => Self::Counted(Counted::new(workers)),
            Strategy::Shared => Self::Masked(Masked::new(workers)),
        }
    }

    /// A worker has run out of work. Searching is permitted to a few at a time.
    pub(crate) fn search(&self, worker: usize) -> Option<Searching> {
        match self {
            Self::Counted(idle) => idle.search(),
            Self::Masked(idle) => idle.search(worker),
        }
    }

    /// A worker has seen work while lying down: it searches, whoever else does.
    pub(crate) fn search_anyway(&self, worker: usize) -> Searching {
        match self {
            Self::Counted(idle) => idle.search_anyway(),
            Self::Masked(idle) => idle.search_anyway(worker),
        }
    }

    /// A searcher has found nothing so far, and searches on: it can be relied on again, though it may have been claimed for what somebody
    /// else has taken.
    pub(crate) fn go_on(&self, worker: usize) {
        match self {
            // A claim takes nothing from the count.
            Self::Counted(_) => {}
            Self::Masked(idle) => idle.go_on(worker),
        }
    }

    /// A searcher has work. If this returns true, others may have relied on it: producers have woken nobody else, so it looks at all
    /// queues now, and wakes somebody if there is more.
    #[must_use]
    pub(crate) fn leave(&self, worker: usize, searching: Searching) -> bool {
        match self {
            Self::Counted(idle) => idle.leave(searching),
            Self::Masked(idle) => idle.leave(worker, searching),
        }
    }

    /// A worker is about to sleep. It has to look at all queues after this, and [gets up](Self::get_up) if it sees work.
    pub(crate) fn lie_down(&self, worker: usize, searching: Option<Searching>) {
        match self {
            Self::Counted(idle) => idle.lie_down(worker, searching),
            Self::Masked(idle) => idle.lie_down(worker, searching),
        }
    }

    /// A worker does not sleep any more. If it was claimed meanwhile, it is to search.
    pub(crate) fn get_up(&self, worker: usize) -> Option<Searching> {
        match self {
            Self::Counted(idle) => idle.get_up(worker),
            Self::Masked(idle) => idle.get_up(worker),
        }
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
        match self {
            Self::Counted(idle) => idle.work_arrived(count, is_there, tell),
            Self::Masked(idle) => idle.work_arrived(count, is_there, tell),
        }
    }

    /// Claims up to `count` sleepers, whoever is searching. Returns how many.
    pub(crate) fn claim(&self, count: usize, tell: impl FnMut(usize)) -> usize {
        match self {
            Self::Counted(idle) => idle.claim(count, tell),
            Self::Masked(idle) => idle.claim(count, tell),
        }
    }

    /// Whether somebody has nothing to do.
    pub(crate) fn has_any(&self) -> bool {
        match self {
            Self::Counted(idle) => idle.has_any(),
            Self::Masked(idle) => idle.has_any(),
        }
    }

    /// Whether somebody but this worker has nothing to do. `searching` says whether this one searches.
    pub(crate) fn has_others(&self, worker: usize, searching: bool) -> bool {
        match self {
            Self::Counted(idle) => idle.has_others(worker, searching),
            Self::Masked(idle) => idle.has_others(worker),
        }
    }

    /// Whether a worker sleeps, or is about to.
    pub(crate) fn is_sleeping(&self, worker: usize) -> bool {
        match self {
            Self::Counted(idle) => idle.is_sleeping(worker),
            Self::Masked(idle) => idle.is_sleeping(worker),
        }
    }
}
