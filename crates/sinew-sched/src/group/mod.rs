//! Workers that share work: their seats, the queue for all of them, who of them is idle. Knows no thread.

mod seat;
mod spares;

use std::fmt;
use std::io;
use std::num::NonZero;
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

pub(crate) use seat::{Role, Seat};
pub(crate) use spares::{Spares, Starter};

use crate::hooks::Hooks;
use crate::idle::{Idle, MOST_WORKERS};
use crate::life::{Life, Stage};
use crate::queue::deque::{Steal, Thief};
use crate::queue::shared::SharedQueue;
use crate::stats::{Count, PoolStats};
use crate::task::{List, TaskRef};

/// What threads outside the pool count.
#[derive(Debug, Default)]
pub(crate) struct Outside {
    pub(crate) submitted: Count,
    pub(crate) wakes_for_work: Count,
    pub(crate) wakes_by_post: Count,
}

/// Workers that share work.
pub(crate) struct Group {
    pub(crate) idle: Idle,
    pub(crate) queue: SharedQueue,
    pub(crate) life: Life,
    pub(crate) hooks: Hooks,
    pub(crate) outside: Outside,
    /// The first `workers` are there from the beginning; spare ones follow as they are needed.
    seats: Box<[OnceLock<Seat>]>,
    workers: usize,
    cpus: usize,
    pub(crate) spares: Spares,
    /// An idle worker watches over drivers that their own workers neglect.
    pub(crate) watched: AtomicBool,
    began: Instant,
}

impl Group {
    pub(crate) fn new(seats: Vec<Seat>, queue: usize, hooks: Hooks, starter: Box<dyn Starter>) -> Self {
        let workers = seats.len();
        assert!(workers <= MOST_WORKERS / 2, "the builder checks the number of workers");
        let mut given = seats.into_iter();
        let seats =
            (0..MOST_WORKERS).map(|_| given.next().map_or_else(OnceLock::new, OnceLock::from)).collect();
        Self {
            idle: Idle::new(workers),
            queue: SharedQueue::new(queue),
            life: Life::new(),
            hooks,
            outside: Outside::default(),
            seats,
            workers,
            cpus: std::thread::available_parallelism().map_or(1, NonZero::get),
            spares: Spares::new(starter),
            watched: AtomicBool::new(false),
            began: Instant::now(),
        }
    }

    /// How many workers there are, spare ones not counted.
    pub(crate) fn workers(&self) -> usize {
        self.workers
    }

    /// The seats of all workers, with their numbers.
    pub(crate) fn seats(&self) -> impl Iterator<Item = &Seat> {
        self.seats.iter().map_while(OnceLock::get)
    }

    /// The seat after the last one, made if there is room for it.
    pub(crate) fn add_seat(&self, make: impl FnOnce(usize) -> io::Result<Seat>) -> io::Result<Option<usize>> {
        let index = self.seats().count();
        let Some(place) = self.seats.get(index) else { return Ok(None) };
        let seat = make(index)?;
        Ok(place.set(seat).is_ok().then_some(index))
    }

    pub(crate) fn seat(&self, worker: usize) -> Option<&Seat> {
        self.seats.get(worker)?.get()
    }

    /// Nanoseconds since the group began.
    pub(crate) fn now(&self) -> u64 {
        self.began.elapsed().as_nanos() as u64
    }

    /// Tells a worker that was claimed from the idle ones. Returns whether that took a system call.
    pub(crate) fn tell(&self, worker: usize) -> bool {
        self.seat(worker).is_some_and(|seat| seat.mailbox.tell())
    }

    /// Whether there is work that anyone may take.
    pub(crate) fn has_work(&self) -> bool {
        !self.queue.is_empty() || self.seats().any(|seat| seat.thief.len() != 0)
    }

    /// Tasks that have begun, and stay where they are.
    pub(crate) fn owned(&self) -> isize {
        self.seats().map(|seat| seat.counters.owned()).sum()
    }

