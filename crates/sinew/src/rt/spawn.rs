//! Making fibers, and the one handle that each is joined through.
//!
//! # Safety
//!
//! Trusted with the references of a new fiber: the right to run it goes to the scheduler, the other one to its handle.
#![expect(unsafe_code, reason = "fibers are pointers, counted by hand")]

use std::fmt;
use std::marker::PhantomData;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::num::NonZero;
use std::panic::Location;
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::Instant;

use sinew_coroutine::LARGEST_CLASS;
use sinew_sched::Placement;

use super::body::Body;
use super::cell::{FiberCell, Outcome};
use super::control::{Birth, Control, Dropped, Moves, NOWHERE, Status};
use super::engine::Engine;
use super::local::{By, Local};
use super::memory::{self, Memory};
use super::reference::Fiber;
use super::scope::ScopeData;
use super::target::{Home, Target};
use super::word::{Cause, Ends};
use super::{ids, run, tls, wait};

/// How a fiber is to be.
#[derive(Debug)]
pub(crate) struct Attributes {
    pub(crate) name: Option<Box<str>>,
    pub(crate) stack_size: Option<usize>,
    pub(crate) moves: Moves,
    pub(crate) location: &'static Location<'static>,
    /// It is entered at once, before the fiber that makes it goes on.
    pub(crate) at_once: bool,
    pub(crate) target: Target,
    /// It never leaves the group where it begins.
    pub(crate) group_local: bool,
    pub(crate) scope: Option<Arc<ScopeData>>,
}

/// Why a fiber was not made. The body is in here.
pub(crate) struct Refused<F> {
    pub(crate) body: F,
    pub(crate) reason: Reason,
}

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

/// This size, if there are stacks of it at all.
///
/// # Errors
///
/// If none is that large.
fn check_size(size: usize) -> Result<usize, Reason> {
    if size > LARGEST_CLASS { Err(Reason::StackSize(size)) } else { Ok(size) }
}

/// A fiber that was made.
pub(crate) type Spawned<F, T> = Result<Handle<T>, Refused<F>>;

/// From where a fiber is made.
#[derive(Clone, Copy)]
pub(crate) enum Site<'a> {
    /// On a worker of its engine, by a fiber or by what the worker does in between.
    Worker(&'a Local),
    /// Anywhere else, in this engine.
    Outside(&'a Arc<Engine>),
}

impl<'a> Site<'a> {
    /// The caller's, in this engine. Not to be kept across a suspension.
    #[inline]
    pub(crate) fn of(engine: &'a Arc<Engine>) -> Self {
        match tls::local().filter(|local| local.is_of(engine)) {
            Some(local) => Self::Worker(local),
            None => Self::Outside(engine),
        }
    }

    /// The caller's, in the engine of its worker, if it is on one. As [`of`](Self::of).
    #[inline]
    pub(crate) fn here() -> Option<Self> {
        tls::local().map(Self::Worker)
    }

    #[inline]
    pub(crate) fn engine(self) -> &'a Arc<Engine> {
        match self {
            Self::Worker(local) => local.engine(),
            Self::Outside(engine) => engine,
        }
    }

    /// The number of a new fiber, which is counted.
    #[inline]
    fn count(self) -> NonZero<u64> {
        match self {
            Self::Worker(local) => {
                local.counters.spawned.add(1);
                local.next_id()
            }
            Self::Outside(engine) => {
                engine.outside.spawned.add_shared(1);
                ids::one()
            }
        }
    }

    #[inline]
    fn memory(self) -> Option<&'a Memory> {
        match self {
            Self::Worker(local) => Some(&local.memory),
            Self::Outside(_) => None,
        }
    }
}

/// Makes a fiber and has it run.
///
/// # Safety
///
/// The body and its result may go to the threads that `moves` has them go to, and live until the fiber has ended. The site is the
/// caller's.
#[inline]
pub(crate) unsafe fn spawn<F: Body<T>, T>(site: Site<'_>, attributes: Attributes, body: F) -> Spawned<F, T> {
    let (at_once, target) = (attributes.at_once, attributes.target);
    // SAFETY: the caller's promise.
    let (handle, control) = unsafe { make(site, attributes, body) }?;
    match site {
        // SAFETY: the right to run it is new, and ours.
        Site::Worker(local) if target == Target::Nearest => unsafe { start(local, control, at_once) },
        // SAFETY: as above.
        _ => unsafe { start_elsewhere(site.engine(), control, target) },
    }
    Ok(handle)
}

