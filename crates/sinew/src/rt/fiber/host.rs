//! The host of fibers: what the fibers of one runtime share, on a pool or on a single core. Knows
//! neither threads nor descriptors.
//!
//! # Safety
//!
//! Trusted with taking the scheduler of a fiber for the head of its host.
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
    /// How many fibers there may be at a time.
    pub(crate) max_fibers: Option<usize>,
    pub(crate) prewarm: usize,
    /// Every fiber may move at any suspension.
    pub(crate) migrates: bool,
    pub(crate) switch_hooks: SwitchHooks,
    /// Makes what the handle of a fiber gets that has not ended.
    pub(crate) unended: fn(Unended) -> Box<dyn Any + Send>,
}

/// The vtables of fibers as tasks: of those that stay where they have begun, and of those that may
/// move.
pub(crate) type Vtables = [Vtable; 2];

/// Why a fiber was not made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    /// The runtime is being shut down.
    Closed,
    /// There are as many as may be.
    Limit(usize),
    /// It was to run on the caller's worker, and the caller is a plain thread.
    NoWorker,
    /// No stack is that large.
    StackSize(usize),
    /// There is no such group; this is how many there are.
    NoGroup(u32, usize),
}

/// What becomes of the fibers that have not ended when it is over. Each is counted once.
#[derive(Debug)]
pub(crate) struct Fates {
    /// How many had not begun, or were between two steps: they are discarded.
    pub(crate) unbegun: usize,
    pub(crate) begun: BegunFiber,
}

/// The host.
///
/// # Invariant
///
/// The scheduler is first, so that a pointer to it that was made from one to the host is one to the
/// whole. The scheduler of every fiber is in a host.
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
    /// How often a thread outside has put a fiber into the next group.
    pub(crate) turn: AtomicU32,
    pub(crate) starving: Starving,
    /// Of timers that call back.
    pub(crate) homes: TimerHomes,
    /// Of its tasks.
    pub(crate) vtables: &'static Vtables,
}

impl FiberHost {
    /// A host without fibers, whose workers belong to these NUMA nodes.
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

    /// Says who runs the fibers. Once, before there are any.
    pub(crate) fn begin(&self, schedule: Arc<dyn Schedule>) {
        self.scheduler.begin(schedule);
    }

    /// What fibers know of their host.
    #[inline]
    pub(crate) fn scheduler(&self) -> NonNull<Scheduler> {
        NonNull::from(self).cast()
    }

    /// The host of a fiber.
    ///
    /// # Safety
    ///
    /// The fiber is not done.
    #[inline]
    pub(crate) unsafe fn of(fiber: &FiberBlock) -> &Self {
        // SAFETY: the type's invariant, and that of a block: its scheduler is there until the fiber
        // is done.
        unsafe { fiber.scheduler().cast::<Self>().as_ref() }
    }

    /// Who runs the fibers, if it has begun.
    pub(crate) fn try_schedule(&self) -> Option<&Arc<dyn Schedule>> {
        self.scheduler.try_get()
    }

    /// Who runs the fibers.
    pub(crate) fn schedule(&self) -> &Arc<dyn Schedule> {
        self.scheduler.get()
    }

    /// What threads count that are none of the workers.
    pub(crate) fn outside(&self) -> &Counters {
        &self.scheduler.outside
    }

    /// A reference of one's own.
    pub(crate) fn keep(&self) -> Arc<Self> {
        self.this.upgrade().expect("a host is there while its fibers are")
    }

    /// What is called at each switch.
    #[inline]
    pub(crate) fn switch_hooks(&self) -> &SwitchHooks {
        &self.settings.switch_hooks
    }

    /// The counters of a worker. A seat that is taken again counts on.
    pub(crate) fn counters_of(&self, worker: u32) -> Arc<Counters> {
        let mut all = self.counters.lock();
        let worker = worker as usize;
        if all.len() <= worker {
            all.resize_with(worker + 1, Arc::default);
        }
        all[worker].clone()
    }

    /// Whether new fibers are refused.
    #[inline]
    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::Relaxed)
    }

    /// Refuses new fibers, but for the last ones of those who hear of it.
    pub(crate) fn close(&self) {
        self.close_listeners.tell();
        self.is_closed.store(true, Ordering::SeqCst);
    }

    /// Counts a new fiber in, which leaves its place in the [limit](FiberLimit) when it ends.
    ///
    /// # Errors
    ///
    /// If none may be made now.
    #[inline]
    pub(crate) fn admit(&self, is_limited: bool) -> Result<(), Reason> {
        match () {
            () if self.is_closed() => Err(Reason::Closed),
            () if is_limited => self.limit.enter().map_err(Reason::Limit),
            () => Ok(()),
        }
    }

    /// A fiber that was counted in has ended.
    #[inline]
    pub(crate) fn release(&self, is_limited: bool) {
        if is_limited {
            self.limit.leave();
        }
    }

    /// Calls `look` with all that is counted.
    pub(crate) fn look<R>(&self, look: impl FnOnce(&All<'_>) -> R) -> R {
        look(&All { workers: &self.counters.lock(), outside: self.outside() })
    }

    /// How many fibers run or are ready to, about: a fiber may change that meanwhile.
    pub(crate) fn not_waiting(&self) -> usize {
        self.look(|all| {
            let finished = all.sum(|counters| &counters.finished);
            let wakes = all.sum(|counters| &counters.wakes);
            let live = all.sum(|counters| &counters.spawned).saturating_sub(finished);
            let waits = all.sum(|counters| &counters.waits);
            live.saturating_sub(waits.saturating_sub(wakes)) as usize
        })
    }

    /// All fibers that have not ended, those that have not begun included.
    ///
    /// Returns nothing if the kernel does not help with reading them.
    pub(crate) fn fibers(&self) -> Option<Vec<FiberRef>> {
        self.census.all(self.scheduler())
    }

    /// What became of all fibers that have not ended, at one moment. For when it is over: fibers
    /// are not made any more.
    pub(crate) fn fates(&self) -> Option<Fates> {
        let unfinished = |all: &All<'_>| {
            // Those that were discarded are counted as finished, but not by workers.
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
        // The last reference may be given up anywhere, and nobody there has to do with these.
        unwind::catch(|| drop(mem::take(&mut self.settings.switch_hooks)));
    }
}

// What a panic interrupts is a fiber's: the host itself is never seen half done.
impl_unwind_safe!(FiberHost);

impl_debug!(FiberHost, |host| { settings: host.settings, .. });
