//! The host of fibers: the state that all fibers of one runtime share, on a pool or on a single
//! core. Knows neither threads nor descriptors.
//!
//! # Safety
//!
//! Trusted with casting a pointer to a fiber's scheduler to one to its host.
#![expect(unsafe_code, reason = "a pointer to the head is one to the whole")]

use std::any::Any;
use std::mem;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Weak};

use sinew_sched::Vtable;

use super::block::FiberBlock;
use super::census::{BegunFiber, Census};
use super::close_listeners::CloseListeners;
use super::limit::FiberLimit;
use super::stacks::Stacks;
use super::starving::Starving;
use super::switch_hooks::SwitchHooks;
use crate::rt::base::sync::Lock;
use crate::rt::base::{All, Counters, impl_debug, impl_unwind_safe, unwind};
use crate::rt::timer::TimerHomes;
use crate::rt::wait::{FiberRef, Schedule, Scheduler};

/// Why a fiber has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unended {
    /// The fiber was discarded before it began, or between two of its steps.
    Discarded,
    /// The fiber had begun, and not ended, when its runtime was shut down.
    Abandoned,
}

/// Settings of fibers, and of what they share.
#[derive(Clone, Debug)]
pub(crate) struct HostSettings {
    pub(crate) stack_size: usize,
    /// How many fibers may exist at a time.
    pub(crate) max_fibers: Option<usize>,
    pub(crate) prewarm: usize,
    /// Whether every fiber may migrate at any suspension.
    pub(crate) migrates: bool,
    pub(crate) switch_hooks: SwitchHooks,
    /// Makes the error that the handle of a fiber without a result returns.
    pub(crate) unended: fn(Unended) -> Box<dyn Any + Send>,
}

/// The vtables of fibers as tasks: first for fibers that stay where they have begun, then for
/// fibers that may migrate.
pub(crate) type Vtables = [Vtable; 2];

/// Why a fiber was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    /// The runtime is being shut down.
    Closed,
    /// The limit of fibers is reached.
    Limit(usize),
    /// The fiber was to run on the caller's worker, and the caller is a plain thread.
    NoWorker,
    /// No stack has this size.
    StackSize(usize),
    /// There is no group with this number. The second value is the number of groups.
    NoGroup(u32, usize),
}

/// The fate of the fibers that have not ended when the runtime is over. Each is counted once.
#[derive(Debug)]
pub(crate) struct Fates {
    /// How many had not begun, or were between two steps. They are discarded.
    pub(crate) unbegun: usize,
    pub(crate) begun: BegunFiber,
}

/// The host.
///
/// # Invariant
///
/// The scheduler is first, so that a pointer to it that was made from a pointer to the host is a
/// pointer to the whole. The scheduler of every fiber is in a host.
#[repr(C)]
pub(crate) struct FiberHost {
    scheduler: Scheduler,
    this: Weak<Self>,
    pub(crate) settings: HostSettings,
    pub(crate) stacks: Stacks,
    pub(crate) census: Census,
    counters: Lock<Vec<Arc<Counters>>>,
    is_closed: AtomicBool,
    pub(crate) close_listeners: CloseListeners,
    limit: FiberLimit,
    /// How often a thread outside has placed a fiber in the next group.
    pub(crate) turn: AtomicU32,
    pub(crate) starving: Starving,
    /// The homes of timers with callbacks.
    pub(crate) homes: TimerHomes,
    /// The vtables of its tasks.
    pub(crate) vtables: &'static Vtables,
}

impl FiberHost {
    /// Returns a host without fibers, whose workers belong to these NUMA nodes.
    pub(crate) fn new(settings: HostSettings, nodes: Vec<usize>, vtables: &'static Vtables) -> Arc<Self> {
        Arc::new_cyclic(|this| Self {
            scheduler: Scheduler::default(),
            this: this.clone(),
            stacks: Stacks::new(nodes, settings.stack_size, settings.prewarm),
            census: Census::default(),
            counters: Lock::default(),
            is_closed: AtomicBool::new(false),
            close_listeners: CloseListeners::new(),
            limit: FiberLimit::new(settings.max_fibers),
            turn: AtomicU32::new(0),
            starving: Starving::new(),
            homes: TimerHomes::default(),
            vtables,
            settings,
        })
    }

    /// Sets what runs the fibers. Called once, before there are any.
    pub(crate) fn begin(&self, schedule: Arc<dyn Schedule>) {
        self.scheduler.begin(schedule);
    }

    /// Returns the pointer by which fibers know their host.
    #[inline]
    pub(crate) fn scheduler(&self) -> NonNull<Scheduler> {
        NonNull::from(self).cast()
    }