/// Makes a fiber. The right to run it is the caller's, besides the handle.
///
/// # Safety
///
/// As [`spawn`].
#[inline]
pub(super) unsafe fn make<F: Body<T>, T>(
    site: Site<'_>,
    attributes: Attributes,
    body: F,
) -> Result<(Handle<T>, NonNull<Control>), Refused<F>> {
    let engine = site.engine();
    let checked = attributes.stack_size.map_or(Ok(engine.settings.stack_size), check_size);
    let stack_size = match checked.and_then(|size| engine.admit().map(|()| size)) {
        Ok(size) => size,
        Err(reason) => return Err(Refused { body, reason }),
    };
    let group = match attributes.group(site) {
        Ok(group) => group,
        Err(reason) => {
            engine.limit.leave();
            return Err(Refused { body, reason });
        }
    };
    let (place, memory) = memory::take(site.memory());
    let migrates = engine.settings.migrates && attributes.moves == Moves::UntilItRuns;
    let birth = Birth {
        id: site.count(),
        name: attributes.name,
        stack_size,
        moves: if migrates { Moves::Always } else { attributes.moves },
        group,
        location: attributes.location,
        memory,
        scope: attributes.scope,
    };
    // SAFETY: it was just taken.
    let control = unsafe { FiberCell::make(place, birth, NonNull::from(&**engine), body) };
    // SAFETY: the other reference of a new fiber.
    let fiber = ManuallyDrop::new(unsafe { Fiber::from_ref(control) });
    Ok((Handle { fiber, result: PhantomData }, control))
}

/// # Safety
///
/// The caller has the right to run the fiber, and gives it up.
#[inline]
unsafe fn start(local: &Local, control: NonNull<Control>, at_once: bool) {
    // SAFETY: a fiber that runs is there.
    let may_enter = |running: NonNull<Control>| local.may_enter(unsafe { running.as_ref() });
    if at_once && local.fiber().is_some_and(may_enter) {
        // SAFETY: the caller's right.
        if unsafe { run::enter(local, control, By::Fiber) }.is_ok() {
            return;
        }
    }
    // SAFETY: the right to run is a reference.
    let moves = unsafe { control.as_ref() }.birth.moves;
    // SAFETY: the caller's right, which it still has.
    let task = unsafe { Control::task(control) };
    match moves {
        Moves::Never => local.context().core().push(task),
        // SAFETY: the task is the right to run it, which is a reference.
        Moves::UntilItRuns | Moves::Always => local.schedule(task, unsafe { control.as_ref() }.begins()),
    }
}

/// Has a new fiber begin in a group that was chosen for it, or that a thread which is no worker has for it.
///
/// # Safety
///
/// The caller has the right to run the fiber, and gives it up.
unsafe fn start_elsewhere(engine: &Engine, control: NonNull<Control>, target: Target) {
    // SAFETY: the right to run is a reference.
    let this = unsafe { control.as_ref() };
    let to = match (this.begins(), target) {
        (Home::Anywhere, Target::Nearest) => Placement::Anyone,
        (Home::Anywhere, Target::Group(group)) => Placement::Group(group as usize),
        (Home::Anywhere, Target::Any) => Placement::Group(spread(engine, this.birth.id)),
        (home, _) => home.placement(),
    };
    // SAFETY: the caller's right.
    engine.schedule(unsafe { Control::task(control) }, to);
}

/// One group after the other, by the numbers of fibers.
fn spread(engine: &Engine, id: NonZero<u64>) -> usize {
    (id.get() % engine.groups() as u64) as usize
}

impl Attributes {
    /// The group that the fiber is to stay in, or [`NOWHERE`].
    ///
    /// # Errors
    ///
    /// If it is to begin in a group that there is not.
    #[inline]
    fn group(&self, site: Site<'_>) -> Result<u32, Reason> {
        if self.target == Target::Nearest && !self.group_local {
            Ok(NOWHERE)
        } else {
            self.chosen_group(site)
        }
    }

    #[cold]
    fn chosen_group(&self, site: Site<'_>) -> Result<u32, Reason> {
        let engine = site.engine();
        let group = match (self.target, site) {
            (Target::Group(group), _) if group as usize >= engine.groups() => {
                return Err(Reason::NoGroup(group, engine.groups()));
            }
            (Target::Group(group), _) => group,
            (Target::Nearest, Site::Worker(local)) => local.context().group().unwrap_or(0) as u32,
            (Target::Nearest | Target::Any, _) => spread(engine, ids::one()) as u32,
        };
        Ok(if self.group_local { group } else { NOWHERE })
    }
}

/// The handle of a fiber: the right to its result.
pub(crate) struct Handle<T> {
    /// The only one that may join or detach.
    ///
    /// # Invariant
    ///
    /// It is not a thread.
    fiber: ManuallyDrop<Fiber>,
    result: PhantomData<T>,
}

