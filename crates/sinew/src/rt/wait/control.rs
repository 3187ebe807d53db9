//! The control block of a fiber: the fields that waiting, waking and scheduling use. Knows neither
//! who schedules the fiber, which is behind a seam ([`schedule`](super::schedule)), nor the types
//! of its body and result, which are behind a vtable.
//!
//! It is the head of a larger block (`fiber/block.rs`), which has the body, and later its result,
//! behind it (`fiber/cell.rs`): all in one allocation. It is reference-counted: the right to run
//! the fiber is one reference, each handle is another.
//!
//! # Safety
//!
//! Trusted with the count, with who may touch which field, and with making a task of a fiber only
//! for the holder of the right to run it.
#![expect(unsafe_code, reason = "a block is shared by pointers and counted by hand")]

use std::cell::{Cell, UnsafeCell};
use std::mem::ManuallyDrop;
use std::num::NonZero;
use std::panic::Location;
use std::ptr::NonNull;

use sinew_coroutine::{Coroutine, PooledStack, Suspender};
use sinew_sched::{Header, TaskRef, Vtable};

use super::ambient::AmbientSlot;
use super::fiber_locals::FiberLocals;
use super::home::Home;
use super::join::Join;
use super::pins::Pins;
use super::reason::WaitReason;
use super::schedule::Scheduler;
use super::stop::OwnNode;
use super::word::Word;
use crate::rt::base::sync::{AtomicU32, Ordering};
use crate::rt::base::{Origin, impl_debug};

/// Why a fiber returns its thread to its worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pause {
    /// To let other fibers run.
    Yield,
    /// It has begun a wait, and may continue on any worker.
    Wait,
    /// It has begun a wait, and continues on this worker: it may be in a queue there already.
    Rest,
}

/// What a fiber has left when its stack is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// Its result.
    ForGood,
    /// More to do, on any worker and on another stack.
    ForNow,
}

/// The coroutine of a fiber.
pub(crate) type FiberCoroutine = Coroutine<(), Pause, Ended, PooledStack>;

/// When a fiber may move to another worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moves {
    /// Until it first runs.
    UntilItRuns,
    /// Never: it stays where it was made.
    Never,
    /// At any suspension.
    Always,
}

/// What a fiber is doing, for observers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Status {
    /// It has not run yet.
    New = 0,
    /// It has run, and is scheduled to run again.
    Ready = 1,
    /// It runs.
    Running = 2,
    /// It waits.
    Parked = 3,
    /// It has ended.
    Done = 4,
}

/// Properties that are set when a fiber is made.
#[derive(Debug)]
pub(crate) struct Birth {
    pub(crate) id: NonZero<u64>,
    pub(crate) name: Option<Box<str>>,
    pub(crate) stack_size: usize,
    pub(crate) moves: Moves,
    /// The group that it never leaves, or [`NOWHERE`].
    pub(crate) group: u32,
    /// Whether it counts against the limit of fibers.
    pub(crate) is_limited: bool,
    /// Where the memory of the block is from.
    pub(crate) memory: Origin,
    pub(crate) location: &'static Location<'static>,
}

/// No worker yet, or no group.
pub(crate) const NOWHERE: u32 = u32::MAX;

/// Operations on a body of unknown type. Each takes the control block that the body is behind.
pub(crate) struct BodyVtable {
    /// Runs the body, on the fiber's own stack, and keeps the result, or what is left to do.
    pub(crate) run: unsafe fn(NonNull<Control>) -> Ended,
    /// Gives up a body that will not run. The result is an error then.
    pub(crate) discard: unsafe fn(NonNull<Control>, Unrun),
    /// Makes the result an error, though the body has begun.
    pub(crate) abandon: unsafe fn(NonNull<Control>),
    /// Drops the result, if there is one.
    pub(crate) drop_result: unsafe fn(NonNull<Control>) -> Dropped,
    /// Moves the result out, to memory of its type. Returns whether there was one.
    pub(crate) take_result: unsafe fn(NonNull<Control>, *mut ()) -> bool,
    /// Gives a fiber of a scope the node through which it is cancelled, unless it has one.
    pub(crate) make_node: unsafe fn(NonNull<Control>),
    /// Frees the control block and all that is behind it.
    pub(crate) free: unsafe fn(NonNull<Control>),
}

/// What becomes of a body that will not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unrun {
    Dropped,
    /// Leaked, because only another thread may drop it.
    Leaked,
}

/// What dropping a result dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dropped {
    /// A panic that was not reported to a joiner.
    Panic,
    /// Anything else.
    Other,
}

