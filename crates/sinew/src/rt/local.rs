//! What a worker's thread keeps for fibers: the one that runs, stacks, numbers for new ones, counters. Only its thread touches it.
//!
//! # Safety
//!
//! Trusted with the context, which is that of the thread's worker, and with lending the stacks to one method at a time.
#![expect(unsafe_code, reason = "a worker's context is kept as a pointer")]

use std::cell::{Cell, UnsafeCell};
use std::mem;
use std::num::NonZero;
use std::ptr::{self, NonNull};
use std::sync::Arc;

use sinew_coroutine::overflow::{ThreadProtection, protect_thread};
use sinew_coroutine::{PooledStack, StackCache, StackError};
use sinew_sched::{Context, TaskRef};

use super::control::Control;
use super::counters::Counters;
use super::driver::CoreDriver;
use super::engine::Engine;
use super::ids::Ids;
use super::memory::Memory;
use super::roster::{Roamers, Roster};
use super::running::Running;
use super::target::Home;
use super::turn::TURN;

/// Who enters a fiber.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    /// The worker, which runs none.
    Worker,
    /// Another one that runs, to which control comes back.
    Fiber,
}

/// A worker's own.
pub(crate) struct Local {
    engine: Arc<Engine>,
    worker: u32,
    /// # Invariant
    ///
    /// That of this thread's worker, which outlives this value.
    context: Context<'static>,
    /// The fiber that runs.
    fiber: Running,
    /// Whether this thread was unwinding already when that fiber was entered.
    was_panicking: Cell<bool>,
    /// Fibers entered by others since the worker took its last task.
    entered: Cell<u32>,
    /// What fibers have spent of their [turn](super::turn) since then.
    spent: Cell<u32>,
    /// # Invariant
    ///
    /// Borrowed by one method at a time, each of which calls nobody who knows this value.
    stacks: UnsafeCell<StackCache>,
    /// For the blocks of new fibers.
    pub(crate) memory: Memory,
    pub(crate) roster: Roster,
    pub(crate) roamers: Arc<Roamers>,
    /// How many panic hooks run on this thread, inside one another. No fiber switches away in one.
    hooks: Cell<u32>,
    /// A function is called that follows the running fiber, which does not run itself.
    is_between: Cell<bool>,
    ids: Cell<Ids>,
    /// How often a fiber of this worker has put one into the next group.
    turn: Cell<u32>,
    pub(crate) driver: Arc<CoreDriver>,
    pub(crate) counters: Arc<Counters>,
    _protection: Option<ThreadProtection>,
}

impl Local {
    /// For the thread of a worker, whose context is given; it has one for the whole of its life.
    pub(crate) fn new(
        engine: Arc<Engine>,
        worker: u32,
        driver: Arc<CoreDriver>,
        context: &Context<'_>,
    ) -> Self {
        let node = context.node().unwrap_or(0);
        engine.stacks.warm_up(node);
        let (stacks, counters) =
            (UnsafeCell::new(engine.stacks.of(node).cache()), engine.counters_of(worker));
        let (roamers, memory) = (engine.census.add_roamers(), Memory::new());
        Self {
            engine,
            worker,
            // SAFETY: the worker's thread makes this value when it begins, and drops it before its context is gone.
            context: unsafe { mem::transmute::<Context<'_>, Context<'static>>(*context) },
            fiber: Running::none(),
            was_panicking: Cell::new(false),
            entered: Cell::new(0),
            spent: Cell::new(0),
            stacks,
            memory,
            roster: Roster::default(),
            roamers,
            hooks: Cell::new(0),
            is_between: Cell::new(false),
            ids: Cell::new(Ids::none()),
            // Not all workers begin with the same group.
            turn: Cell::new(worker),
            driver,
            counters,
            // Without memory for it, or in a sandbox that refuses it, nothing names an overflow.
            _protection: protect_thread().ok(),
        }
    }

    /// Has others see what runs here, for as long as this value is there. Once, for one that stays where it is.
    pub(crate) fn show(&'static self) {
        self.engine.census.add_worker(self.worker, (&self.fiber, &self.roster), &self.driver);
    }

    pub(crate) fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    pub(crate) fn is_of(&self, engine: &Engine) -> bool {
        ptr::eq(&*self.engine, engine)
    }

    pub(crate) fn worker(&self) -> u32 {
        self.worker
    }

    /// The worker has taken a task.
    #[inline]
    pub(crate) fn begin_task(&self) {
        self.entered.set(0);
        self.spent.set(0);
    }

    /// Spends a part of the turn. Returns whether nothing is left.
    #[inline]
    pub(crate) fn spend(&self, cost: u32) -> bool {
        let spent = self.spent.get().saturating_add(cost);
        self.spent.set(spent);
        spent >= TURN
    }

