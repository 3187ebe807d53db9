//! What a worker's thread keeps to spawn, run and end fibers: stacks, memory, numbers for new ones.
//! Only its thread touches it.
//!
//! # Safety
//!
//! Trusted with lending the stacks to one method at a time, and with taking the head of a value for
//! the whole.
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

/// What a worker's thread keeps.
#[repr(C)]
pub(crate) struct WorkerState {
    local: WorkerLocal,
    host: Arc<FiberHost>,
    /// Fibers entered by others since the worker took its last task.
    entered: Cell<u32>,
    /// # Invariant
    ///
    /// Borrowed by one method at a time, each of which calls nobody who knows this value.
    stacks: UnsafeCell<StackCache>,
    /// For the blocks of new fibers.
    pub(crate) memory: Memory,
    pub(crate) roster: Roster,
    pub(crate) roamers: Arc<Roamers>,
    ids: Cell<Ids>,
    /// How often a fiber of this worker has put one into the next group.
    turn: Cell<u32>,
    /// Who the worker belongs to, which stays for as long as the worker.
    owner: Arc<dyn Any + Send + Sync>,
    is_spare: bool,
    _protection: Option<ThreadProtection>,
}

/// What a worker of a host is made of.
pub(crate) struct WorkerSpec {
    pub(crate) host: Arc<FiberHost>,
    pub(crate) owner: Arc<dyn Any + Send + Sync>,
    pub(crate) worker: u32,
    /// It is there only while another worker blocks.
    pub(crate) is_spare: bool,
    /// Kept by the host for as long as it is there.
    pub(crate) timers: Arc<CoreTimers>,
    /// Its driver, untyped, if it has one: see `of_local` in `worker/driver.rs`.
    pub(crate) driver: Option<NonNull<()>>,
}

impl WorkerState {
    /// Makes the calling thread a worker, whose context is given, until [`leave`](Self::leave).
    ///
    /// # Safety
    ///
    /// The context outlives the worker, and so does the driver.
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
            // SAFETY: the caller's promise for the context. The host is kept by this value, and
            // keeps the timers.
            local: unsafe { WorkerLocal::new(parts, context) },
            entered: Cell::new(0),
            stacks,
            memory,
            roster: Roster::default(),
            roamers,
            ids: Cell::new(Ids::none()),
            // Not all workers begin with the same group.
            turn: Cell::new(worker),
            owner,
            is_spare,
            // Without memory for it, or in a sandbox that refuses it, nothing names an overflow.
            _protection: protect_thread().ok(),
            host,
        }));
        // The head is first. A pointer to the head alone would not be one to the whole.
        tls::set_worker_local(this.cast::<WorkerLocal>());
        // SAFETY: it is there until `leave`.
        let this: &'static Self = unsafe { &*this };
        this.host.census.add_worker(worker, (this.local.shown(), &this.roster), &timers);
    }

    /// Ends what [`enter`](Self::enter) began.
    pub(crate) fn leave() {
        let local = tls::set_worker_local(ptr::null()).cast_mut();
        if !local.is_null() {
            // SAFETY: the invariant of a worker's local: it is the head of a value that `enter` has
            // leaked, and is nobody's any more.
            drop(unsafe { Box::from_raw(local.cast::<Self>()) });
        }
    }

    /// The state of the worker that the caller runs on, if it does. Not to be kept across a
    /// suspension.
    #[inline]
    pub(crate) fn current() -> Option<&'static Self> {
        // SAFETY: the invariant of a worker's local. The thread keeps the value until it resets the
        // pointer.
        unsafe { tls::worker_pointer().cast::<Self>().as_ref() }
    }

    /// The host of the worker's fibers.
    #[inline]
    pub(crate) fn host(&self) -> &Arc<FiberHost> {
        &self.host
    }

    /// Who the worker belongs to.
    pub(crate) fn owner(&self) -> &Arc<dyn Any + Send + Sync> {
        &self.owner
    }

    /// Whether it is a spare worker, which is there while another one blocks.
    pub(crate) fn is_spare(&self) -> bool {
        self.is_spare
    }

    /// The worker has taken a task.
    #[inline]
    pub(crate) fn begin_task(&self) {
        self.entered.set(0);
        self.local.begin_turn();
    }

    /// Whether the running fiber may enter another one itself: not so often that the worker never
    /// gets to anything else, and not if no other may run on this thread for now.
    #[inline]
    pub(crate) fn may_enter(&self, running: &Control) -> bool {
        const MOST_ENTERED: u32 = 64;
        let entered = self.entered.get() + 1;
        self.entered.set(entered);
        entered < MOST_ENTERED && running.may_suspend() && !self.in_switch_hook()
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

    /// The worker has nothing to do: gives some memory back that nobody needs. Whether there was
    /// any: there may be more.
    pub(crate) fn give_back(&self) -> bool {
        self.memory.trim() || self.host.stacks.trim_idle()
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
