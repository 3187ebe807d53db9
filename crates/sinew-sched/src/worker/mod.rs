//! A worker: a core with a seat in a group. Decides which task is next. Knows no pool.
//!
//! Three places have tasks for it: the core's ready list (tasks that must run here), its deque (tasks that anyone may run,
//! newest first), the group's queue (first in, first out). Ready ones come first, since they have begun and hold what
//! they hold; every so often the others do, so that no place waits for ever, however busy another one is.

mod balance;
mod block;
mod find;
mod place;

use std::cell::{Cell, RefCell};
use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;

pub(crate) use place::Place;

use crate::context::Context;
use crate::core::Core;
use crate::group::{Group, Role, Seat};
use crate::hooks::Hook;
use crate::house::House;
use crate::idle::Patience;
use crate::life::Stage;
use crate::queue::deque::Owner;
use crate::stats::{Counters, WorkerState};
use crate::sync::{Fence, full_fence};
use crate::task::{Header, List, TaskRef};
use crate::unwind::{self, Ended};

/// Turns are counted in rounds of this many. In the last one the inbox, the group's queue and the driver are looked at.
const ROUND: u32 = 64;
/// Every so many turns, the deque goes before the ready list.
const DEQUE_TURN: u32 = 8;
/// Every so many rounds, its oldest task goes before its newest. No more often: tasks that run in the order they were made
/// in, or in its reverse, free their memory in order too, and each exception makes the allocator slower for good.
const OLDEST_ROUND: u32 = 16;

/// The most tasks taken from the group's queue at once.
const MOST_TAKEN: usize = 32;

/// Drivers are looked into at most this often while there is work, in nanoseconds.
const LOOK_INTERVAL: u64 = 20_000;

/// A core with a seat.
pub(crate) struct Worker {
    core: Core,
    house: Arc<House>,
    group: Arc<Group>,
    index: usize,
    deque: Owner,
    turn: Cell<u32>,
    round: Cell<u32>,
    /// So many of the deque's oldest tasks go before its newest: those that waited when a task let others go first.
    oldest_next: Cell<usize>,
    /// It went back to the deque without a word, since another is to be taken from there for it.
    unannounced: Cell<bool>,
    /// Has begun clearly more tasks than others, as of the last look.
    overloaded: Cell<bool>,
    patience: RefCell<Patience>,
    random: Cell<u32>,
    /// Stands in for others.
    is_spare: bool,
    /// Inside a blocking section.
    is_blocked: Cell<bool>,
}

impl Worker {
    /// The worker of a seat that was taken.
    fn new(house: Arc<House>, group: Arc<Group>, index: usize, deque: Owner) -> Self {
        let seat = group.seat(index).expect("the seat that was taken");
        let core = Core::with(seat.mailbox.clone(), seat.counters.clone());
        let is_spare = seat.role() != Role::Regular;
        Self {
            core,
            house,
            group,
            index,
            deque,
            turn: Cell::new(0),
            round: Cell::new(0),
            oldest_next: Cell::new(0),
            unannounced: Cell::new(false),
            overloaded: Cell::new(false),
            patience: RefCell::default(),
            random: Cell::new(0x9E37_79B9 ^ (index as u32 + 1)),
            is_spare,
            is_blocked: Cell::new(false),
        }
    }

    /// Its end of the deque, when it has ended.
    fn into_deque(self) -> Owner {
        self.deque
    }

    /// Its number among all of the pool.
    pub(crate) fn number(&self) -> usize {
        self.group.number_of(self.index)
    }

    /// Whether it sits at this place of this group.
    pub(crate) fn is_at(&self, group: &Arc<Group>, index: usize) -> bool {
        self.index == index && Arc::ptr_eq(&self.group, group)
    }

    pub(crate) fn house(&self) -> &Arc<House> {
        &self.house
    }

    fn counters(&self) -> &Counters {
        self.core.counters()
    }

