//! A worker: a core with a seat in a group. Knows no pool.
//!
//! A worker's tasks are in three places: the core's ready list (tasks that must run here), its
//! deque (tasks that any worker may run, newest first), and the group's queues (first in, first
//! out). `pick` chooses the next task, `find` waits for one when there is none, and `steal_remote`
//! takes tasks from other groups.

mod balance;
mod block;
mod context;
mod find;
mod hooks;
mod pick;
mod place;
mod steal_remote;
#[cfg(all(test, not(loom)))]
mod tests;

use std::cell::{Cell, RefCell};
use std::fmt;
use std::io;
use std::ptr::NonNull;
use std::sync::Arc;

pub(crate) use hooks::Hooks;
pub(crate) use place::Place;

use crate::core::Core;
use crate::group::{Group, Role, Seat};
use crate::idle::{Coverage, Patience, SpinBudget};
use crate::lifecycle::{Beginning, Stage};
use crate::pool_shared::PoolShared;
use crate::queue::deque::Owner;
use crate::stats::{Counters, WorkerState};
use crate::strategy::Strategy;
use crate::sync::{Fence, full_fence};
use crate::task::{Context, Header, List, TaskRef};
use crate::unwind::{self, Ended};

/// A core with a seat in a group.
pub(crate) struct Worker {
    core: Core,
    shared: Arc<PoolShared>,
    hooks: Arc<Hooks>,
    group: Arc<Group>,
    index: usize,
    deque: Owner,
    turn: Cell<u32>,
    round: Cell<u32>,
    /// How many of the deque's oldest tasks go before its newest: those that waited when a task
    /// yielded.
    oldest_next: Cell<usize>,
    /// Whether a task that yielded is in the deque or queue and not announced, because the next
    /// task is to come from there in exchange.
    unannounced: Cell<bool>,
    /// Whether the worker had begun clearly more tasks than others at the last check.
    overloaded: Cell<bool>,
    patience: RefCell<Patience>,
    spin_budget: SpinBudget,
    /// Whether the worker has just polled its driver and found no event.
    has_looked: Cell<bool>,
    /// Whether the worker has polled its driver in this round of turns because it had nothing else
    /// to do.
    looks_itself: Cell<bool>,
    /// Number of search rounds without success.
    vain_rounds: Cell<u32>,
    random: Cell<u32>,
    /// Whether the worker stands in for blocked ones.
    is_spare: bool,
    /// Number of blocking sections that are open.
    sections: Cell<usize>,
}

impl Worker {
    /// Returns the worker of a seat that was taken.
    fn new(
        shared: Arc<PoolShared>,
        hooks: Arc<Hooks>,
        group: Arc<Group>,
        index: usize,
        deque: Owner,
    ) -> Self {
        let seat = group.seat(index).expect("the seat that was taken");
        let core = Core::with(seat.mailbox.clone(), seat.counters.clone());
        let is_spare = seat.role() != Role::Regular;
        Self {
            core,
            shared,
            hooks,
            group,
            index,
            deque,
            turn: Cell::new(0),
            round: Cell::new(0),
            oldest_next: Cell::new(0),
            unannounced: Cell::new(false),
            overloaded: Cell::new(false),
            patience: RefCell::default(),
            spin_budget: SpinBudget::new(),
            has_looked: Cell::new(false),
            looks_itself: Cell::new(false),
            vain_rounds: Cell::new(0),
            random: Cell::new(0x9E37_79B9 ^ (index as u32 + 1)),
            is_spare,
            sections: Cell::new(0),
        }
    }

    /// Returns the owner's end of the deque, when the worker has ended.
    fn into_deque(self) -> Owner {
        self.deque
    }

    /// Returns the worker's number in the pool.
    pub(crate) fn number(&self) -> usize {
        self.group.number_of(self.index)
    }

    /// Returns whether the worker is of this group.
    pub(crate) fn is_of(&self, group: &Arc<Group>) -> bool {
        Arc::ptr_eq(&self.group, group)
    }

    /// Returns whether the worker sits in this seat of this group.
    pub(crate) fn is_at(&self, group: &Arc<Group>, index: usize) -> bool {
        self.index == index && self.is_of(group)
    }

    pub(crate) fn group(&self) -> &Arc<Group> {
        &self.group
    }

    pub(crate) fn shared(&self) -> &Arc<PoolShared> {
        &self.shared
    }

    fn counters(&self) -> &Counters {
        self.core.counters()
    }

    /// Runs tasks until the pool is over, or this worker is not needed any more. Runs none if its
    /// start hook fails.
    fn run(&self, context: &Context<'_>, beginning: Beginning) {
        self.counters().enter(WorkerState::Running);
        match self.begin(context) {
            Ok(()) => {
                drop(beginning);
                self.work(context);
            }
            Err(error) => beginning.fail(self.number(), error),
        }
        // The stop hook, or another thread, may have left tasks that must run here.
        let left = self.core.close();
        if !left.is_empty() {
            self.shared.put_outside(&self.group, left);
        }
    }

    fn begin(&self, context: &Context<'_>) -> io::Result<()> {
        let Some(hook) = &self.hooks.start else { return Ok(()) };
        let begun = unwind::catch_result("the start hook", || hook(context));
        if begun.is_err() && self.is_spare {
            self.group.spares.note_failure();
        }
        begun
    }

