//! What a worker's thread keeps to spawn, run and end fibers: stacks, memory, numbers of new
//! fibers. Only its thread touches it.
//!
//! # Safety
//!
//! Trusted with lending the stacks to one method at a time, and with casting a pointer to the head
//! to one to the whole.
#![expect(unsafe_code, reason = "the thread keeps a pointer to the head of this")]

use std::any::Any;
use std::cell::{Cell, UnsafeCell};
use std::num::NonZero;
use std::ops::Deref;
use std::ptr::{self, NonNull};
use std::sync::Arc;

use sinew_coroutine::overflow::{ThreadProtection, protect_thread};
use sinew_coroutine::{PooledStack, StackCache, StackError};
use sinew_sched::Context;

use super::host::FiberHost;
use super::roster::{Roamers, Roster};
use crate::rt::base::{Ids, Memory};
use crate::rt::timer::CoreTimers;
use crate::rt::wait::{Control, WaitTimers, WorkerLocal, WorkerParts, tls};

/// The state of a worker's thread for fibers.
#[repr(C)]
pub(crate) struct WorkerState {
    local: WorkerLocal,
    host: Arc<FiberHost>,
    /// How many fibers were entered by others since the worker took its last task.
    entered: Cell<u32>,
    /// # Invariant
    ///
    /// Borrowed by one method at a time, which calls no code that can reach this value.
    stacks: UnsafeCell<StackCache>,
    /// Memory for the blocks of new fibers.
    pub(crate) memory: Memory,
    pub(crate) roster: Roster,
    pub(crate) roamers: Arc<Roamers>,
    ids: Cell<Ids>,
    /// How often a fiber of this worker has placed a fiber in the next group.
    turn: Cell<u32>,
    /// The owner of the worker, which lives as long as the worker.
    owner: Arc<dyn Any + Send + Sync>,
    is_spare: bool,
    _protection: Option<ThreadProtection>,
}

/// The parts of a new worker.
pub(crate) struct WorkerSpec {
    pub(crate) host: Arc<FiberHost>,
    pub(crate) owner: Arc<dyn Any + Send + Sync>,
    pub(crate) worker: u32,
    /// Whether it exists only while another worker blocks.
    pub(crate) is_spare: bool,
    /// Kept by the host for its whole life.
    pub(crate) timers: Arc<CoreTimers>,
    /// The driver of the worker, untyped, if it has one: see `of_local` in `worker/driver.rs`.
    pub(crate) driver: Option<NonNull<()>>,
}

impl WorkerState {
    /// Makes the calling thread a worker with this context, until [`leave`](Self::leave).
    ///
    /// # Safety
    ///
    /// The context and the driver outlive the worker.
    pub(crate) unsafe fn enter(spec: WorkerSpec, context: &Context<'_>) {
        let WorkerSpec { host, owner, worker, is_spare, timers, driver } = spec;
        let node = context.node().unwrap_or(0);
        host.stacks.warm_up(node);
        let stacks = UnsafeCell::new(host.stacks.of(node).cache());
        let (roamers, memory) = (host.census.add_roamers(), Memory::new());
        let parts = WorkerParts {
            scheduler: host.scheduler(),
            worker,
            timers: NonNull::from(&*timers as &dyn WaitTimers),
            driver,
            counters: host.counters_of(worker),
        };
        let this = Box::into_raw(Box::new(Self {
            // SAFETY: the caller's promise for the context. This value keeps the host, which keeps
            // the timers.
            local: unsafe { WorkerLocal::new(parts, context) },
            entered: Cell::new(0),
            stacks,
            memory,
            roster: Roster::default(),
            roamers,
            ids: Cell::new(Ids::none()),
            // Different workers begin with different groups.
            turn: Cell::new(worker),
            owner,
            is_spare,
            // If there is no memory for it, or a sandbox refuses it, overflows are not named.
            _protection: protect_thread().ok(),
            host,
        }));
        // The head is first. A pointer to the head alone would not be a pointer to the whole.
        tls::set_worker_local(this.cast::<WorkerLocal>());
        // SAFETY: the value lives until `leave`.
        let this: &'static Self = unsafe { &*this };
        this.host.census.add_worker(worker, (this.local.shown(), &this.roster), &timers);
    }