    /// Returns the host of a fiber.
    ///
    /// # Safety
    ///
    /// The fiber is not done.
    #[inline]
    pub(crate) unsafe fn of(fiber: &FiberBlock) -> &Self {
        // SAFETY: the type's invariant, and that of a block: its scheduler is alive until the fiber
        // is done.
        unsafe { fiber.scheduler().cast::<Self>().as_ref() }
    }

    /// Returns what runs the fibers, if it was set.
    pub(crate) fn try_schedule(&self) -> Option<&Arc<dyn Schedule>> {
        self.scheduler.try_get()
    }

    /// Returns what runs the fibers.
    pub(crate) fn schedule(&self) -> &Arc<dyn Schedule> {
        self.scheduler.get()
    }

    /// Returns the counters of threads that are not workers.
    pub(crate) fn outside(&self) -> &Counters {
        &self.scheduler.outside
    }

    /// Returns a new reference to this host.
    pub(crate) fn keep(&self) -> Arc<Self> {
        self.this.upgrade().expect("a host is there while its fibers are")
    }

    /// Returns the functions that are called at each switch.
    #[inline]
    pub(crate) fn switch_hooks(&self) -> &SwitchHooks {
        &self.settings.switch_hooks
    }

    /// Returns the counters of a worker. A new worker in the same seat continues them.
    pub(crate) fn counters_of(&self, worker: u32) -> Arc<Counters> {
        let mut all = self.counters.lock();
        let worker = worker as usize;
        if all.len() <= worker {
            all.resize_with(worker + 1, Arc::default);
        }
        all[worker].clone()
    }

    /// Returns whether new fibers are refused.
    #[inline]
    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::Relaxed)
    }

    /// Refuses new fibers, after the close listeners have spawned their last ones.
    pub(crate) fn close(&self) {
        self.close_listeners.tell();
        self.is_closed.store(true, Ordering::SeqCst);
    }

    /// Admits a new fiber, which leaves the [limit](FiberLimit) when it ends.
    ///
    /// # Errors
    ///
    /// Returns an error if the fiber is refused now.
    #[inline]
    pub(crate) fn admit(&self, is_limited: bool) -> Result<(), Reason> {
        match () {
            () if self.is_closed() => Err(Reason::Closed),
            () if is_limited => self.limit.enter().map_err(Reason::Limit),
            () => Ok(()),
        }
    }

    /// Records that an admitted fiber has ended.
    #[inline]
    pub(crate) fn release(&self, is_limited: bool) {
        if is_limited {
            self.limit.leave();
        }
    }

    /// Calls `look` with all counters.
    pub(crate) fn look<R>(&self, look: impl FnOnce(&All<'_>) -> R) -> R {
        look(&All { workers: &self.counters.lock(), outside: self.outside() })
    }

    /// Returns about how many fibers run or are ready. Fibers may change that meanwhile.
    pub(crate) fn not_waiting(&self) -> usize {
        self.look(|all| {
            let finished = all.sum(|counters| &counters.finished);
            let wakes = all.sum(|counters| &counters.wakes);
            let live = all.sum(|counters| &counters.spawned).saturating_sub(finished);
            let waits = all.sum(|counters| &counters.waits);
            live.saturating_sub(waits.saturating_sub(wakes)) as usize
        })
    }

    /// Returns all fibers that have not ended, including those that have not begun.
    ///
    /// Returns `None` if the kernel does not support the barrier that reading them needs.
    pub(crate) fn fibers(&self) -> Option<Vec<FiberRef>> {
        self.census.all(self.scheduler())
    }

    /// Returns the fate of all fibers that have not ended, at one moment. Called when the runtime
    /// is over and makes no fibers any more.
    pub(crate) fn fates(&self) -> Option<Fates> {
        let unfinished = |all: &All<'_>| {
            // Discarded fibers are counted as finished, but not by workers.
            all.sum(|counters| &counters.spawned).saturating_sub(all.finished_by_workers()) as usize
        };
        let (begun, unfinished) = self.census.begun(|| self.look(unfinished))?;
        let unbegun = unfinished.saturating_sub(begun.waiting.len() + begun.running.len());
        Some(Fates { unbegun, begun })
    }
}

impl Drop for FiberHost {
    fn drop(&mut self) {
        self.homes.close();
        // The last reference may be dropped anywhere, by code that is not responsible for the
        // hooks' destructors.
        unwind::catch(|| drop(mem::take(&mut self.settings.switch_hooks)));
    }
}

// A panic may interrupt a fiber, but never leaves the host itself half-changed.
impl_unwind_safe!(FiberHost);

impl_debug!(FiberHost, |host| { settings: host.settings, .. });
