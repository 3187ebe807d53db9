//! Workers that share work: their seats, the queue for all of them, who of them is idle. Knows no thread.

use std::fmt;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

use crate::hooks::Hooks;
use crate::idle::{Idle, MOST_WORKERS};
use crate::life::{Life, Stage};
use crate::mailbox::Mailbox;
use crate::queue::deque::{self, Owner, Steal, Thief};
use crate::queue::shared::SharedQueue;
use crate::stats::{Count, Counters, PoolStats, WorkerState};
use crate::task::{List, TaskRef};

/// What a worker leaves with its group so that others can reach it. It outlives the worker's thread.
pub(crate) struct Seat {
    pub(crate) thief: Thief,
    /// The worker's end of the deque, while nobody sits here.
    owner: Mutex<Option<Owner>>,
    pub(crate) mailbox: Arc<Mailbox>,
    pub(crate) counters: Arc<Counters>,
}

impl Seat {
    pub(crate) fn new(mailbox: Mailbox) -> Self {
        let (owner, thief) = deque::deque();
        let owner = Mutex::new(Some(owner));
        Self { thief, owner, mailbox: Arc::new(mailbox), counters: Arc::default() }
    }

    /// The worker's end of the deque, if nobody sits here.
    pub(crate) fn sit_down(&self) -> Option<Owner> {
        self.lock().take()
    }

    /// Gives it back.
    pub(crate) fn get_up(&self, owner: Owner) {
        *self.lock() = Some(owner);
    }

    /// Whether a worker has begun here, and not stopped.
    pub(crate) fn is_taken(&self) -> bool {
        self.counters.state() != WorkerState::Absent
    }

    fn lock(&self) -> MutexGuard<'_, Option<Owner>> {
        self.owner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

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
    /// An idle worker watches over drivers that their own workers neglect.
    pub(crate) watched: AtomicBool,
    began: Instant,
}

impl Group {
    pub(crate) fn new(seats: Vec<Seat>, queue: usize, hooks: Hooks) -> Self {
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
            (self.idle.is_sleeping(index) || !seat.is_taken()) && !seat.mailbox.has_tasks()
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
            self.idle.work_arrived(count, |worker| self.wake_from_outside(worker));
        }
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
            let mut arrived = seat.mailbox.sweep();
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
            blocked: 0,
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
