//! The control block of a fiber: what all parts know of it. Knows neither the type of its body nor that of its result.
//!
//! One allocation holds the block, and behind it the body and later its result ([`cell`](super::cell)). It is counted: the
//! right to run the fiber is one reference, each handle is another.
//!
//! # Safety
//!
//! Trusted with the count, with who may touch which field, and with making a task of a fiber only for whoever has the right
//! to run it.
#![expect(unsafe_code, reason = "a block is shared by pointers and counted by hand")]

use std::cell::{Cell, UnsafeCell};
use std::fmt;
use std::mem::ManuallyDrop;
use std::num::NonZero;
use std::panic::Location;
use std::ptr::NonNull;
use std::sync::Arc;

use sinew_coroutine::{Coroutine, PooledStack, Suspender};
use sinew_sched::{Header, TaskRef};

use super::ambient::Slot;
use super::engine::{Engine, Leak};
use super::join::Join;
use super::locals::Place;
use super::memory::Origin;
use super::pins::Pins;
use super::roster::{Links, Roamers};
use super::scope::ScopeData;
use super::stop::Own;
use super::sync::{AtomicBool, AtomicU32, Ordering};
use super::target::Home;
use super::tls;
use super::wait;
use super::word::{Next, Word};

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
    /// Waits for its end.
    pub(crate) scope: Option<Arc<ScopeData>>,
}

impl Birth {
    /// What is told of a fiber that has not ended.
    pub(crate) fn leak(&self, worker: u32) -> Leak {
        let name = self.name.as_deref().map(str::to_owned);
        Leak { id: self.id, name, worker, location: self.location }
    }
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
    pub(crate) ambient: Slot,
    /// What it is cancelled through. Ended before the block is freed.
    pub(crate) own: Own,
    /// It has a scope, through which it may be cancelled.
    is_scoped: bool,
    /// # Invariant
    ///
    /// There until the fiber is done: the engine waits for its fibers, or stays for ever.
    engine: NonNull<Engine>,
    pub(crate) join: Join,
    pub(crate) body: &'static BodyVtable,
    /// # Invariant
    ///
    /// As `coroutine`. Ended by the fiber itself before its body returns, so that none are left when the block is freed.
    pub(crate) locals: Place,
    pub(crate) links: Links,
    /// Whether it has begun and not come to an end, or to that of a step: there is a coroutine. For whoever has the right to run it when nobody will
    /// any more: it may have got that right while the fiber was about to be suspended, and must not touch the coroutine.
    pub(crate) has_stack: AtomicBool,
    /// The list that it is in, if it may move and has begun.
    ///
    /// # Invariant
    ///
    /// Changed under the lock of that list, by whoever has the right to run the fiber. Lists stay for as long as the engine.
    pub(crate) roamers: Cell<Option<NonNull<Roamers>>>,
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
    #[inline]
    pub(crate) fn new(birth: Birth, engine: NonNull<Engine>, body: &'static BodyVtable) -> Self {
        let moves = birth.moves == Moves::Always;
        // SAFETY: the invariant of `engine`: the fiber is not done.
        let vtable = &unsafe { engine.as_ref() }.vtables[usize::from(moves)];
        Self {
            header: Header::new(vtable),
            word: Word::new(),
            is_scoped: birth.scope.is_some(),
            join: Join::new(),
            body,
            engine,
            coroutine: UnsafeCell::new(None),
            suspender: Cell::new(None),
            worker: AtomicU32::new(NOWHERE),
            status: AtomicU32::new(Status::New as u32),
            pins: Pins::new(moves),
            no_suspend: AtomicU32::new(0),
            locals: Place::new(),
            ambient: Slot::new(),
            own: Own::new(),
            links: Links::default(),
            has_stack: AtomicBool::new(false),
            roamers: Cell::new(None),
            step: Cell::new(None),
            birth,
        }
    }

    /// Whether nobody has anything yet through which this fiber could be stopped, as far as the caller can know, which is the fiber itself.
    #[inline]
    pub(crate) fn is_unbound(&self) -> bool {
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

    /// Ends the wait of a fiber: has it run again, where it may.
    ///
    /// # Safety
    ///
    /// The caller has the right to run it, and gives it up.
    pub(crate) unsafe fn schedule(control: NonNull<Self>) {
        // SAFETY: the right to run is a reference.
        let this = unsafe { control.as_ref() };
        this.set_status(Status::Ready);
        match tls::local().filter(|local| local.is_of(this.engine())) {
            Some(local) => {
                local.counters.wakes.add(1);
                let home = this.home();
                // SAFETY: the caller's right.
                local.schedule(unsafe { Self::task(control) }, home);
            }
            // SAFETY: as above.
            None => unsafe { Self::schedule_from_outside(control) },
        }
    }

    /// The same, for whoever is no worker of its engine.
    ///
    /// # Safety
    ///
    /// As [`schedule`](Self::schedule).
    #[cold]
    #[inline(never)]
    unsafe fn schedule_from_outside(control: NonNull<Self>) {
        // SAFETY: the right to run is a reference.
        let this = unsafe { control.as_ref() };
        // The task may run, end, and the engine with it, before this returns.
        let engine = this.engine().keep();
        engine.outside.wakes.add_shared(1);
        let placement = this.home().placement();
        // SAFETY: the caller's right.
        engine.schedule(unsafe { Self::task(control) }, placement);
    }

    /// Has a parked fiber go on, or the next park return at once.
    pub(crate) fn unpark(control: NonNull<Self>) {
        // SAFETY: callers have a reference.
        if unsafe { control.as_ref() }.word.unpark() == Next::Schedule {
            // SAFETY: ending the wait of a saved fiber is the right to run it.
            unsafe { Self::schedule(control) };
        }
    }

    /// Ends the wait that a fiber is in, if cancellation may.
    pub(crate) fn poke(control: NonNull<Self>) {
        // SAFETY: callers have a reference.
        if unsafe { control.as_ref() }.word.poke() == Some(Next::Schedule) {
            // SAFETY: ending the wait of a saved fiber is the right to run it.
            unsafe { Self::schedule(control) };
        }
    }

    /// The engine of a fiber that is not done.
    pub(crate) fn engine(&self) -> &Engine {
        // SAFETY: the invariant of `engine`; callers hold a fiber that is not done.
        unsafe { self.engine.as_ref() }
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

    /// Gives up a [pin](Pins::add). A fiber that is not the caller may be suspended, and stays where it is for good.
    pub(crate) fn unpin(control: NonNull<Self>) {
        // SAFETY: callers have a reference.
        let this = unsafe { control.as_ref() };
        match wait::running() {
            Some((local, running)) if running == control && !local.is_between() => this.pins.remove(),
            _ => this.pins.stick(),
        }
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

impl fmt::Debug for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Control").field("id", &self.birth.id).field("status", &self.status()).finish()
    }
}
