//! A group: workers that share work, their seats, their queue, and which of them are idle. Knows no
//! thread.

mod deferred;
mod seat;
mod spares;
mod watch;

use std::fmt;
use std::io;
use std::num::NonZero;
use std::sync::OnceLock;

pub(crate) use deferred::Deferred;
pub(crate) use seat::{Role, Seat};
pub(crate) use spares::{Spares, StandIn};
pub(crate) use watch::Watch;

use crate::idle::{Coverage, Idle, MOST_WORKERS};
use crate::queue::shared::SharedQueue;
use crate::strategy::Strategy;

/// Capacity of the queue for tasks that only the group may run, before it spills to its list.
/// Small, since there are few such tasks.
const KEPT: usize = 256;

/// Other groups, from which this one takes work.
#[derive(Clone, Debug, Default)]
pub(crate) struct Siblings {
    /// Those on the same node.
    pub(crate) near: Nearby,
    /// Those on other nodes.
    pub(crate) far: Nearby,
}

/// Where a group is.
#[derive(Clone, Debug)]
pub(crate) struct Neighbourhood {
    /// The group's number.
    pub(crate) group: usize,
    pub(crate) strategy: Strategy,
    pub(crate) node: usize,
    pub(crate) siblings: Siblings,
}

/// Groups at the same distance.
#[derive(Clone, Debug, Default)]
pub(crate) struct Nearby {
    pub(crate) groups: Box<[usize]>,
    /// Work is taken from them once in this number of rounds of searching without success. If zero,
    /// never; then `groups` is empty.
    pub(crate) every: u32,
}

impl Siblings {
    /// Returns all of them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> {
        self.near.groups.iter().chain(&self.far.groups).copied()
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.near.groups.is_empty() && self.far.groups.is_empty()
    }
}

/// How the workers of a group are numbered within the pool: first the regular workers of all
/// groups, then the spare ones.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Numbers {
    /// The number of the first worker.
    pub(crate) first: usize,
    /// The number of the first spare worker.
    pub(crate) first_spare: usize,
}

/// A group of workers that share work.
pub(crate) struct Group {
    pub(crate) idle: Idle,
    pub(crate) queue: SharedQueue,
    pub(crate) strategy: Strategy,
    /// Tasks that only this group may run.
    pub(crate) kept: SharedQueue,
    number: usize,
    node: usize,
    pub(crate) siblings: Siblings,
    /// The numbers of its workers within the pool.
    numbers: Numbers,
    /// The first `workers` seats are filled from the beginning; spare workers get the next ones
    /// when they are needed.
    seats: Box<[OnceLock<Seat>]>,
    workers: usize,
    cpus: usize,
    pub(crate) spares: Spares,
    pub(crate) watch: Watch,
}

impl Group {
    pub(crate) fn new(place: Neighbourhood, numbers: Numbers, seats: Vec<Seat>, queue: usize) -> Self {
        let workers = seats.len();
        assert!(workers <= MOST_WORKERS / 2, "the builder checks the number of workers");
        let mut given = seats.into_iter();
        let seats =
            (0..MOST_WORKERS).map(|_| given.next().map_or_else(OnceLock::new, OnceLock::from)).collect();
        Self {
            idle: Idle::new(workers),
            strategy: place.strategy,
            queue: SharedQueue::new(queue),
            kept: SharedQueue::new(KEPT.min(queue)),
            number: place.group,
            node: place.node,
            siblings: place.siblings,
            numbers,
            seats,
            workers,
            cpus: std::thread::available_parallelism().map_or(1, NonZero::get),
            spares: Spares::new(),
            watch: Watch::default(),
        }
    }

    /// Returns the number of workers, without spare ones.
    pub(crate) fn workers(&self) -> usize {
        self.workers
    }

    /// Returns the group's number.
    pub(crate) fn number(&self) -> usize {
        self.number
    }

    /// Returns the NUMA node that the group is for.
    pub(crate) fn node(&self) -> usize {
        self.node
    }

    /// Returns the number within the pool of the worker at an index.
    pub(crate) fn number_of(&self, index: usize) -> usize {
        match index.checked_sub(self.workers) {
            None => self.numbers.first + index,
            Some(spare) => self.numbers.first_spare + spare,
        }
    }

    /// Returns the index of the worker that has this number within the pool.
    pub(crate) fn index_of(&self, number: usize) -> Option<usize> {
        let index = match number.checked_sub(self.numbers.first_spare) {
            Some(spare) => self.workers + spare,
            None => number.checked_sub(self.numbers.first).filter(|index| *index < self.workers)?,
        };
        (index < MOST_WORKERS).then_some(index)
    }

    /// Returns the seats of all workers, in the order of their indices.
    pub(crate) fn seats(&self) -> impl Iterator<Item = &Seat> {
        self.seats.iter().map_while(OnceLock::get)
    }

    /// Makes a seat after the last one, if there is room for it.
    pub(crate) fn add_seat(&self, make: impl Fn(usize) -> io::Result<Seat>) -> io::Result<usize> {
        loop {
            let index = self.seats().count();
            let place = self.seats.get(index).ok_or(io::ErrorKind::QuotaExceeded)?;
            // If another thread filled this seat first, try the next one.
            if place.set(make(index)?).is_ok() {
                return Ok(index);
            }
        }
    }

    pub(crate) fn seat(&self, worker: usize) -> Option<&Seat> {
        self.seats.get(worker)?.get()
    }

    /// Tells a claimed worker to search. Returns whether that took a system call.
    pub(crate) fn tell(&self, worker: usize) -> bool {
        self.seat(worker).is_some_and(|seat| seat.mailbox.tell())
    }

    /// Returns whether there is work that any worker of the group may take.
    pub(crate) fn has_work(&self) -> bool {
        !self.kept.is_empty() || self.has_work_for_others()
    }

    /// Returns whether there is work that other groups may take too.
    pub(crate) fn has_work_for_others(&self) -> bool {
        !self.queue.is_empty() || self.seats().any(|seat| seat.thief.len() != 0)
    }

    /// Returns the number of tasks that have begun on the group's workers and cannot move.
    pub(crate) fn owned(&self) -> isize {
        self.seats().map(|seat| seat.counters.owned()).sum()
    }

    /// Announces work that any worker may take; the caller has a fence between the work and this
    /// call. Wakes up to `count` sleepers, but no more at once than there are CPUs: those that find
    /// work wake others if there is more.
    pub(crate) fn announce(&self, count: usize, tell: impl FnMut(usize)) -> Coverage {
        self.idle.work_arrived(count.min(self.cpus), || self.has_work(), tell)
    }
}

impl fmt::Debug for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Group")
            .field("workers", &self.workers)
            .field("idle", &self.idle)
            .finish_non_exhaustive()
    }
}
