//! What a worker's thread keeps for waits and wake-ups: the fiber that runs, and how it may wait.
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

/// What calls may spend in one [turn](super::turn), in operations that take some nanoseconds: about
/// ten microseconds. With fewer, producers and consumers change places so often that it shows.
pub(super) const TURN: u32 = 1024;

/// Who enters a fiber.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    /// The worker, which runs none.
    Worker,
    /// Another one that runs, to which control comes back.
    Fiber,
}

/// What a worker's thread keeps.
///
/// # Invariant
///
/// The one that a thread has [set](super::tls::set_worker_local) is the head of a
/// [`WorkerState`](crate::rt::fiber::worker_state::WorkerState).
pub(crate) struct WorkerLocal {
    /// # Invariant
    ///
    /// Outlives this value.
    scheduler: NonNull<Scheduler>,
    worker: u32,
    /// # Invariant
    ///
    /// That of this thread's worker, which outlives this value.
    context: Context<'static>,
    /// The fiber that runs.
    fiber: Running,
    /// Whether this thread was unwinding already when that fiber was entered.
    was_panicking: Cell<bool>,
    /// What calls have spent of the [turn](super::turn) since the worker took its last task.
    spent: Cell<u32>,
    /// How many panic hooks run on this thread, inside one another. No fiber switches away in one.
    hooks: Cell<u32>,
    /// A function is called that follows the running fiber, which does not run itself.
    in_switch_hook: Cell<bool>,
    /// # Invariant
    ///
    /// There for as long as the scheduler, and that for as long as its fibers.
    timers: NonNull<dyn WaitTimers>,
    /// The driver of the worker, untyped; none, if it has none. See
    /// `of_local` in `worker/driver.rs`.
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
    /// For the thread of a worker, whose context is given.
    ///
    /// # Safety
    ///
    /// Context and scheduler outlive the value. The timers are there for as long as the scheduler.
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

    /// Returns whether the worker is one of those that run this fiber, which is not done.
    #[inline]
    pub(crate) fn runs(&self, fiber: &Control) -> bool {
        self.scheduler == fiber.scheduler()
    }

    /// Returns whether the worker is one of this scheduler's.
    #[inline]
    pub(crate) fn is_of(&self, scheduler: NonNull<Scheduler>) -> bool {
        self.scheduler == scheduler
    }

    /// The timers of the worker. They stay for as long as fibers of its scheduler do.
    #[inline]
    pub(crate) fn timers(&self) -> NonNull<dyn WaitTimers> {
        self.timers
    }

    /// The driver of the worker, untyped.
    #[inline]
    pub(crate) fn driver(&self) -> Option<NonNull<()>> {
        self.driver
    }

    /// What others see of the fiber that runs here.
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
            // If the inner one has begun to unwind and waits, the thread unwinds from now on, and
            // the outer one does not.
            let is_inner = !unwinds && std::thread::panicking();
            self.was_panicking.set(was_panicking || is_inner);
        }
        result
    }

    /// Whether the running fiber cannot let another one run: it unwinds, or is in the panic hook.
    /// std counts panics per thread, and a fiber that ran meanwhile would be taken for unwinding.
    /// If the thread was unwinding already when the fiber was entered, nobody can tell whether this
    /// one does.
    #[inline]
    pub(crate) fn must_hold_worker(&self) -> bool {
        std::thread::panicking() && (!self.was_panicking.get() || self.is_in_hook())
    }

    /// Calls what follows the running fiber, which is about to go on or has let go. Nobody else is
    /// entered meanwhile.
    pub(crate) fn between(&self, follow: impl FnOnce()) {
        self.in_switch_hook.set(true);
        follow();
        self.in_switch_hook.set(false);
    }

    /// Whether the caller follows the running fiber, and is not the fiber itself: that may be in a
    /// wait of its own.
    #[inline]
    pub(crate) fn in_switch_hook(&self) -> bool {
        self.in_switch_hook.get()
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

    /// Whether the running fiber is in a panic hook. It does not switch away there, so that no
    /// other fiber runs on this thread.
    pub(crate) fn is_in_hook(&self) -> bool {
        self.hooks.get() > 0
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
        // SAFETY: the invariant of `scheduler`.
        unsafe { self.scheduler.as_ref() }.get().schedule(task, home.placement());
    }
}