    /// The worker, as its tasks see it.
    #[inline]
    pub(crate) fn context(&self) -> &Context<'_> {
        &self.context
    }

    /// The fiber that runs.
    #[inline]
    pub(crate) fn fiber(&self) -> Option<NonNull<Control>> {
        self.fiber.get()
    }

    /// Runs `body` with another fiber as the one that runs.
    #[inline]
    pub(crate) fn enter<R>(&self, fiber: NonNull<Control>, by: By, body: impl FnOnce() -> R) -> R {
        let (outer, was_panicking) = match by {
            // Without a fiber, nobody asks.
            By::Worker => (None, false),
            By::Fiber => (self.fiber.get(), self.was_panicking.get()),
        };
        self.fiber.set(Some(fiber));
        let unwinds = std::thread::panicking();
        self.was_panicking.set(unwinds);
        let result = body();
        self.fiber.set(outer);
        if by == By::Fiber {
            // If the inner one has begun to unwind and waits, the thread unwinds from now on, and the outer one does not.
            let is_inner = !unwinds && std::thread::panicking();
            self.was_panicking.set(was_panicking || is_inner);
        }
        result
    }

    /// Whether the running fiber cannot let another one run: it unwinds, or is in the panic hook. std counts panics per thread,
    /// and whoever ran meanwhile would be taken for unwinding. If the thread was unwinding already when the fiber was entered,
    /// nobody can tell whether this one does.
    #[inline]
    pub(crate) fn is_held(&self) -> bool {
        std::thread::panicking() && (!self.was_panicking.get() || self.is_in_hook())
    }

    /// Calls what follows the running fiber, which is about to go on or has let go. Nobody else is entered meanwhile.
    pub(crate) fn between(&self, follow: impl FnOnce()) {
        self.is_between.set(true);
        follow();
        self.is_between.set(false);
    }

    /// Whether the caller follows the running fiber, and is not the fiber itself: that may be in a wait of its own.
    #[inline]
    pub(crate) fn is_between(&self) -> bool {
        self.is_between.get()
    }

    /// Runs a panic hook.
    pub(crate) fn in_hook(&self, hook: impl FnOnce()) {
        /// Also if the hook unwinds.
        struct Leave<'a>(&'a Cell<u32>);
        impl Drop for Leave<'_> {
            fn drop(&mut self) {
                self.0.set(self.0.get() - 1);
            }
        }
        self.hooks.set(self.hooks.get() + 1);
        let _leave = Leave(&self.hooks);
        hook();
    }

    /// Whether the running fiber is in a panic hook. It does not switch away there, so that no other fiber runs on this thread.
    pub(crate) fn is_in_hook(&self) -> bool {
        self.hooks.get() > 0
    }

    /// Whether the running fiber may enter another one itself: not so often that the worker never gets to anything else, and not if
    /// no other may run on this thread for now.
    #[inline]
    pub(crate) fn may_enter(&self, running: &Control) -> bool {
        const MOST_ENTERED: u32 = 64;
        let entered = self.entered.get() + 1;
        self.entered.set(entered);
        entered < MOST_ENTERED && running.may_suspend() && !self.is_between()
    }

    #[inline]
    pub(crate) fn take_stack(&self, size: usize) -> Result<PooledStack, StackError> {
        // SAFETY: the invariant of `stacks`: a cache calls nobody back.
        unsafe { &mut *self.stacks.get() }.acquire(size)
    }

    #[inline]
    pub(crate) fn return_stack(&self, stack: PooledStack) {
        // SAFETY: the invariant of `stacks`: a cache calls nobody back.
        unsafe { &mut *self.stacks.get() }.release(stack);
    }

    /// Leaves the unused stacks to all workers.
    pub(crate) fn flush_stacks(&self) {
        // SAFETY: the invariant of `stacks`: a cache calls nobody back.
        unsafe { &mut *self.stacks.get() }.flush();
    }

    /// The worker has nothing to do: gives some memory back that nobody needs. Whether there was any: there may be more.
    pub(crate) fn give_back(&self) -> bool {
        self.memory.trim() || self.engine.stacks.trim_idle()
    }

    /// A number for a new fiber.
    #[inline]
    pub(crate) fn next_id(&self) -> NonZero<u64> {
        let mut ids = self.ids.get();
        let id = ids.next();
        self.ids.set(ids);
        id
    }

    /// Counts turns in which something goes to one place after the other.
    pub(crate) fn next_turn(&self) -> u32 {
        self.turn.replace(self.turn.get().wrapping_add(1))
    }

    /// Has a fiber of this engine run again, where it may.
    #[inline]
    pub(crate) fn schedule(&self, task: TaskRef, home: Home) {
        match home {
            Home::Worker(home) if home == self.worker => self.context().core().push(task),
            Home::Anywhere => self.context().submit(task),
            home => self.schedule_elsewhere(task, home),
        }
    }

    #[inline(never)]
    fn schedule_elsewhere(&self, task: TaskRef, home: Home) {
        self.engine.schedule(task, home.placement());
    }
}

impl Drop for Local {
    fn drop(&mut self) {
        self.engine.census.remove_worker(&self.fiber);
    }
}