    /// Whether nobody has anything to do, as far as the pool can know. For the last worker to lie down.
    pub(crate) fn is_drained(&self) -> bool {
        let is_quiet = |(index, seat): (usize, &Seat)| {
            let is_idle = self.idle.is_sleeping(index) || !seat.is_taken() || seat.is_lingering();
            is_idle && !seat.mailbox.has_tasks()
        };
        self.owned() == 0 && !self.has_work() && self.seats().enumerate().all(is_quiet)
    }

    /// Puts tasks where anyone takes them, from a thread that is no worker.
    pub(crate) fn submit_outside(&self, tasks: List) {
        let count = tasks.len();
        self.outside.submitted.add_shared(count as u64);
        self.queue.push_all(tasks);
        if self.life.stage_after_push() == Stage::Over {
            self.sweep();
        } else {
            // The stage was read behind a fence.
            self.announce(count, |worker| self.wake_from_outside(worker));
        }
    }

    /// There is work that anyone may take, and a fence between that and this. Has up to `count` sleepers woken, but no more
    /// at once than there are CPUs: those that find work wake others if there is more.
    pub(crate) fn announce(&self, count: usize, tell: impl FnMut(usize)) {
        self.idle.work_arrived(count.min(self.cpus), || self.has_work(), tell);
    }

    fn wake_from_outside(&self, worker: usize) {
        if self.tell(worker) {
            self.outside.wakes_for_work.add_shared(1);
        }
    }

    /// Sends a task to a worker, from any thread but its own. Returns whether that took a system call.
    pub(crate) fn post(&self, seat: &Seat, task: TaskRef) -> bool {
        let woke = seat.mailbox.post(task);
        if self.life.stage_after_push() == Stage::Over {
            self.sweep();
        }
        woke
    }

    /// The same, from a thread that is no worker.
    pub(crate) fn post_outside(&self, seat: &Seat, task: TaskRef) {
        self.outside.submitted.add_shared(1);
        if self.post(seat, task) {
            self.outside.wakes_by_post.add_shared(1);
        }
    }

    /// Has every worker look around.
    pub(crate) fn tell_all(&self) {
        self.seats().for_each(|seat| {
            seat.mailbox.tell();
        });
    }

    /// Ends the life of the pool: workers stop, and what is in the queues is discarded. Returns how many tasks that were.
    pub(crate) fn end(&self, drained: bool) -> usize {
        self.life.end(drained);
        self.tell_all();
        self.sweep()
    }

    /// Discards what is in the queues. For anyone, when it is over. Returns how many tasks that were.
    pub(crate) fn sweep(&self) -> usize {
        let mut swept = 0;
        let mut discard = |task: TaskRef| {
            task.discard();
            swept += 1;
        };
        while let Some(task) = self.queue.take() {
            discard(task);
        }
        for seat in self.seats() {
            let arrived = seat.mailbox.sweep();
            std::iter::from_fn(|| arrived.pop_front()).for_each(&mut discard);
            std::iter::from_fn(|| steal_surely(&seat.thief)).for_each(&mut discard);
        }
        swept
    }

    pub(crate) fn stats(&self) -> PoolStats {
        let worker = |seat: &Seat| seat.counters.snapshot(seat.mailbox.errors());
        PoolStats {
            workers: self.seats().map(worker).collect(),
            submitted_outside: self.outside.submitted.get(),
            wakes_for_work_outside: self.outside.wakes_for_work.get(),
            wakes_by_post_outside: self.outside.wakes_by_post.get(),
            overflowed: self.queue.spilled() as u64,
            queued: self.queue.len(),
            blocked: self.spares.blocked(),
            spares_failed: self.spares.failed(),
        }
    }
}

/// Takes a task from a deque, however often somebody is faster.
fn steal_surely(thief: &Thief) -> Option<TaskRef> {
    loop {
        match thief.steal() {
            Steal::Task(task) => return Some(task),
            Steal::Empty => return None,
            Steal::Lost => {}
        }
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
