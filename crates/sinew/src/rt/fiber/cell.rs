//! The block of a fiber with its body and result behind it. Only this file knows their types.
//!
//! # Safety
//!
//! Trusted with the stage. The invariant of its field says which thread may touch it when.
#![expect(unsafe_code, reason = "a body and a result behind an untyped pointer")]

use std::any::Any;
use std::cell::UnsafeCell;
use std::mem::{self, offset_of};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::sync::Arc;

use super::block::{FiberBlock, write_at};
use super::body::{Body, BodyTurn};
use super::host::{FiberHost, Unended};
use super::scope::ScopeData;
use super::worker_state::WorkerState;
use super::{cancel, teardown};
use crate::rt::base::{memory, unwind};
use crate::rt::wait::{Birth, BodyVtable, Control, Dropped, Ended, FiberLocals, Moves, Unrun};

/// The outcome of a fiber, like that of joining a thread.
pub(crate) type FiberOutcome<T> = Result<T, Box<dyn Any + Send + 'static>>;

/// # Invariant
///
/// The block is first, so that a pointer to it is a pointer to the whole.
#[repr(C)]
pub(crate) struct FiberCell<F, T> {
    block: FiberBlock,
    /// # Invariant
    ///
    /// Touched by the thread with the right to run the fiber, until the fiber is done or has
    /// announced its result. After that, touched by the owner of the handle, or, if the fiber was
    /// detached at that moment, by the thread that ended the fiber.
    stage: UnsafeCell<Stage<F, T>>,
}

enum Stage<F, T> {
    New(F),
    Done(FiberOutcome<T>),
    Empty,
}