    fn work(&self, context: &Context<'_>) {
        self.ask_for_a_watch();
        // The first task is found like one after a sleep, so that the `on_work` hook is called.
        let mut first = self.find(context);
        if first.is_some() {
            self.core.run_all(context, || first.take());
            self.core.run_all(context, || self.next(context));
        }
        self.counters().enter(WorkerState::Stopping);
        // If tasks that may end anywhere are left, more of them have begun than ended on at least
        // one worker. But that may be true of a worker when no such tasks are left, too.
        let may_have_roaming = self.counters().roaming() > 0 && self.shared.lifecycle.is_over();
        let stays = self.core.owned() > 0 || may_have_roaming && self.shared.roaming() > 0;
        if stays {
            self.call(self.hooks.stay.as_ref(), context);
        }
        // After the hook, which may have left tasks here that no other worker takes. Also,
        // discarding runs the user's code, which may wait for threads that the hook has notified.
        if self.shared.lifecycle.is_over() {
            self.discard_all();
        }
        if stays {
            self.stay_for_ever();
        }
        self.call(self.hooks.stop.as_ref(), context);
    }

    fn call(&self, hook: Option<&hooks::Hook>, context: &Context<'_>) {
        hook.into_iter().for_each(|hook| self.call_one(|| hook(context)));
    }

    /// Calls a hook. Counts its panic.
    fn call_one(&self, hook: impl FnOnce()) {
        if unwind::catch(hook) == Ended::Panicked {
            self.counters().panics.add(1);
        }
    }

    fn discard_all(&self) {
        self.core.receive();
        // Only this worker knows of a task that it left in the group's queue without announcing it.
        let next = || self.core.pop().or_else(|| self.deque.pop()).or_else(|| self.group.queue.take());
        std::iter::from_fn(next).for_each(|task| self.shared.discard(task));
    }

    /// Keeps the thread for ever, and with it all that its tasks hold. A thread that sends this
    /// worker a task discards that task.
    fn stay_for_ever(&self) -> ! {
        self.counters().enter(WorkerState::Absent);
        self.shared.fall();
        self.shared.threads.end();
        loop {
            std::thread::park();
        }
    }

    #[inline]
    fn next(&self, context: &Context<'_>) -> Option<TaskRef> {
        match self.pick() {
            Some(task) => Some(task),
            None => self.look_here().or_else(|| self.find(context)),
        }
    }

    /// Adds a task that any worker may run, as the next one here.
    #[inline]
    pub(crate) fn push(&self, task: TaskRef) {
        if self.group.strategy == Strategy::Shared {
            return self.share(task);
        }
        self.deque.push_loudly(task);
        let arrived = self.group.idle.work_arrived(1, || self.deque.len() != 0, |worker| self.wake(worker));
        if arrived == Coverage::Uncovered && !self.group.siblings.is_empty() {
            self.shared.call_siblings(&self.group);
        }
    }

    /// Adds a task to the group's queue.
    #[inline(never)]
    fn share(&self, task: TaskRef) {
        self.shared.put_one(&self.group, task, |worker| self.wake(worker));
    }

    /// Takes this task out of the deque, if it is the newest there.
    #[inline]
    pub(crate) fn take_newest(&self, task: NonNull<Header>) -> Option<TaskRef> {
        if self.deque.newest() == Some(task) { self.deque.pop() } else { None }
    }

    /// Adds many tasks that any worker may run.
    pub(crate) fn push_all(&self, tasks: List) {
        self.shared.put(&self.group, tasks, |worker| self.wake(worker));
    }

    /// Adds a task that any worker may run, and lets the oldest one in the deque, or in the group's
    /// queue, go before it. Wakes no worker for now: if the next task comes from there, as many
    /// wait there as before.
    #[inline]
    pub(crate) fn push_yielded(&self, task: TaskRef) {
        if self.group.strategy == Strategy::Shared {
            return self.push_yielded_shared(task);
        }
        if self.unannounced.replace(true) {
            self.announce(1);
        }
        self.oldest_next.set(self.deque.len());
        self.deque.push(task);
    }

    fn push_yielded_shared(&self, task: TaskRef) {
        if self.shared.lifecycle.stage() != Stage::Open {
            return self.share(task);
        }
        if self.unannounced.replace(true) {
            self.announce(1);
        }
        self.group.queue.push(task);
        // Either the thread that ends the pool meanwhile sees the task, or this worker sees the
        // end: what it runs next may never end.
        if self.shared.lifecycle.stage_after_push() == Stage::Over {
            self.shared.sweep();
        }
    }

    /// Puts tasks into the queue of any group.
    pub(crate) fn put(&self, group: &Group, tasks: List) {
        self.shared.put(group, tasks, |worker| self.wake_of(group, worker));
    }

    /// Puts a task where only the workers of a group take it.
    pub(crate) fn keep(&self, group: &Group, task: TaskRef) {
        self.shared.keep(group, task, |worker| self.wake_of(group, worker));
    }

    /// Adds a task that must run here.
    #[inline]
    pub(crate) fn push_here(&self, task: TaskRef) {
        self.core.push(task);
    }

    /// Announces work that any worker may take.
    #[cold]
    fn announce(&self, count: usize) {
        // Between the work and the read of the idle workers.
        full_fence(Fence::Announce);
        self.shared.announce(&self.group, count, |worker| self.wake(worker));
    }

    #[cold]
    fn wake(&self, worker: usize) {
        self.wake_of(&self.group, worker);
    }

    fn wake_of(&self, group: &Group, worker: usize) {
        if group.tell(worker) {
            self.counters().wakes_for_work.add(1);
        }
    }

    /// Sends a task to another worker.
    pub(crate) fn post(&self, group: &Group, seat: &Seat, task: TaskRef) {
        if self.shared.post(group, seat, task) {
            self.counters().wakes_by_post.add(1);
        }
    }
}

impl fmt::Debug for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker").field("index", &self.index).finish_non_exhaustive()
    }
}
