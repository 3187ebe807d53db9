//! The control block of a fiber: what waiting, waking and scheduling touch. Knows neither who
//! schedules the fiber, which is behind a seam ([`schedule`](super::schedule)), nor what its body
//! and its result are, which are behind a vtable.
//!
//! It is the head of a larger block (`fiber/block.rs`), with the body, and later its result, behind
//! that (`fiber/cell.rs`): all in one allocation. It is counted: the right to run the fiber is one
//! reference, each handle is another.
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

/// Why a fiber hands its worker back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pause {
    /// To let others run.
    Yield,
    /// It has begun a wait, and goes on anywhere.
    Wait,
    /// It has begun a wait, and goes on where it is: it may be in line there already.
    Rest,
}

/// What is left of a fiber whose stack is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// Its result.
    ForGood,
    /// More to do, on any worker and another stack.
    ForNow,
}

/// The coroutine of a fiber.
pub(crate) type FiberCoroutine = Coroutine<(), Pause, Ended, PooledStack>;

/// Where a fiber may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moves {
    /// Anywhere until it first runs, then there.
    UntilItRuns,
    /// Only where it was made.
    Never,
    /// At any suspension.
    Always,
}

/// What a fiber is doing, for whoever looks from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Status {
    /// Has not run.
    New = 0,
    /// Has run, and is to run again.
    Ready = 1,
    /// Runs.
    Running = 2,
    /// Waits.
    Parked = 3,
    /// Has ended.
    Done = 4,
}

/// What is set when a fiber is made.
#[derive(Debug)]
pub(crate) struct Birth {
    pub(crate) id: NonZero<u64>,
    pub(crate) name: Option<Box<str>>,
    pub(crate) stack_size: usize,
    pub(crate) moves: Moves,
    /// The group that it never leaves, or [`NOWHERE`].
    pub(crate) group: u32,
    /// It counts against the limit of fibers.
    pub(crate) is_limited: bool,
    /// Where the block is from.
    pub(crate) memory: Origin,
    pub(crate) location: &'static Location<'static>,
}

/// No worker yet, or no group.
pub(crate) const NOWHERE: u32 = u32::MAX;

/// What can be done with a body of unknown type. Each takes the block that the body is behind.
pub(crate) struct BodyVtable {
    /// Runs it, on the fiber's own stack, and keeps the result, or what is left to do.
    pub(crate) run: unsafe fn(NonNull<Control>) -> Ended,
    /// Gives up a body that will not run; the result is an error then.
    pub(crate) discard: unsafe fn(NonNull<Control>, Unrun),
    /// The result is an error, though the body has begun.
    pub(crate) abandon: unsafe fn(NonNull<Control>),
    /// Drops the result, if it is there.
    pub(crate) drop_result: unsafe fn(NonNull<Control>) -> Dropped,
    /// Moves the result out, to a place of its type. Whether it was there.
    pub(crate) take_result: unsafe fn(NonNull<Control>, *mut ()) -> bool,
    /// Gives a fiber of a scope the node that it is cancelled through, unless it has one.
    pub(crate) make_node: unsafe fn(NonNull<Control>),
    /// Frees the block and what is behind it.
    pub(crate) free: unsafe fn(NonNull<Control>),
}

/// What becomes of a body that will not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unrun {
    Dropped,
    /// Only another thread may drop it.
    Leaked,
}

/// What was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dropped {
    /// A panic that nobody has heard of.
    Panic,
    /// Anything else.
    Other,
}

/// The block.
///
/// # Invariant
///
/// The header is first, so that a pointer to it is one to the whole.
#[repr(C)]
pub(crate) struct Control {
    // What every resume touches comes first, in the space of one cache line.
    header: Header,
    /// Never dropped: what is taken out has ended, and what is left here stays as it is, for ever.
    ///
    /// # Invariant
    ///
    /// Touched only by whoever has the right to run the fiber.
    pub(crate) coroutine: UnsafeCell<Option<ManuallyDrop<FiberCoroutine>>>,
    /// # Invariant
    ///
    /// As `coroutine`; set by the fiber itself when it begins, and valid until its body returns.
    pub(crate) suspender: Cell<Option<NonNull<Suspender<(), Pause>>>>,
    /// Where it runs, or last ran.
    worker: AtomicU32,
    status: AtomicU32,
    pub(crate) pins: Pins,
    /// How many times it was forbidden to suspend. Raised by the fiber itself; lowered also by a coroutine that began on it.
    no_suspend: AtomicU32,
    pub(crate) word: Word,
    // What a wait looks at that may be stopped comes next, and whoever wakes the fiber, in the same line as the word.
    /// What is in force for the code that it runs.
    ///
    /// # Invariant
    ///
    /// As `coroutine`, but for a fiber that is just being made. Emptied by the fiber itself before its body returns.
    pub(crate) ambient: AmbientSlot,
    /// What it is cancelled through. Ended before the block is freed.
    pub(crate) own: OwnNode,
    /// Why it waits, or waited last.
    pub(crate) reason: WaitReason,
    /// The fiber has a scope, through which it may be cancelled.
    pub(crate) is_scoped: bool,
    /// Who runs the fiber.
    ///
    /// # Invariant
    ///
    /// There until the fiber is done: a scheduler waits for its fibers, or stays for ever.
    scheduler: NonNull<Scheduler>,
    pub(crate) join: Join,
    pub(crate) body: &'static BodyVtable,
    /// # Invariant
    ///
    /// As `coroutine`. Ended by the fiber itself before its body returns, so that none are left when the block is freed.
    pub(crate) locals: FiberLocals,
    /// The number of the step that it is in, by which something may be its own, but for the first one, which has that of the fiber:
    /// the next step may run on another thread, and what this one has left behind on its own must not be taken for the next one's.
    ///
    /// # Invariant
    ///
    /// As `coroutine`.
    pub(crate) step: Cell<Option<NonZero<u64>>>,
    pub(crate) birth: Birth,
}