    /// Runs tasks until it is over, or this worker is not needed any more.
    fn run(&self, context: &Context<'_>) {
        self.counters().enter(WorkerState::Running);
        self.call(self.house.hooks.start.as_ref(), context);
        self.ask_for_a_watch();
        self.core.run_all(context, || self.next(context));
        self.counters().enter(WorkerState::Stopping);
        if self.house.life.is_over() {
            self.discard_all();
        }
        // If tasks that may end anywhere are left, at least one worker has begun more than have ended there. But such a worker
        // may be there when none are left, too.
        let may_have_roaming = self.counters().roaming() > 0 && self.house.life.is_over();
        if self.core.owned() > 0 || may_have_roaming && self.house.roaming() > 0 {
            self.call(self.house.hooks.stay.as_ref(), context);
            self.stay_for_ever();
        }
        self.call(self.house.hooks.stop.as_ref(), context);
        // The hook may have left something that must run here, or somebody else has.
        let left = self.core.close();
        if !left.is_empty() {
            self.house.put_outside(&self.group, left);
        }
    }

    fn call(&self, hook: Option<&Hook>, context: &Context<'_>) {
        let Some(hook) = hook else { return };
        if unwind::catch(|| hook(context)) == Ended::Panicked {
            self.counters().panics.add(1);
        }
    }

    fn discard_all(&self) {
        self.core.receive();
        while let Some(task) = self.core.pop().or_else(|| self.deque.pop()) {
            self.house.discard(task);
        }
    }

    /// The thread stays, and with it all that its tasks hold. Whoever sends it something discards that.
    fn stay_for_ever(&self) -> ! {
        self.counters().enter(WorkerState::Absent);
        self.house.fall();
        self.house.threads.end();
        loop {
            std::thread::park();
        }
    }

    #[inline]
    fn next(&self, context: &Context<'_>) -> Option<TaskRef> {
        match self.pick() {
            Some(task) => Some(task),
            None => {
                let found = self.find(context);
                self.counters().enter(WorkerState::Running);
                found
            }
        }
    }

    /// The pool drains, or is over. Whether to begin nothing more: a deadline that nobody outside waits for is seen here.
    #[cold]
    fn is_to_end(&self) -> bool {
        if self.house.life.is_late() {
            self.house.end(false);
        }
        self.house.life.is_over()
    }

    /// The next task from where this worker has some.
    #[inline]
    fn pick(&self) -> Option<TaskRef> {
        if self.house.life.stage() != Stage::Open && self.is_to_end() {
            return None;
        }
        let turn = self.turn.get();
        self.turn.set((turn + 1) % ROUND);
        if turn == ROUND - 1
            && let Some(task) = self.pick_elsewhere()
        {
            return Some(self.instead(task));
        }
        if !turn.is_multiple_of(DEQUE_TURN)
            && let Some(task) = self.core.pop()
        {
            return Some(self.instead(task));
        }
        self.pop_own().or_else(|| self.pick_rarely())
    }

    /// As [`pick`](Self::pick), where that comes down to the ready list.
    #[inline]
    pub(crate) fn take_next(&self) -> Option<TaskRef> {
        if !self.is_turn_of_ready() {
            return None;
        }
        let task = self.core.pop()?;
        self.count_turn();
        Some(task)
    }

    /// Adds a task that must run here, and takes the next one as [`take_next`](Self::take_next) does: it may be the same.
    #[inline]
    pub(crate) fn exchange(&self, task: TaskRef) -> Option<TaskRef> {
        if !self.is_turn_of_ready() {
            self.core.push(task);
            return None;
        }
        self.count_turn();
        Some(self.core.rotate(task))
    }

    /// Whether the ready list is where the next task comes from, if there is one, and nothing else is to be seen to.
    #[inline]
    fn is_turn_of_ready(&self) -> bool {
        let turn = self.turn.get();
        let is_elsewhere = turn == ROUND - 1 || turn.is_multiple_of(DEQUE_TURN) && self.deque.len() != 0;
        !is_elsewhere && !self.unannounced.get() && self.house.life.stage() == Stage::Open
    }

    #[inline]
    fn count_turn(&self) {
        self.turn.set(self.turn.get() + 1);
        self.counters().tasks.add(1);
    }

    /// From the deque: the newest, or the oldest if it is its turn or the last task has let others go first.
    #[inline]
    fn pop_own(&self) -> Option<TaskRef> {
        let oldest = self.oldest_next.get();
        self.oldest_next.set(oldest.saturating_sub(1));
        let task = if oldest != 0 { self.deque.pop_oldest() } else { self.deque.pop() };
        self.unannounced.set(false);
        task.and_then(|task| self.accept(task))
    }

