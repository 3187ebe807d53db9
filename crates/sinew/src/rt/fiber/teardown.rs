//! The end of a fiber: its body has returned, or it was discarded, or will never end. Knows no switch.
//!
//! # Safety
//!
//! Trusted with the right to run a fiber, which is used up here, and with its result, which goes to one.
#![expect(unsafe_code, reason = "fibers are pointers, and their coroutines are under the right to run them")]

use std::mem::ManuallyDrop;
use std::ptr::NonNull;

use sinew_coroutine::Coroutine;
use sinew_sched::Header;

use super::block::FiberBlock;
use super::host::FiberHost;
use super::roster::Roamers;
use super::starving;
use super::task::fiber_of;
use super::worker_state::WorkerState;
use crate::rt::base::sync::Ordering;
use crate::rt::base::{memory, unwind};
use crate::rt::wait::{AtEnd, Cause, Control, Dropped, Moves, NOWHERE, Reference, Status, Unrun};

/// The body has returned, and its result is kept.
///
/// # Safety
///
/// The caller has the right to run the fiber, which is used up.
#[inline(never)]
pub(super) unsafe fn finish(local: &WorkerState, control: NonNull<Control>) {
    // Counted before others hear of the end: they may spawn another fiber in its place.
    // SAFETY: the right to run is a reference.
    let this = unsafe { FiberBlock::of(control) };
    let count = || {
        local.counters.finished.add(1);
        this.hide();
    };
    // SAFETY: the caller's right.
    unsafe { leave(local, control, count) };
    local.host().release(this.birth.is_limited);
    // SAFETY: the right to run it is used up here.
    unsafe { end(control) };
}

/// Removes a fiber that may move from those that have begun, and calls `count` under the lock of its list.
fn leave_roamers(control: NonNull<Control>, this: &FiberBlock, count: impl FnOnce()) {
    if let Some(roamers) = this.roamers.take() {
        // SAFETY: the invariant of `roamers`: it stays for as long as the engine, and that for as long as its fibers.
        let list = unsafe { roamers.as_ref() }.lock();
        // SAFETY: it was put in when it began.
        unsafe { list.leave(control) };
        count();
    }
}

/// The stack is empty: it goes back, and the fiber is this worker's no more.
///
/// # Safety
///
/// The caller has the right to run the fiber.
pub(super) unsafe fn leave_stack(local: &WorkerState, control: NonNull<Control>) {
    // SAFETY: the caller's right.
    unsafe { leave(local, control, || ()) };
}

/// As [`leave_stack`]. Calls `count` so that a reader on another thread finds the fiber either
/// among those that have begun or counted as ended.
///
/// # Safety
///
/// As [`leave_stack`]. `count` does not panic.
#[inline]
unsafe fn leave(local: &WorkerState, control: NonNull<Control>, count: impl FnOnce()) {
    // SAFETY: the right to run is a reference.
    let this = unsafe { FiberBlock::of(control) };
    // SAFETY: the right to run is that to the coroutine.
    let coroutine = unsafe { (*this.coroutine.get()).take() };
    this.has_stack.store(false, Ordering::Relaxed);
    if let Some(Ok(stack)) = coroutine.map(ManuallyDrop::into_inner).map(Coroutine::into_stack) {
        local.return_stack(stack);
        starving::has_returned(local);
    }
    if this.birth.moves != Moves::Always {
        local.context().core().disown();
        // SAFETY: it was put in when it began, on this worker.
        unsafe { local.roster.leave(control, count) };
    } else {
        local.context().core().disown_roaming();
        leave_roamers(control, this, count);
    }
}

/// The result of a fiber is there, and nothing else is left of it.
///
/// # Safety
///
/// The caller has the right to run the fiber, which is used up.
#[inline]
unsafe fn end(control: NonNull<Control>) {
    // SAFETY: the right to run is a reference.
    let this = unsafe { FiberBlock::of(control) };
    let reference = if this.scope.is_none() { Reference::GiveUp } else { Reference::Keep };
    // SAFETY: the caller's right.
    if unsafe { settle(control, reference) } == AtEnd::Nothing {
        return;
    }
    if let Some(scope) = &this.scope {
        if this.own.get().is_some() {
            retire(this);
        }
        scope.leave();
    }
    // SAFETY: the reference that was the right to run it.
    unsafe { Control::release(control) };
}

/// Nobody cancels the fiber any more. Only a node below a scope's has it as its member.
#[cold]
fn retire(fiber: &Control) {
    fiber.own.get().into_iter().for_each(|own| own.retire());
}

