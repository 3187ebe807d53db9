//! Workers that share work: their seats, the queue for all of them, who of them is idle. Knows no thread.

mod aside;
mod seat;
mod spares;
mod watch;

use std::fmt;
use std::io;
use std::num::NonZero;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

pub(crate) use aside::Aside;
pub(crate) use seat::{Role, Seat};
pub(crate) use spares::{Spares, Starter};
pub(crate) use watch::Watch;

use crate::hooks::Hooks;
use crate::idle::{Idle, MOST_WORKERS};
use crate::life::{Awake, Errand, Life, Stage, Threads};
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
    pub(crate) aside: Aside,
    pub(crate) life: Life,
    pub(crate) awake: Awake,
    pub(crate) threads: Arc<Threads>,
    sweeping: Errand,
    /// Tasks that nobody ran, since it was over.
    pub(crate) discarded: Count,
    pub(crate) hooks: Hooks,
    pub(crate) outside: Outside,
    /// The first `workers` are there from the beginning; spare ones follow as they are needed.
    seats: Box<[OnceLock<Seat>]>,
    workers: usize,
    cpus: usize,
    pub(crate) spares: Spares,
    pub(crate) watch: Watch,
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
            aside: Aside::new(),
            life: Life::new(),
            awake: Awake::new(),
            threads: Arc::default(),
            sweeping: Errand::new(),
            discarded: Count::default(),
            hooks,
            outside: Outside::default(),
            seats,
            workers,
            cpus: std::thread::available_parallelism().map_or(1, NonZero::get),
            spares: Spares::new(starter),
            watch: Watch::default(),
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

    /// Makes a seat after the last one, if there is room for it.
    pub(crate) fn add_seat(&self, make: impl Fn(usize) -> io::Result<Seat>) -> io::Result<usize> {
        loop {
            let index = self.seats().count();
            let place = self.seats.get(index).ok_or(io::ErrorKind::QuotaExceeded)?;
            // Somebody else may have been faster; then it is the next one.
            if place.set(make(index)?).is_ok() {
                return Ok(index);
            }
        }
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

    /// Tasks that have begun, and may go on anywhere.
    pub(crate) fn roaming(&self) -> isize {
        self.seats().map(|seat| seat.counters.roaming()).sum()
    }

    /// A worker has nothing more to do. The last one ends a pool that drains.
    pub(crate) fn fall(&self) {
        self.awake.fall();
        if self.life.stage() == Stage::Draining && self.is_drained() {
            self.end(true);
        }
    }

    /// A worker has left its seat. If it was the last one, nobody does what there is: a drain ends all the same.
    pub(crate) fn leave(&self) {
        self.fall();
        self.end_if_deserted();
    }

    /// Whoever leaves frees its seat and then looks whether the pool drains; whoever begins to drain says so and then looks
    /// at the seats. Each has a fence in between, so that one sees the other.
    fn end_if_deserted(&self) {
        if self.life.stage() == Stage::Draining && self.seats().all(Seat::is_free) {
            self.end(self.is_drained());
        }
    }

    /// Whether nobody has anything to do, as far as the pool can know.
    fn is_drained(&self) -> bool {
        self.awake.nobody_while(|| {
            let has_mail = self.seats().any(|seat| seat.mailbox.has_tasks());
            let has_tasks = has_mail || self.has_work() || self.aside.len() != 0;
            !has_tasks && self.owned() <= 0 && self.roaming() <= 0
        })
    }

    /// Puts tasks where anyone takes them; those who sleep are told through `tell`.
    pub(crate) fn put(&self, tasks: List, tell: impl FnMut(usize)) {
        let count = tasks.len();
        self.queue.push_all(tasks);
        if self.life.stage_after_push() == Stage::Over {
            self.sweep();
        } else {
            // The stage was read behind a fence.
            self.announce(count, tell);
        }
    }

    /// The same, from a thread that is no worker.
    pub(crate) fn put_outside(&self, tasks: List) {
        self.put(tasks, |worker| self.wake_from_outside(worker));
    }

    /// Takes new tasks that anyone may run from a thread that is no worker.
    pub(crate) fn submit_outside(&self, tasks: List) {
        self.outside.submitted.add_shared(tasks.len() as u64);
        self.put_outside(tasks);
        self.say_if_all_are_busy();
    }

    /// Calls the hook for that, unless somebody is idle. For whoever has just gone to work, or brought some: the last idle worker to
    /// go to work says so here; before there was an idle one, whoever brought the first work did.
    pub(crate) fn say_if_all_are_busy(&self) {
        if let Some(hook) = &self.hooks.all_busy
            && !self.idle.has_any()
        {
            hook();
        }
    }

    /// Keeps a task that cannot run for now. If it is the only one, every worker calls its driver anew.
    pub(crate) fn set_aside(&self, task: TaskRef) {
        let is_only = self.aside.put(task);
        if self.life.stage_after_push() == Stage::Over {
            self.sweep();
        } else if is_only {
            for seat in self.seats() {
                seat.mailbox.tell();
            }
        }
    }

    /// Tries the task that was set aside first.
    pub(crate) fn attempt_aside(&self, attempt: impl FnOnce(TaskRef) -> Result<(), TaskRef>) -> Option<bool> {
        let tried = self.aside.attempt(attempt);
        // Whoever ended it all meanwhile did not see a task that was set aside again.
        if tried == Some(false) && self.life.stage_after_push() == Stage::Over {
            self.sweep();
        }
        tried
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

    /// Sends a task to a worker, from any thread but its own. If that worker is gone, any other may run it. Returns whether
    /// it took a system call to wake the worker.
    pub(crate) fn post(&self, seat: &Seat, task: TaskRef) -> bool {
        seat.mailbox.post(task).unwrap_or_else(|task| {
            self.put_outside(List::from(task));
            false
        })
    }

    /// The same, from a thread that is no worker.
    pub(crate) fn post_outside(&self, seat: &Seat, task: TaskRef) {
        self.outside.submitted.add_shared(1);
        if self.post(seat, task) {
            self.outside.wakes_by_post.add_shared(1);
        }
        self.say_if_all_are_busy();
    }

    /// Takes no new work, and has every worker look around: the last one to fall asleep ends the pool.
    pub(crate) fn begin_drain(&self, deadline: Option<Instant>) {
        self.life.begin_drain(deadline);
        for seat in self.seats() {
            seat.mailbox.tell();
        }
        self.end_if_deserted();
    }

    /// Ends the life of the pool: workers stop, and what is in the queues is discarded.
    pub(crate) fn end(&self, drained: bool) {
        self.life.end(drained);
        self.sweep();
    }

    /// Discards what is in the queues, and closes all inboxes. For anyone, when it is over. Discarding is a user's code, which
    /// may send more: that does not come to run inside this.
    pub(crate) fn sweep(&self) {
        self.sweeping.request(|| {
            std::iter::from_fn(|| self.queue.take()).for_each(|task| self.discard(task));
            std::iter::from_fn(|| self.aside.take()).for_each(|task| self.discard(task));
            for seat in self.seats() {
                let arrived = seat.mailbox.close();
                std::iter::from_fn(|| arrived.pop_front()).for_each(|task| self.discard(task));
                std::iter::from_fn(|| steal_surely(&seat.thief)).for_each(|task| self.discard(task));
            }
        });
    }

    /// Discards a task that nobody runs any more.
    pub(crate) fn discard(&self, task: TaskRef) {
        self.discarded.add_shared(1);
        task.discard();
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