    /// This task is taken from elsewhere than the deque. If one has gone back there without a word, one more waits there
    /// than before.
    #[inline]
    fn instead(&self, task: TaskRef) -> TaskRef {
        if self.unannounced.replace(false) {
            self.announce(1);
        }
        task
    }

    /// Nothing in the deque: from the ready list after all, or what has arrived, or from the group's queue.
    #[inline(never)]
    fn pick_rarely(&self) -> Option<TaskRef> {
        if let Some(task) = self.core.pop() {
            return Some(task);
        }
        self.core.receive();
        self.core.pop().or_else(|| self.take_shared_unless_overloaded())
    }

    /// Once in a while: what waits elsewhere goes first, and idle workers hear of what waits here.
    #[cold]
    fn pick_elsewhere(&self) -> Option<TaskRef> {
        self.core.receive();
        self.look_now_and_then();
        if self.is_surplus() {
            self.share_all();
            return None;
        }
        let round = self.round.get().wrapping_add(1);
        self.round.set(round);
        if round.is_multiple_of(OLDEST_ROUND) {
            self.oldest_next.set(self.oldest_next.get().max(1));
        }
        if self.deque.len() > 1 {
            self.announce(1);
        }
        self.take_shared_unless_overloaded()
    }

    fn look_now_and_then(&self) {
        let mailbox = self.core.mailbox();
        if mailbox.is_watching() {
            let now = self.house.now();
            if now.saturating_sub(mailbox.looked()) >= LOOK_INTERVAL {
                self.counters().looks.add(1);
                mailbox.look(now);
            }
        }
    }

    fn take_shared_unless_overloaded(&self) -> Option<TaskRef> {
        self.weigh();
        if self.overloaded.get() || self.is_surplus() { None } else { self.take_shared() }
    }

    /// A task from the group's queue, and a fair share of the rest into the deque.
    fn take_shared(&self) -> Option<TaskRef> {
        let share = if self.overloaded.get() { 0 } else { self.group.queue.len() / self.group.workers() };
        let mut moved = 0;
        let task = self.group.queue.take_some(share.min(MOST_TAKEN), |task| {
            self.deque.push(task);
            moved += 1;
        })?;
        // On their way they were nowhere to be seen.
        if moved != 0 {
            self.announce(1);
        }
        Some(task)
    }

    /// Adds a task that anyone may run, as the next one here.
    #[inline]
    pub(crate) fn push(&self, task: TaskRef) {
        self.deque.push_loudly(task);
        self.group.idle.work_arrived(1, || self.deque.len() != 0, |worker| self.wake(worker));
    }

    /// Takes this task out of the deque, if it is the newest there.
    #[inline]
    pub(crate) fn take_newest(&self, task: NonNull<Header>) -> Option<TaskRef> {
        if self.deque.newest() == Some(task) { self.deque.pop() } else { None }
    }

    /// Adds many tasks that anyone may run.
    pub(crate) fn push_all(&self, tasks: List) {
        self.house.put(&self.group, tasks, |worker| self.wake(worker));
    }

    /// Adds a task that anyone may run, and has the oldest one in the deque go before it. Nobody is woken, for now: if the
    /// next task comes from the deque, as many wait there as before.
    #[inline]
    pub(crate) fn push_yielded(&self, task: TaskRef) {
        self.oldest_next.set(self.deque.len());
        if self.unannounced.replace(true) {
            self.announce(1);
        }
        self.deque.push(task);
    }

    /// Adds a task that must run here.
    #[inline]
    pub(crate) fn push_here(&self, task: TaskRef) {
        self.core.push(task);
    }

    /// There is work that anyone may take.
    #[cold]
    fn announce(&self, count: usize) {
        // Between the work and the look at who is idle.
        full_fence(Fence::Announce);
        self.group.announce(count, |worker| self.wake(worker));
    }

    #[cold]
    fn wake(&self, worker: usize) {
        if self.group.tell(worker) {
            self.counters().wakes_for_work.add(1);
        }
    }

    /// Sends a task to another worker.
    pub(crate) fn post(&self, group: &Group, seat: &Seat, task: TaskRef) {
        if self.house.post(group, seat, task) {
            self.counters().wakes_by_post.add(1);
        }
    }
}

impl fmt::Debug for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker").field("index", &self.index).finish_non_exhaustive()
    }
}
