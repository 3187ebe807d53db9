//! What all workers and handles of a pool share: its groups, its stage, the count of awake workers,
//! its threads, and the discarding of tasks when it is over. Starts no thread itself.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use crate::clock::Clock;
use crate::group::{Deferred, Group, Role, Seat};
use crate::idle::Coverage;
use crate::lifecycle::{Awake, Beginning, CoalescedRun, Lifecycle, Stage, Threads};
use crate::queue::deque::{Steal, Thief};
use crate::stats::{Count, PoolStats, WorkerStats};
use crate::task::{List, TaskRef};

/// Counters of threads outside the pool.
#[derive(Debug, Default)]
pub(crate) struct Outside {
    pub(crate) submitted: Count,
    /// The group that gets the next task for any worker.
    turn: AtomicUsize,
    pub(crate) wakes_for_work: Count,
    pub(crate) wakes_by_post: Count,
}

/// Makes seats for workers, and starts threads for them.
pub(crate) trait WorkerStarter: Send + Sync {
    /// Makes a seat for the worker of this number.
    fn seat(&self, worker: usize, role: Role) -> io::Result<Seat>;

    /// Starts a worker of a group in its seat, which is free.
    fn start(
        &self,
        shared: &Arc<PoolShared>,
        group: &Arc<Group>,
        index: usize,
        beginning: Beginning,
    ) -> io::Result<()>;
}

/// What workers and handles of a pool share.
pub(crate) struct PoolShared {
    pub(crate) lifecycle: Lifecycle,
    pub(crate) awake: Awake,
    pub(crate) threads: Arc<Threads>,
    pub(crate) deferred: Deferred,
    sweeping: CoalescedRun,
    /// Tasks that were discarded because the pool was over.
    pub(crate) discarded: Count,
    pub(crate) outside: Outside,
    pub(crate) starter: Box<dyn WorkerStarter>,
    groups: Box<[Arc<Group>]>,
    pub(crate) clock: Clock,
    began: Instant,
}

impl PoolShared {
    pub(crate) fn new(groups: Vec<Arc<Group>>, starter: Box<dyn WorkerStarter>, clock: Clock) -> Self {
        Self {
            lifecycle: Lifecycle::new(clock),
            awake: Awake::new(),
            threads: Arc::default(),
            deferred: Deferred::new(),
            sweeping: CoalescedRun::new(),
            discarded: Count::default(),
            outside: Outside::default(),
            starter,
            groups: groups.into(),
            clock,
            began: clock(),
        }
    }

    pub(crate) fn groups(&self) -> &[Arc<Group>] {
        &self.groups
    }

    /// Returns the group that gets what a thread outside submits for any worker: all groups in
    /// turn, regardless of their load.
    pub(crate) fn next_group(&self) -> &Group {
        let turn = if self.groups.len() == 1 { 0 } else { self.outside.turn.fetch_add(1, Ordering::Relaxed) };
        &self.groups[turn % self.groups.len()]
    }

    /// Returns the number of workers, without spare ones.
    pub(crate) fn workers(&self) -> usize {
        self.groups.iter().map(|group| group.workers()).sum()
    }

    /// Returns the group of the worker of this number, and its index there.
    pub(crate) fn worker(&self, number: usize) -> Option<(&Arc<Group>, usize)> {
        self.groups.iter().find_map(|group| Some((group, group.index_of(number)?)))
    }

    /// Returns the seats of all workers, with their numbers; those of spare workers come last.
    pub(crate) fn seats(&self) -> impl Iterator<Item = (usize, &Seat)> {
        let of = |spare: bool| {
            self.groups.iter().flat_map(move |group| {
                let seats =
                    group.seats().enumerate().filter(move |(index, _)| (*index >= group.workers()) == spare);
                seats.map(|(index, seat)| (group.number_of(index), seat))
            })
        };
        of(false).chain(of(true))
    }

    /// Returns the nanoseconds since the pool began.
    pub(crate) fn now(&self) -> u64 {
        (self.clock)().saturating_duration_since(self.began).as_nanos() as u64
    }

    /// Returns whether a group has work that any of its workers may take.
    fn has_work(&self) -> bool {
        self.groups.iter().any(|group| group.has_work())
    }

    /// Returns how many tasks have begun and may continue on any worker.
    pub(crate) fn roaming(&self) -> isize {
        self.seats().map(|(_, seat)| seat.counters.roaming()).sum()
    }

    fn owned(&self) -> isize {
        self.groups.iter().map(|group| group.owned()).sum()
    }

    /// Counts a worker out that has nothing more to do. The last one ends a pool that drains.
    pub(crate) fn fall(&self) {
        self.awake.fall();
        if self.lifecycle.stage() == Stage::Draining && self.is_drained() {
            self.end(true);
        }
    }

