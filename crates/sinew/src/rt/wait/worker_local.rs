//! What a worker's thread keeps for waits and wake-ups: the running fiber, and how it may wait.
//! Only its thread touches it.
//!
//! # Safety
//!
//! Trusted with the context, which is that of the thread's worker.
#![expect(unsafe_code, reason = "a worker's context is kept as a pointer")]

use std::cell::Cell;
use std::mem;
use std::ptr::NonNull;
use std::sync::Arc;

use sinew_sched::{Context, TaskRef};

use super::control::Control;
use super::home::Home;
use super::running::Running;
use super::schedule::Scheduler;
use super::wait_timers::WaitTimers;
use crate::rt::base::Counters;

/// The budget of one [turn](super::turn), in operations of some nanoseconds: about ten
/// microseconds. With a smaller one, producers and consumers switch so often that it costs
/// measurable time.
pub(super) const TURN: u32 = 1024;

/// What enters a fiber.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    /// The worker, while it runs no fiber.
    Worker,
    /// Another fiber, to which control returns.
    Fiber,
}

/// The state of a worker's thread for waits.
///
/// # Invariant
///
/// The value that a thread has [set](super::tls::set_worker_local) is the head of a
/// [`WorkerState`](crate::rt::fiber::worker_state::WorkerState).
pub(crate) struct WorkerLocal {
    /// # Invariant
    ///
    /// Outlives this value.
    scheduler: NonNull<Scheduler>,
    worker: u32,
    /// # Invariant
    ///
    /// The context of this thread's worker, which outlives this value.
    context: Context<'static>,
    /// The running fiber.
    fiber: Running,
    /// Whether this thread was unwinding already when that fiber was entered.
    was_panicking: Cell<bool>,
    /// What calls have spent of the [turn](super::turn) since the worker took its last task.
    spent: Cell<u32>,
    /// How many nested panic hooks run on this thread. No fiber switches away inside one.
    hooks: Cell<u32>,
    /// Whether a switch hook runs. The running fiber itself does not run meanwhile.
    in_switch_hook: Cell<bool>,
    /// # Invariant
    ///
    /// Alive as long as the scheduler, which lives as long as its fibers.
    timers: NonNull<dyn WaitTimers>,
    /// The driver of the worker, untyped, if it has one. See `of_local` in `worker/driver.rs`.
    driver: Option<NonNull<()>>,
    pub(crate) counters: Arc<Counters>,
}

/// The parts of a worker that its [`WorkerLocal`] points to.
pub(crate) struct WorkerParts {
    pub(crate) scheduler: NonNull<Scheduler>,
    pub(crate) worker: u32,
    pub(crate) timers: NonNull<dyn WaitTimers>,
    pub(crate) driver: Option<NonNull<()>>,
    pub(crate) counters: Arc<Counters>,
}

impl WorkerLocal {
    /// Returns the value for the thread of a worker with this context.
    ///
    /// # Safety
    ///
    /// Context and scheduler outlive the value. The timers live as long as the scheduler.
    pub(crate) unsafe fn new(parts: WorkerParts, context: &Context<'_>) -> Self {
        let WorkerParts { scheduler, worker, timers, driver, counters } = parts;
        Self {
            scheduler,
            worker,
            // SAFETY: the caller's promise.
            context: unsafe { mem::transmute::<Context<'_>, Context<'static>>(*context) },
            fiber: Running::none(),
            was_panicking: Cell::new(false),
            spent: Cell::new(0),
            hooks: Cell::new(0),
            in_switch_hook: Cell::new(false),
            timers,
            driver,
            counters,
        }
    }

    /// Returns whether the worker's scheduler runs this fiber, which is not done.
    #[inline]
    pub(crate) fn runs(&self, fiber: &Control) -> bool {
        self.scheduler == fiber.scheduler()
    }