/// The control block.
///
/// # Invariant
///
/// The header is first, so that a pointer to it is a pointer to the whole.
#[repr(C)]
pub(crate) struct Control {
    // The fields that every resume touches come first, in the space of one cache line.
    header: Header,
    /// Never dropped: a coroutine that is taken out has ended, and one that is left here stays for
    /// ever.
    ///
    /// # Invariant
    ///
    /// Touched only by the holder of the right to run the fiber.
    pub(crate) coroutine: UnsafeCell<Option<ManuallyDrop<FiberCoroutine>>>,
    /// # Invariant
    ///
    /// As `coroutine`; set by the fiber itself when it begins, and valid until its body returns.
    pub(crate) suspender: Cell<Option<NonNull<Suspender<(), Pause>>>>,
    /// The worker that runs it, or ran it last.
    worker: AtomicU32,
    status: AtomicU32,
    pub(crate) pins: Pins,
    /// How often the fiber was forbidden to suspend. Raised by the fiber itself; lowered also by a
    /// coroutine that began on it.
    no_suspend: AtomicU32,
    pub(crate) word: Word,
    // The fields used by a wait that may be stopped, and by wakers, come next, in the line of the
    // word.
    /// What is in force for the code that the fiber runs.
    ///
    /// # Invariant
    ///
    /// As `coroutine`, except while the fiber is being made. Emptied by the fiber itself before its
    /// body returns.
    pub(crate) ambient: AmbientSlot,
    /// The node through which the fiber is cancelled. Ended before the block is freed.
    pub(crate) own: OwnNode,
    /// Why the fiber waits, or waited last.
    pub(crate) reason: WaitReason,
    /// Whether the fiber has a scope, through which it may be cancelled.
    pub(crate) is_scoped: bool,
    /// The scheduler that runs the fiber.
    ///
    /// # Invariant
    ///
    /// Alive until the fiber is done: a scheduler waits for its fibers, or stays for ever.
    scheduler: NonNull<Scheduler>,
    pub(crate) join: Join,
    pub(crate) body: &'static BodyVtable,
    /// # Invariant
    ///
    /// As `coroutine`. Ended by the fiber itself before its body returns, so that none are left
    /// when the block is freed.
    pub(crate) locals: FiberLocals,
    /// The number by which the present step owns things; `None` in the first step, which uses the
    /// fiber's own. The next step may run on another thread, and must not own what this one has
    /// left behind.
    ///
    /// # Invariant
    ///
    /// As `coroutine`.
    pub(crate) step: Cell<Option<NonZero<u64>>>,
    pub(crate) birth: Birth,
}

// A coroutine is larger under a sanitizer, and atomics are under loom.
#[cfg(not(any(loom, sinew_asan, sinew_tsan)))]
const _: () = {
    assert!(std::mem::offset_of!(Control, word) <= 64, "what every resume touches is in one line");
    assert!(std::mem::offset_of!(Control, join) <= 128, "and what every wait touches, in the next");
};

// SAFETY: the invariants of the fields that are not atomic pass them from one thread to the next.
unsafe impl Sync for Control {}