impl<F: Body<T>, T> FiberCell<F, T> {
    const VTABLE: &'static BodyVtable = &BodyVtable {
        run: Self::run,
        discard: Self::discard,
        abandon: Self::abandon,
        drop_result: Self::drop_result,
        take_result: Self::take_result,
        make_node: cancel::make_node,
        free: Self::free,
    };

    /// Makes a fiber. The caller gets two references: the right to run it, and the handle's.
    ///
    /// # Safety
    ///
    /// The memory is from [`memory::take`], and the caller gives it up.
    #[inline]
    pub(crate) unsafe fn make(
        place: NonNull<Self>,
        birth: Birth,
        scope: Option<Arc<ScopeData>>,
        host: &FiberHost,
        body: F,
    ) -> NonNull<Control> {
        let task = &host.vtables[usize::from(birth.moves == Moves::Always)];
        // SAFETY: the caller's promise. The block is first.
        unsafe { FiberBlock::init(place.cast(), birth, scope, (host.scheduler(), task), Self::VTABLE) };
        let stage: UnsafeCell<Stage<F, T>> = UnsafeCell::new(Stage::New(body));
        // SAFETY: as above.
        unsafe { write_at(place.cast(), offset_of!(Self, stage), stage) };
        // SAFETY: it was just written.
        unsafe { place.as_ref() }.block.complete(host.scheduler());
        place.cast()
    }

    /// # Safety
    ///
    /// The block is that of a cell of this type, and the caller may touch its stage.
    #[inline]
    unsafe fn replace(control: NonNull<Control>, stage: Stage<F, T>) -> Stage<F, T> {
        // SAFETY: the caller's promise, and the type's invariant.
        let cell = unsafe { control.cast::<Self>().as_ref() };
        // SAFETY: the caller's promise.
        mem::replace(unsafe { &mut *cell.stage.get() }, stage)
    }

    /// Fills an empty stage.
    ///
    /// # Safety
    ///
    /// As for [`replace`](Self::replace). If the stage is not empty, its content is leaked.
    #[inline]
    unsafe fn fill(control: NonNull<Control>, stage: Stage<F, T>) {
        // SAFETY: the caller's promise, and the type's invariant.
        let cell = unsafe { control.cast::<Self>().as_ref() };
        // SAFETY: the caller's promise.
        unsafe { cell.stage.get().write(stage) };
    }

    unsafe fn run(control: NonNull<Control>) -> Ended {
        // SAFETY: called through the vtable by the thread that runs the fiber.
        let Stage::New(body) = (unsafe { Self::replace(control, Stage::Empty) }) else {
            return Ended::ForGood;
        };
        // As with threads, the user is responsible for what a panicking body leaves half-changed.
        let turn = catch_unwind(AssertUnwindSafe(|| body.turn()));
        // SAFETY: the fiber runs, so its control block is alive.
        let this = unsafe { control.as_ref() };
        let is_bare = this.locals.is_unused() && this.ambient.is_empty();
        let turn = if is_bare { turn } else { end_turn(this, turn) };
        let needs_drop = mem::needs_drop::<T>() || turn.is_err();
        let (stage, ended) = match turn {
            Ok(BodyTurn::More(body)) => {
                this.step.set(WorkerState::current().map(WorkerState::next_id));
                (Stage::New(body), Ended::ForNow)
            }
            Ok(BodyTurn::Last(value)) => (Stage::Done(Ok(value)), Ended::ForGood),
            Err(payload) => {
                // SAFETY: as above.
                note_failure(unsafe { FiberBlock::of(control) });
                (Stage::Done(Err(payload)), Ended::ForGood)
            }
        };
        // SAFETY: as above.
        unsafe { Self::fill(control, stage) };
        if needs_drop && ended == Ended::ForGood && this.join.ending.announce() {
            this.locals.close();
            // Dropped here, on the fiber's stack, where a destructor may wait.
            // SAFETY: the result exists, and no other code takes it.
            unsafe { teardown::drop_result(control) };
        }
        ended
    }

    /// Returns the stage of a fiber without a result.
    ///
    /// # Safety
    ///
    /// The block is alive, and the fiber is not done.
    unsafe fn unended(control: NonNull<Control>, why: Unended) -> Stage<F, T> {
        // SAFETY: the caller's promise.
        let block = unsafe { FiberBlock::of(control) };
        // SAFETY: as above.
        let host = unsafe { FiberHost::of(block) };
        Stage::Done(Err((host.settings.unended)(why)))
    }

    unsafe fn discard(control: NonNull<Control>, unrun: Unrun) {
        // SAFETY: called through the vtable with the right to run the fiber.
        let unended = unsafe { Self::unended(control, Unended::Discarded) };
        // SAFETY: as above.
        let body = unsafe { Self::replace(control, unended) };
        match unrun {
            Unrun::Dropped => drop(body),
            Unrun::Leaked => mem::forget(body),
        }
    }

    unsafe fn abandon(control: NonNull<Control>) {
        // SAFETY: called through the vtable with the right to run the fiber, which is never used
        // again.
        let unended = unsafe { Self::unended(control, Unended::Abandoned) };
        // SAFETY: as above.
        drop(unsafe { Self::replace(control, unended) });
    }

    unsafe fn drop_result(control: NonNull<Control>) -> Dropped {
        // SAFETY: called through the vtable by the side that owns the result.
        let stage = unsafe { Self::replace(control, Stage::Empty) };
        if matches!(stage, Stage::Done(Err(_))) { Dropped::Panic } else { Dropped::Other }
    }

    unsafe fn take_result(control: NonNull<Control>, place: *mut ()) -> bool {
        // SAFETY: as above.
        let Stage::Done(outcome) = (unsafe { Self::replace(control, Stage::Empty) }) else { return false };
        // SAFETY: the caller passes the address of memory of that type.
        unsafe { place.cast::<FiberOutcome<T>>().write(outcome) };
        true
    }

    unsafe fn free(control: NonNull<Control>) {
        let place = control.cast::<Self>();
        // SAFETY: as below: the block is alive.
        let origin = unsafe { control.as_ref() }.birth.memory;
        // SAFETY: called through the vtable for the last reference.
        unsafe { &mut *control.as_ptr() }.own.end();
        // SAFETY: as above.
        unsafe { place.drop_in_place() };
        // SAFETY: the memory is from `make`, and is not used any more.
        unsafe { memory::give_back(WorkerState::current().map(|state| &state.memory), place, origin) };
    }
}

/// Ends the locals of a fiber at the end of a turn, and resets its ambient values to those that
/// another turn begins with.
#[inline(never)]
fn end_turn<B, T>(fiber: &Control, turn: FiberOutcome<BodyTurn<B, T>>) -> FiberOutcome<BodyTurn<B, T>> {
    let turn = end_locals(&fiber.locals, turn);
    match turn {
        Ok(BodyTurn::More(_)) => fiber.ambient.rest(),
        Ok(BodyTurn::Last(_)) | Err(_) => fiber.ambient.end(),
    }
    turn
}

/// Records that a fiber has panicked: its scope may cancel others.
#[cold]
fn note_failure(fiber: &FiberBlock) {
    if let Some(scope) = &fiber.scope {
        scope.fail();
    }
}

/// Drops the locals of a fiber at the end of a turn. If a destructor panics, that becomes the panic
/// of the turn, unless it had one.
#[inline]
fn end_locals<R>(locals: &FiberLocals, turn: FiberOutcome<R>) -> FiberOutcome<R> {
    match (locals.end(), turn) {
        (None, turn) => turn,
        (Some(payload), Ok(unwanted)) => {
            unwind::catch(|| drop(unwanted));
            Err(payload)
        }
        (Some(payload), first) => {
            // The panic hook has reported it.
            unwind::discard(payload);
            first
        }
    }
}