    /// Counts a worker out that has left its seat. If it was the last one, no thread can run the
    /// remaining tasks: the drain ends all the same.
    pub(crate) fn leave(&self) {
        self.fall();
        self.end_if_deserted();
    }

    /// Ends a draining pool that has no worker left. A worker that leaves frees its seat and then
    /// reads whether the pool drains; a thread that begins the drain stores that and then reads the
    /// seats. Each has a fence in between, so at least one of them sees the other.
    fn end_if_deserted(&self) {
        if self.lifecycle.stage() == Stage::Draining && self.seats().all(|(_, seat)| seat.is_free()) {
            self.end(self.is_drained());
        }
    }

    /// Returns whether no worker has anything to do, as far as the pool can know.
    fn is_drained(&self) -> bool {
        self.awake.nobody_while(|| {
            let has_mail = self.seats().any(|(_, seat)| seat.mailbox.has_tasks());
            let has_tasks = has_mail || self.has_work() || self.deferred.len() != 0;
            !has_tasks && self.owned() <= 0 && self.roaming() <= 0
        })
    }

    /// Puts tasks into the queue of a group, where any of its workers takes them. `tell` wakes the
    /// sleepers among them.
    pub(crate) fn put(&self, group: &Group, tasks: List, tell: impl FnMut(usize)) {
        let count = tasks.len();
        group.queue.push_all(tasks);
        if self.lifecycle.stage_after_push() == Stage::Over {
            self.sweep();
        } else {
            // `stage_after_push` has a fence before its read, which `announce` needs.
            self.announce(group, count, tell);
        }
    }

    /// The same with one task.
    pub(crate) fn put_one(&self, group: &Group, task: TaskRef, tell: impl FnMut(usize)) {
        group.queue.push(task);
        if self.lifecycle.stage_after_push() == Stage::Over {
            self.sweep();
        } else {
            self.announce(group, 1, tell);
        }
    }

    /// Announces work that any worker of a group may take; the caller has a fence between the work
    /// and this call. Wakes sleepers of the group through `tell`. If all workers there are busy,
    /// wakes one of a group that takes work from it.
    pub(crate) fn announce(&self, group: &Group, count: usize, tell: impl FnMut(usize)) {
        if group.announce(count, tell) == Coverage::Uncovered && !group.siblings.is_empty() {
            self.call_siblings(group);
        }
    }

    /// Wakes a worker of another group to look for the work of a group whose workers are all busy.
    /// As for the group's own workers, the caller has a fence before this call.
    #[cold]
    pub(crate) fn call_siblings(&self, group: &Group) {
        let is_there = || group.has_work_for_others();
        for sibling in group.siblings.iter().map(|sibling| &self.groups[sibling]) {
            let tell = |worker| {
                if sibling.tell(worker) {
                    self.outside.wakes_for_work.add_shared(1);
                }
            };
            if sibling.idle.work_arrived(1, is_there, tell) == Coverage::Covered {
                return;
            }
        }
    }

    /// Returns whether a group from which this one takes work has some, and no idle worker of its
    /// own to run it.
    pub(crate) fn needs_help(&self, group: &Group) -> bool {
        group.siblings.iter().any(|sibling| {
            let sibling = &self.groups[sibling];
            sibling.has_work_for_others() && !sibling.idle.has_any()
        })
    }

    /// Announces work of other groups when a searcher of this group has found work and leaves:
    /// producers there may have relied on it to look at their groups too.
    pub(crate) fn announce_for_siblings(&self, group: &Group) {
        for sibling in group.siblings.iter().map(|sibling| &self.groups[sibling]) {
            if sibling.has_work_for_others() {
                self.announce(sibling, 1, |worker| self.wake_from_outside(sibling, worker));
            }
        }
    }

    /// Puts a task into the queue that only this group takes from.
    pub(crate) fn keep(&self, group: &Group, task: TaskRef, tell: impl FnMut(usize)) {
        group.kept.push(task);
        if self.lifecycle.stage_after_push() == Stage::Over {
            self.sweep();
        } else {
            // No other group can help: the task waits for this one.
            let _ = group.announce(1, tell);
        }
    }

    /// The same, from a thread that is no worker.
    pub(crate) fn keep_outside(&self, group: &Group, task: TaskRef) {
        self.outside.submitted.add_shared(1);
        self.keep(group, task, |worker| self.wake_from_outside(group, worker));
    }

    /// The same as [`put`](Self::put), from a thread that is no worker.
    pub(crate) fn put_outside(&self, group: &Group, tasks: List) {
        self.put(group, tasks, |worker| self.wake_from_outside(group, worker));
    }

    /// Takes new tasks for any worker from a thread that is no worker.
    pub(crate) fn submit_outside(&self, group: &Group, tasks: List) {
        self.outside.submitted.add_shared(tasks.len() as u64);
        self.put_outside(group, tasks);
    }