impl Control {
    /// Returns the block of a fiber that the scheduler runs as a task with this vtable.
    #[inline]
    pub(crate) fn new(
        birth: Birth,
        (scheduler, task): (NonNull<Scheduler>, &'static Vtable),
        body: &'static BodyVtable,
        is_scoped: bool,
    ) -> Self {
        Self {
            header: Header::new(task),
            word: Word::new(),
            is_scoped,
            join: Join::new(),
            body,
            scheduler,
            coroutine: UnsafeCell::new(None),
            suspender: Cell::new(None),
            worker: AtomicU32::new(NOWHERE),
            status: AtomicU32::new(Status::New as u32),
            pins: Pins::new(birth.moves == Moves::Always),
            no_suspend: AtomicU32::new(0),
            locals: FiberLocals::new(),
            ambient: AmbientSlot::new(),
            own: OwnNode::new(),
            reason: WaitReason::new(),
            step: Cell::new(None),
            birth,
        }
    }

    /// Returns whether nothing exists yet through which the fiber could be stopped. Called by the
    /// fiber itself, which sees only what is visible to it.
    #[inline]
    pub(crate) fn is_unstoppable(&self) -> bool {
        self.ambient.is_empty() && self.own.get().is_none() && !self.is_scoped
    }

    /// Turns the right to run the fiber into a task.
    ///
    /// # Safety
    ///
    /// The caller has that right, and gives it up.
    pub(crate) unsafe fn task(control: NonNull<Self>) -> TaskRef {
        // SAFETY: the right to run includes a reference, so the block is alive. The right is
        // unique, so there is no other task. `schedule` and `spawn` place the task where it may
        // run.
        unsafe { TaskRef::from_raw(control.cast()) }
    }

    /// Prefetches the stack of a fiber, if it has begun.
    #[inline]
    pub(crate) unsafe fn fetch_stack(control: NonNull<Self>) {
        // SAFETY: the right to run includes a reference.
        let this = unsafe { control.as_ref() };
        // SAFETY: the right to run includes the right to access the coroutine.
        if let Some(coroutine) = unsafe { &*this.coroutine.get() } {
            coroutine.prefetch();
        }
    }

    /// Returns the scheduler of the fiber, which is not done.
    #[inline]
    pub(crate) fn scheduler(&self) -> NonNull<Scheduler> {
        self.scheduler
    }

    /// Returns where the fiber continues.
    #[inline]
    pub(crate) fn home(&self) -> Home {
        if self.pins.are_some() { Home::Worker(self.worker()) } else { self.begins() }
    }

    /// Returns where the fiber continues when it has no stack.
    #[inline]
    pub(crate) fn begins(&self) -> Home {
        match self.birth.group {
            NOWHERE => Home::Anywhere,
            group => Home::Group(group),
        }
    }

    /// Returns whether the caller's frame is certainly on this fiber's own stack. Called by the
    /// fiber itself, whose code may be on the stack of a coroutine.
    #[inline(always)]
    pub(crate) fn is_on_its_stack(&self) -> bool {
        let here = 0_u8;
        // The suspender is at the root of the stack. A frame less than a stack size below it is on
        // the same stack.
        let root = self.suspender.get().map_or(0, |suspender| suspender.addr().get());
        root.wrapping_sub((&raw const here).addr()) < self.birth.stack_size
    }

    /// Returns whether the fiber may suspend.
    #[inline]
    pub(crate) fn may_suspend(&self) -> bool {
        self.no_suspend.load(Ordering::Relaxed) == 0
    }

    /// Returns the scheduler's part of the block.
    #[cfg(all(test, not(loom)))]
    pub(crate) fn header(&self) -> &Header {
        &self.header
    }

    /// Forbids suspending until [`allow_suspend`](Self::allow_suspend). Called by the fiber itself.
    pub(crate) fn forbid_suspend(&self) {
        /// From here on the count stays: most prohibitions were forgotten, and it never returns to
        /// zero.
        const MOST: u32 = u32::MAX / 2;
        let saturating = |count: u32| (count < MOST).then(|| count + 1);
        let _ = self.no_suspend.fetch_update(Ordering::Relaxed, Ordering::Relaxed, saturating);
    }

    /// Takes one prohibition back.
    pub(crate) fn allow_suspend(&self) {
        let stays_saturated = |count: u32| (count < u32::MAX / 2).then(|| count.saturating_sub(1));
        let _ = self.no_suspend.fetch_update(Ordering::Relaxed, Ordering::Relaxed, stays_saturated);
    }

    /// Returns the worker that runs the fiber, or ran it last.
    pub(crate) fn worker(&self) -> u32 {
        self.worker.load(Ordering::Relaxed)
    }

    pub(crate) fn set_worker(&self, worker: u32) {
        self.worker.store(worker, Ordering::Relaxed);
    }

    pub(crate) fn set_status(&self, status: Status) {
        self.status.store(status as u32, Ordering::Relaxed);
    }

    pub(crate) fn status(&self) -> Status {
        match self.status.load(Ordering::Relaxed) {
            0 => Status::New,
            1 => Status::Ready,
            2 => Status::Running,
            3 => Status::Parked,
            _ => Status::Done,
        }
    }

    /// Adds a reference.
    ///
    /// # Safety
    ///
    /// The caller holds a reference.
    pub(crate) unsafe fn add_ref(control: NonNull<Self>) {
        // SAFETY: the caller's reference.
        unsafe { control.as_ref() }.join.ending.add_ref();
    }

    /// Releases a reference. The last one frees the block.
    ///
    /// # Safety
    ///
    /// The caller holds a reference, and gives it up.
    #[inline]
    pub(crate) unsafe fn release(control: NonNull<Self>) {
        // SAFETY: the caller's reference.
        let this = unsafe { control.as_ref() };
        if this.join.ending.release() {
            // SAFETY: it was the last reference.
            unsafe { (this.body.free)(control) };
        }
    }
}

impl_debug!(Control, |control| { id: control.birth.id, status: control.status() });