/// The result of a fiber is there: it goes to whoever waits for it, or is dropped if nobody wants it.
///
/// # Safety
///
/// The caller has the right to run the fiber. It is used up if nothing was left to do.
#[inline]
unsafe fn settle(control: NonNull<Control>, reference: Reference) -> AtEnd {
    // SAFETY: the right to run is a reference.
    let this = unsafe { FiberBlock::of(control) };
    this.set_status(Status::Done);
    let (end, waiter) = this.join.finish(reference);
    if let Some(waiter) = waiter {
        // SAFETY: whoever joins waits until it is woken, or left a reference for this.
        unsafe { waiter.wake(Cause::Event) };
        waiter.release();
    }
    if end == AtEnd::DropResult {
        // SAFETY: nobody else will have the result.
        unsafe { drop_result(control) };
    }
    end
}

/// Nobody wants the result. If it was dropped already, this does nothing.
///
/// # Safety
///
/// Nobody else will have it, and the caller has a reference.
#[cold]
pub(crate) unsafe fn drop_result(control: NonNull<Control>) {
    // SAFETY: the caller's reference.
    let this = unsafe { FiberBlock::of(control) };
    let mut dropped = Dropped::Other;
    // SAFETY: the caller's promise.
    let succeeds = unwind::succeeds(|| dropped = unsafe { (this.body.drop_result)(control) });
    if let Some(scope) = &this.scope
        && (dropped == Dropped::Panic || !succeeds)
    {
        scope.note_panic();
    }
}

/// Called when it is over, with the right to run the fiber. One that has begun stays as it is, for ever.
pub(super) unsafe fn discard(header: NonNull<Header>) {
    let control = fiber_of(header);
    // SAFETY: the right to run is a reference.
    let this = unsafe { FiberBlock::of(control) };
    // Relaxed: the right to run comes with what was done before.
    if this.has_stack.load(Ordering::Relaxed) {
        // One that stays is told by its worker, which stays too.
        if this.birth.moves == Moves::Always {
            // SAFETY: nobody else will run it.
            unsafe { abandon(control) };
        }
        return;
    }
    // SAFETY: it has not begun, or is between two steps, so it is not done.
    let host = unsafe { FiberHost::of(this) }.keep();
    drop(host.starving.take_grant(control));
    memory::between_walks(|| this.hide());
    let body = if is_of_another_worker(this) { Unrun::Leaked } else { Unrun::Dropped };
    // SAFETY: it has not begun, and nobody else will run it.
    unwind::catch(|| unsafe { (this.body.discard)(control, body) });
    this.ambient.end();
    host.outside().finished.add_shared(1);
    host.release(this.birth.is_limited);
    // SAFETY: the right to run it is used up here.
    unsafe { end(control) };
}

/// Whether a fiber that has not begun is bound to a worker, and the calling thread is not that worker's: it waited there for a stack.
fn is_of_another_worker(fiber: &FiberBlock) -> bool {
    let is_here = |local: &WorkerState| local.runs(fiber) && local.worker() == fiber.worker();
    fiber.birth.moves == Moves::Never
        && fiber.worker() != NOWHERE
        && !WorkerState::current().is_some_and(is_here)
}

/// It is over, and this worker's thread stays for ever with what has begun here: whoever waits for those fibers hears of it.
pub(crate) fn abandon_all(local: &WorkerState) {
    local.roster.for_each(|control| {
        // SAFETY: what is in the roster is there.
        let this = unsafe { FiberBlock::of(control) };
        debug_assert!(this.birth.moves != Moves::Always, "those that move are in another list");
        // So that nobody takes it for one that goes on: what it waits for is for the next one. Whether it waits is the same to us.
        let _ = this.word.take();
        // SAFETY: nobody will run it any more.
        unsafe { abandon(control) };
    });
}

/// It is over, and these fibers may wait for ever: whoever waits for them hears of it.
pub(crate) fn abandon_roamers(roamers: &Roamers) {
    let list = roamers.lock();
    list.for_each(|control| {
        // SAFETY: what is in the list is there. One that does not wait is run, or discarded, by whoever has the right to.
        if unsafe { control.as_ref() }.word.take() {
            // SAFETY: that was the right to run it.
            unsafe { abandon(control) };
        }
    });
}

/// A fiber that has begun will not end. Its frames stay as they are; the reference that was the right to run it stays for ever,
/// and so does a scope around it.
///
/// # Safety
///
/// The caller has the right to run the fiber, or the only one who has never will.
unsafe fn abandon(control: NonNull<Control>) {
    // SAFETY: the right to run is a reference.
    let this = unsafe { FiberBlock::of(control) };
    // Its block stays for ever, and the address of its host may be another one's some day.
    this.hide();
    // SAFETY: the result is ours to set, and no frame of the fiber touches it any more.
    unsafe { (this.body.abandon)(control) };
    // SAFETY: as above.
    let _ = unsafe { settle(control, Reference::Keep) };
}