// Under a sanitizer a coroutine is larger, and so are atomics under the checker.
#[cfg(not(any(loom, sinew_asan, sinew_tsan)))]
const _: () = {
    assert!(std::mem::offset_of!(Control, word) <= 64, "what every resume touches is in one line");
    assert!(std::mem::offset_of!(Control, join) <= 128, "and what every wait touches, in the next");
};

// SAFETY: fields that are not atomic are under their invariants, which pass them from one thread to the next.
unsafe impl Sync for Control {}

impl Control {
    /// The block of a fiber that the scheduler runs as a task with this vtable.
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

    /// Whether nobody has anything yet through which this fiber could be stopped, as far as the caller can know, which is the fiber itself.
    #[inline]
    pub(crate) fn is_unstoppable(&self) -> bool {
        self.ambient.is_empty() && self.own.get().is_none() && !self.is_scoped
    }

    /// The right to run it, as a task.
    ///
    /// # Safety
    ///
    /// The caller has that right, and gives it up.
    pub(crate) unsafe fn task(control: NonNull<Self>) -> TaskRef {
        // SAFETY: the right to run is a reference, so it is there; it is unique, so there is no other task; where it may
        // run is up to `schedule` and `spawn`, which place it there.
        unsafe { TaskRef::from_raw(control.cast()) }
    }

    /// Fetches the stack of a fiber into the cache, if it has begun.
    ///
    /// # Safety
    ///
    /// The caller has the right to run the fiber.
    #[inline]
    pub(crate) unsafe fn fetch_stack(control: NonNull<Self>) {
        // SAFETY: the right to run is a reference.
        let this = unsafe { control.as_ref() };
        // SAFETY: the right to run is that to the coroutine.
        if let Some(coroutine) = unsafe { &*this.coroutine.get() } {
            coroutine.prefetch();
        }
    }

    /// Who runs the fiber, which is not done.
    #[inline]
    pub(crate) fn scheduler(&self) -> NonNull<Scheduler> {
        self.scheduler
    }

    /// Where it goes on.
    #[inline]
    pub(crate) fn home(&self) -> Home {
        if self.pins.are_some() { Home::Worker(self.worker()) } else { self.begins() }
    }

    /// Where it goes on when it has no stack.
    #[inline]
    pub(crate) fn begins(&self) -> Home {
        match self.birth.group {
            NOWHERE => Home::Anywhere,
            group => Home::Group(group),
        }
    }

    /// Whether the caller's frame is surely on this fiber's own stack. For the fiber itself, whose code may be on another one: that of a
    /// coroutine.
    #[inline(always)]
    pub(crate) fn is_on_its_stack(&self) -> bool {
        let here = 0_u8;
        // The suspender is at the root of the stack; a frame that is less than a stack below it is on the same one.
        let root = self.suspender.get().map_or(0, |suspender| suspender.addr().get());
        root.wrapping_sub((&raw const here).addr()) < self.birth.stack_size
    }

    /// Whether it may suspend.
    #[inline]
    pub(crate) fn may_suspend(&self) -> bool {
        self.no_suspend.load(Ordering::Relaxed) == 0
    }

    /// What the scheduler knows of it.
    #[cfg(all(test, not(loom)))]
    pub(crate) fn header(&self) -> &Header {
        &self.header
    }

    /// Forbids it to suspend, until [`allow_suspend`](Self::allow_suspend) is called. For the fiber itself.
    pub(crate) fn forbid_suspend(&self) {
        /// Beyond this the count is left as it is: most of them were forgotten, and it never comes down to zero again.
        const MOST: u32 = u32::MAX / 2;
        let saturating = |count: u32| (count < MOST).then(|| count + 1);
        let _ = self.no_suspend.fetch_update(Ordering::Relaxed, Ordering::Relaxed, saturating);
    }

    /// Takes one prohibition back.
    pub(crate) fn allow_suspend(&self) {
        let stays_saturated = |count: u32| (count < u32::MAX / 2).then(|| count.saturating_sub(1));
        let _ = self.no_suspend.fetch_update(Ordering::Relaxed, Ordering::Relaxed, stays_saturated);
    }

    /// Where it runs, or last ran.
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

    /// One more reference.
    ///
    /// # Safety
    ///
    /// The caller has one.
    pub(crate) unsafe fn add_ref(control: NonNull<Self>) {
        // SAFETY: the caller's reference.
        unsafe { control.as_ref() }.join.ending.add_ref();
    }

    /// One reference less; the last one frees it.
    ///
    /// # Safety
    ///
    /// The caller has one, and gives it up.
    #[inline]
    pub(crate) unsafe fn release(control: NonNull<Self>) {
        // SAFETY: the caller's reference.
        let this = unsafe { control.as_ref() };
        if this.join.ending.release() {
            // SAFETY: it was the last.
            unsafe { (this.body.free)(control) };
        }
    }
}

impl_debug!(Control, |control| { id: control.birth.id, status: control.status() });