    /// Ends what [`enter`](Self::enter) began.
    pub(crate) fn leave() {
        let local = tls::set_worker_local(ptr::null()).cast_mut();
        if !local.is_null() {
            // SAFETY: the invariant of a worker's local: it is the head of a value that `enter` has
            // leaked, and is not used any more.
            drop(unsafe { Box::from_raw(local.cast::<Self>()) });
        }
    }

    /// Returns the state of the worker that the caller runs on, if it runs on one. Must not be kept
    /// across a suspension.
    #[inline]
    pub(crate) fn current() -> Option<&'static Self> {
        // SAFETY: the invariant of a worker's local. The thread keeps the value until it resets the
        // pointer.
        unsafe { tls::worker_pointer().cast::<Self>().as_ref() }
    }

    /// Returns the host of the worker's fibers.
    #[inline]
    pub(crate) fn host(&self) -> &Arc<FiberHost> {
        &self.host
    }

    /// Returns the owner of the worker.
    pub(crate) fn owner(&self) -> &Arc<dyn Any + Send + Sync> {
        &self.owner
    }

    /// Returns whether this is a spare worker, which exists while another one blocks.
    pub(crate) fn is_spare(&self) -> bool {
        self.is_spare
    }

    /// Records that the worker has taken a task.
    #[inline]
    pub(crate) fn begin_task(&self) {
        self.entered.set(0);
        self.local.begin_turn();
    }

    /// Returns whether the running fiber may enter another one itself. Limits how often it does, so
    /// that the worker returns to other work. Returns false if no other fiber may run on this
    /// thread now.
    #[inline]
    pub(crate) fn may_enter(&self, running: &Control) -> bool {
        const MOST_ENTERED: u32 = 64;
        let entered = self.entered.get() + 1;
        self.entered.set(entered);
        entered < MOST_ENTERED && running.may_suspend() && !self.in_switch_hook()
    }

    #[inline]
    pub(crate) fn take_stack(&self, size: usize) -> Result<PooledStack, StackError> {
        // SAFETY: the invariant of `stacks`: a cache calls no code of this crate.
        unsafe { &mut *self.stacks.get() }.acquire(size)
    }

    #[inline]
    pub(crate) fn return_stack(&self, stack: PooledStack) {
        // SAFETY: the invariant of `stacks`: a cache calls no code of this crate.
        unsafe { &mut *self.stacks.get() }.release(stack);
    }

    /// Moves the unused stacks to the shared reserve.
    pub(crate) fn flush_stacks(&self) {
        // SAFETY: the invariant of `stacks`: a cache calls no code of this crate.
        unsafe { &mut *self.stacks.get() }.flush();
    }

    /// Frees some memory that is not needed, while the worker is idle. Returns whether there was
    /// any. There may be more.
    pub(crate) fn give_back(&self) -> bool {
        self.memory.trim() || self.host.stacks.trim_idle()
    }

    /// Returns the number of a new fiber.
    #[inline]
    pub(crate) fn next_id(&self) -> NonZero<u64> {
        let mut ids = self.ids.get();
        let id = ids.next();
        self.ids.set(ids);
        id
    }

    /// Counts turns of a round-robin choice.
    pub(crate) fn next_turn(&self) -> u32 {
        self.turn.replace(self.turn.get().wrapping_add(1))
    }
}

impl Deref for WorkerState {
    type Target = WorkerLocal;

    #[inline]
    fn deref(&self) -> &WorkerLocal {
        &self.local
    }
}

impl Drop for WorkerState {
    fn drop(&mut self) {
        self.host.census.remove_worker(self.local.shown());
    }
}