// SAFETY: the result may be sent, and the block is shared.
unsafe impl<T: Send> Send for Handle<T> {}
// SAFETY: a shared handle gives nothing of the result away.
unsafe impl<T> Sync for Handle<T> {}

impl<T> Handle<T> {
    pub(crate) fn fiber(&self) -> &Fiber {
        &self.fiber
    }

    #[inline]
    fn control(&self) -> NonNull<Control> {
        // SAFETY: the invariant of `fiber`.
        unsafe { self.fiber.control() }
    }

    #[inline]
    fn get(&self) -> &Control {
        // SAFETY: `fiber` is a reference.
        unsafe { self.control().as_ref() }
    }

    pub(crate) fn is_done(&self) -> bool {
        self.get().join.ending.is_done()
    }

    /// Waits for the result, until this moment if there is one. Whether it has come.
    #[inline]
    pub(crate) fn wait(&self, until: Option<Instant>) -> bool {
        self.is_done() || {
            // SAFETY: this is the handle of a fiber.
            unsafe { wait_for_end(self.control(), until) }
        }
    }

    /// The result of a fiber that has ended.
    pub(crate) fn take(self) -> Outcome<T> {
        debug_assert!(self.is_done(), "there is a result");
        // Nothing is left to detach from, nor a result to drop.
        let this = ManuallyDrop::new(self);
        let mut outcome = MaybeUninit::<Outcome<T>>::uninit();
        // SAFETY: it is done, so the result is the handle's; the place is of its type.
        let is_there = unsafe { (this.get().body.take_result)(this.control(), outcome.as_mut_ptr().cast()) };
        // SAFETY: the reference of `fiber`, which is not used again.
        unsafe { Control::release(this.control()) };
        assert!(is_there, "a fiber that has ended has a result, which is taken once");
        // SAFETY: it was written.
        unsafe { outcome.assume_init() }
    }
}

/// Waits for the end of a fiber, as [`Handle::wait`].
///
/// # Safety
///
/// The caller has its handle.
#[inline(never)]
unsafe fn wait_for_end(control: NonNull<Control>, until: Option<Instant>) -> bool {
    // SAFETY: the handle is a reference.
    if until.is_none() && unsafe { enter_child(control) } {
        return true;
    }
    // SAFETY: as above.
    let join = &unsafe { control.as_ref() }.join;
    let cause = wait::wait(Ends::ByEvent, until, |waiter| {
        // A fiber whose time is over goes on whether or not the other end has let go of its waiter.
        let waiter = if until.is_some() { waiter.counted() } else { waiter };
        let is_waiting = join.wait(waiter);
        if !is_waiting {
            waiter.release();
        }
        is_waiting
    });
    cause != Cause::Time || !join.give_up()
}

/// Enters a child here, if it has not begun and is the newest of this worker's tasks, so that control comes straight back.
/// Whether it has ended.
///
/// # Safety
///
/// The caller has its handle.
#[inline]
unsafe fn enter_child(control: NonNull<Control>) -> bool {
    // SAFETY: the handle is a reference.
    let this = unsafe { control.as_ref() };
    let Some((local, parent)) = wait::running() else { return false };
    assert!(parent != control, "a fiber cannot join itself: it would wait for ever");
    // SAFETY: it runs, so it is there.
    let may_enter = || local.may_enter(unsafe { parent.as_ref() });
    if this.status() != Status::New || !may_enter() || std::thread::panicking() {
        return false;
    }
    let Some(task) = local.context().take_newest(control.cast()) else { return false };
    let control = task.into_raw().cast();
    // SAFETY: the task was the right to run it, on this worker.
    if unsafe { run::enter(local, control, By::Fiber) }.is_err() {
        // SAFETY: it was not entered, so the right is still ours.
        local.context().submit(unsafe { Control::task(control) });
    }
    this.join.ending.is_done()
}

impl<T> Drop for Handle<T> {
    fn drop(&mut self) {
        let this = self.get();
        if this.join.ending.detach() {
            return;
        }
        // Given up whatever the user's destructor does.
        let control = self.control();
        // SAFETY: the reference of the handle, which is not used again.
        let _reference = unsafe { Fiber::from_ref(control) };
        // SAFETY: it is done, so the result is the handle's.
        let dropped = unsafe { (this.body.drop_result)(control) };
        if let (Dropped::Panic, Some(scope)) = (dropped, &this.birth.scope) {
            scope.note_panic();
        }
    }
}

impl<T> fmt::Debug for Handle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").field("control", self.get()).finish()
    }
}