    /// Keeps a task that cannot run for now. If it is the only one, every worker calls its driver
    /// anew.
    pub(crate) fn defer(&self, task: TaskRef) {
        let is_only = self.deferred.put(task);
        if self.lifecycle.stage_after_push() == Stage::Over {
            self.sweep();
        } else if is_only {
            for (_, seat) in self.seats() {
                seat.mailbox.tell();
            }
        }
    }

    /// Tries the task that was deferred first.
    pub(crate) fn attempt_deferred(
        &self,
        attempt: impl FnOnce(TaskRef) -> Result<(), TaskRef>,
    ) -> Option<bool> {
        let tried = self.deferred.attempt(attempt);
        // If the pool ended meanwhile, the thread that ended it did not see the task that was
        // deferred again.
        if tried == Some(false) && self.lifecycle.stage_after_push() == Stage::Over {
            self.sweep();
        }
        tried
    }

    pub(crate) fn wake_from_outside(&self, group: &Group, worker: usize) {
        if group.tell(worker) {
            self.outside.wakes_for_work.add_shared(1);
        }
    }

    /// Sends a task to a worker of a group, from any thread but its own. If that worker is gone,
    /// any other worker of the group may run the task. Returns whether a system call woke the
    /// worker.
    pub(crate) fn post(&self, group: &Group, seat: &Seat, task: TaskRef) -> bool {
        seat.mailbox.post(task).unwrap_or_else(|task| {
            self.put_outside(group, List::from(task));
            false
        })
    }

    /// The same, from a thread that is no worker.
    pub(crate) fn post_outside(&self, group: &Group, seat: &Seat, task: TaskRef) {
        self.outside.submitted.add_shared(1);
        if self.post(group, seat, task) {
            self.outside.wakes_by_post.add_shared(1);
        }
    }

    /// Refuses new work from now on, and wakes every worker to look around: the last one to fall
    /// asleep ends the pool.
    pub(crate) fn begin_drain(&self, deadline: Option<Instant>) {
        self.lifecycle.begin_drain(deadline);
        for (_, seat) in self.seats() {
            seat.mailbox.tell();
        }
        self.end_if_deserted();
    }

    /// Ends the pool: workers stop, and the tasks in the queues are discarded.
    pub(crate) fn end(&self, drained: bool) {
        self.lifecycle.end(drained);
        self.sweep();
    }

    /// Discards what is in the queues, and closes all inboxes. Any thread may call it when the pool
    /// is over. Discarding runs the user's code, which may send more tasks: one more sweep then
    /// follows this one, and never runs inside it.
    pub(crate) fn sweep(&self) {
        self.sweeping.request(|| {
            for group in &self.groups {
                for queue in [&group.queue, &group.kept] {
                    std::iter::from_fn(|| queue.take()).for_each(|task| self.discard(task));
                }
            }
            std::iter::from_fn(|| self.deferred.take()).for_each(|task| self.discard(task));
            for (_, seat) in self.seats() {
                let arrived = seat.mailbox.close();
                std::iter::from_fn(|| arrived.pop_front()).for_each(|task| self.discard(task));
                std::iter::from_fn(|| steal_surely(&seat.thief)).for_each(|task| self.discard(task));
            }
        });
    }

    /// Discards a task that no worker runs any more.
    pub(crate) fn discard(&self, task: TaskRef) {
        self.discarded.add_shared(1);
        task.discard();
    }

    pub(crate) fn stats(&self) -> PoolStats {
        let worker = |(number, seat): (usize, &Seat)| WorkerStats {
            worker: number,
            ..seat.counters.snapshot(seat.mailbox.errors())
        };
        let sum = |of: fn(&Group) -> usize| self.groups.iter().map(|group| of(group)).sum::<usize>();
        PoolStats {
            workers: self.seats().map(worker).collect(),
            submitted_outside: self.outside.submitted.get(),
            wakes_for_work_outside: self.outside.wakes_for_work.get(),
            wakes_by_post_outside: self.outside.wakes_by_post.get(),
            overflowed: sum(|group| group.queue.spilled() + group.kept.spilled()) as u64,
            queued: sum(|group| group.queue.len() + group.kept.len()),
            blocked: sum(|group| group.spares.blocked()),
            spares_failed: sum(|group| group.spares.failed() as usize) as u64,
        }
    }
}

/// Takes a task from a deque, and tries again when another thief is faster.
fn steal_surely(thief: &Thief) -> Option<TaskRef> {
    loop {
        match thief.steal() {
            Steal::Task(task) => return Some(task),
            Steal::Empty => return None,
            Steal::Lost => {}
        }
    }
}

impl fmt::Debug for PoolShared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PoolShared").field("groups", &self.groups).finish_non_exhaustive()
    }
}