    /// Returns whether the worker belongs to this scheduler.
    #[inline]
    pub(crate) fn is_of(&self, scheduler: NonNull<Scheduler>) -> bool {
        self.scheduler == scheduler
    }

    /// Returns the timers of the worker. They live as long as the fibers of its scheduler.
    #[inline]
    pub(crate) fn timers(&self) -> NonNull<dyn WaitTimers> {
        self.timers
    }

    /// Returns the driver of the worker, untyped.
    #[inline]
    pub(crate) fn driver(&self) -> Option<NonNull<()>> {
        self.driver
    }

    /// Returns what other threads see of the running fiber.
    pub(crate) fn shown(&self) -> &Running {
        &self.fiber
    }

    pub(crate) fn worker(&self) -> u32 {
        self.worker
    }

    /// Begins a new turn: the worker has taken a task.
    #[inline]
    pub(crate) fn begin_turn(&self) {
        self.spent.set(0);
    }

    /// Spends a part of the turn. Returns whether nothing is left.
    #[inline]
    pub(crate) fn spend(&self, cost: u32) -> bool {
        let spent = self.spent.get().saturating_add(cost);
        self.spent.set(spent);
        spent >= TURN
    }

    /// Returns the worker, as its tasks see it.
    #[inline]
    pub(crate) fn context(&self) -> &Context<'_> {
        &self.context
    }

    /// Returns the running fiber.
    #[inline]
    pub(crate) fn fiber(&self) -> Option<NonNull<Control>> {
        self.fiber.get()
    }

    /// Runs `body` with another fiber as the running one.
    #[inline]
    pub(crate) fn enter<R>(&self, fiber: NonNull<Control>, by: By, body: impl FnOnce() -> R) -> R {
        let (outer, was_panicking) = match by {
            // No code reads it while no fiber runs.
            By::Worker => (None, false),
            By::Fiber => (self.fiber.get(), self.was_panicking.get()),
        };
        self.fiber.set(Some(fiber));
        let unwinds = std::thread::panicking();
        self.was_panicking.set(unwinds);
        let result = body();
        self.fiber.set(outer);
        if by == By::Fiber {
            // If the inner fiber has begun to unwind and waits, the thread unwinds from now on,
            // though the outer fiber does not.
            let is_inner = !unwinds && std::thread::panicking();
            self.was_panicking.set(was_panicking || is_inner);
        }
        result
    }

    /// Returns whether the running fiber must not let another fiber run: it unwinds, or is in the
    /// panic hook. std counts panics per thread, and a fiber that ran meanwhile would be taken for
    /// unwinding. If the thread was unwinding already when the fiber was entered, there is no way
    /// to tell whether this fiber unwinds.
    #[inline]
    pub(crate) fn must_hold_worker(&self) -> bool {
        std::thread::panicking() && (!self.was_panicking.get() || self.is_in_hook())
    }

    /// Calls the switch hooks for the running fiber, which is about to continue or has been
    /// suspended. No other fiber is entered meanwhile.
    pub(crate) fn between(&self, follow: impl FnOnce()) {
        self.in_switch_hook.set(true);
        follow();
        self.in_switch_hook.set(false);
    }

    /// Returns whether the caller is a switch hook, and not the running fiber itself, which may be
    /// in a wait of its own.
    #[inline]
    pub(crate) fn in_switch_hook(&self) -> bool {
        self.in_switch_hook.get()
    }

    /// Runs a panic hook.
    pub(crate) fn in_hook(&self, hook: impl FnOnce()) {
        /// A guard: the count is also lowered if the hook unwinds.
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

    /// Returns whether the running fiber is in a panic hook. It does not switch away there, so that
    /// no other fiber runs on this thread.
    pub(crate) fn is_in_hook(&self) -> bool {
        self.hooks.get() > 0
    }

    /// Schedules a fiber of this engine where it may run.
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
        // SAFETY: the invariant of `scheduler`.
        unsafe { self.scheduler.as_ref() }.get().schedule(task, home.placement());
    }
}
