//! The end of a fiber: its body has returned, or it was discarded, or it will never end. Knows no
//! switch.
//!
//! # Safety
//!
//! Trusted with the right to run a fiber, which is used up here, and with its result, which has one
//! owner.
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

/// Ends a fiber whose body has returned and whose result is stored.
///
/// # Safety
///
/// The caller has the right to run the fiber, which is used up.
#[inline(never)]
pub(super) unsafe fn finish(local: &WorkerState, control: NonNull<Control>) {
    // Counted before other threads see the end: they may spawn another fiber in its place.
    // SAFETY: the right to run includes a reference.
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

/// Removes a fiber that may migrate from the list of begun fibers, and calls `count` under the lock
/// of the list.
fn leave_roamers(control: NonNull<Control>, this: &FiberBlock, count: impl FnOnce()) {
    if let Some(roamers) = this.roamers.take() {
        // SAFETY: the invariant of `roamers`: the list lives as long as the engine, which lives as
        // long as its fibers.
        let list = unsafe { roamers.as_ref() }.lock();
        // SAFETY: the fiber was added when it began.
        unsafe { list.leave(control) };
        count();
    }
}

/// Returns the empty stack of a fiber, and removes the fiber from this worker.
///
/// # Safety
///
/// The caller has the right to run the fiber.
pub(super) unsafe fn leave_stack(local: &WorkerState, control: NonNull<Control>) {
    // SAFETY: the caller's right.
    unsafe { leave(local, control, || ()) };
}

/// As [`leave_stack`]. Calls `count` such that a reader on another thread finds the fiber either
/// among those that have begun or counted as ended.
///
/// # Safety
///
/// As for [`leave_stack`]. `count` does not panic.
#[inline]
unsafe fn leave(local: &WorkerState, control: NonNull<Control>, count: impl FnOnce()) {
    // SAFETY: the right to run includes a reference.
    let this = unsafe { FiberBlock::of(control) };
    // SAFETY: the right to run includes access to the coroutine.
    let coroutine = unsafe { (*this.coroutine.get()).take() };
    this.has_stack.store(false, Ordering::Relaxed);
    if let Some(Ok(stack)) = coroutine.map(ManuallyDrop::into_inner).map(Coroutine::into_stack) {
        local.return_stack(stack);
        starving::has_returned(local);
    }
    if this.birth.moves != Moves::Always {
        local.context().core().disown();
        // SAFETY: the fiber was added when it began, on this worker.
        unsafe { local.roster.leave(control, count) };
    } else {
        local.context().core().disown_roaming();
        leave_roamers(control, this, count);
    }
}

/// Ends a fiber of which only the result is left.
///
/// # Safety
///
/// The caller has the right to run the fiber, which is used up.
#[inline]
unsafe fn end(control: NonNull<Control>) {
    // SAFETY: the right to run includes a reference.
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
    // SAFETY: this is the reference that was the right to run the fiber.
    unsafe { Control::release(control) };
}

/// Makes the fiber uncancellable. Only a node below a scope's has it as a member.
#[cold]
fn retire(fiber: &Control) {
    fiber.own.get().into_iter().for_each(|own| own.retire());
}

/// Passes on the result of a fiber: wakes its waiter, or drops the result if no handle will take
/// it.
///
/// # Safety
///
/// The caller has the right to run the fiber. It is used up if nothing was left to do.
#[inline]
unsafe fn settle(control: NonNull<Control>, reference: Reference) -> AtEnd {
    // SAFETY: the right to run includes a reference.
    let this = unsafe { FiberBlock::of(control) };
    this.set_status(Status::Done);
    let (end, waiter) = this.join.finish(reference);
    if let Some(waiter) = waiter {
        // SAFETY: the joiner waits until it is woken, or left a reference for this.
        unsafe { waiter.wake(Cause::Event) };
        waiter.release();
    }
    if end == AtEnd::DropResult {
        // SAFETY: no other code takes the result.
        unsafe { drop_result(control) };
    }
    end
}

/// Drops a result that no handle will take. Does nothing if it was dropped already.
///
/// # Safety
///
/// No other code takes the result, and the caller holds a reference.
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

/// Called when the runtime is over, with the right to run the fiber. A fiber that has begun stays
/// as it is, for ever.
pub(super) unsafe fn discard(header: NonNull<Header>) {
    let control = fiber_of(header);
    // SAFETY: the right to run includes a reference.
    let this = unsafe { FiberBlock::of(control) };
    // Relaxed: passing the right to run orders what was done before.
    if this.has_stack.load(Ordering::Relaxed) {
        // A fiber that stays is abandoned by its worker, which stays too.
        if this.birth.moves == Moves::Always {
            // SAFETY: no other thread will run it.
            unsafe { abandon(control) };
        }
        return;
    }
    // SAFETY: it has not begun, or is between two steps, so it is not done.
    let host = unsafe { FiberHost::of(this) }.keep();
    drop(host.starving.take_grant(control));
    memory::between_walks(|| this.hide());
    let body = if is_of_another_worker(this) { Unrun::Leaked } else { Unrun::Dropped };
    // SAFETY: it has not begun, and no other thread will run it.
    unwind::catch(|| unsafe { (this.body.discard)(control, body) });
    this.ambient.end();
    host.outside().finished.add_shared(1);
    host.release(this.birth.is_limited);
    // SAFETY: the right to run the fiber is used up here.
    unsafe { end(control) };
}

/// Returns whether a fiber that has not begun is bound to a worker other than the caller's: it
/// waited there for a stack.
fn is_of_another_worker(fiber: &FiberBlock) -> bool {
    let is_here = |local: &WorkerState| local.runs(fiber) && local.worker() == fiber.worker();
    fiber.birth.moves == Moves::Never
        && fiber.worker() != NOWHERE
        && !WorkerState::current().is_some_and(is_here)
}

/// Abandons all fibers that have begun on this worker, whose thread stays for ever after the
/// runtime is over. Wakes their joiners.
pub(crate) fn abandon_all(local: &WorkerState) {
    local.roster.for_each(|control| {
        // SAFETY: the fibers in the roster are alive.
        let this = unsafe { FiberBlock::of(control) };
        debug_assert!(this.birth.moves != Moves::Always, "fibers that may migrate are in another list");
        // Ends the wait, so that no waker wakes this fiber in vain: the next waiter gets what it
        // waited for. It does not matter whether the fiber waits.
        let _ = this.word.take();
        // SAFETY: no thread will run it any more.
        unsafe { abandon(control) };
    });
}

/// Abandons the fibers in this list that wait, when the runtime is over. Wakes their joiners.
pub(crate) fn abandon_roamers(roamers: &Roamers) {
    let list = roamers.lock();
    list.for_each(|control| {
        // SAFETY: the fibers in the list are alive. A fiber that does not wait is run or discarded
        // by the holder of the right to run it.
        if unsafe { control.as_ref() }.word.take() {
            // SAFETY: ending the wait gave the right to run it.
            unsafe { abandon(control) };
        }
    });
}

/// Ends a fiber that has begun and will not continue. Its frames stay as they are. The reference
/// that was the right to run it stays for ever, and so does a scope around it.
///
/// # Safety
///
/// The caller has the right to run the fiber, or the holder of that right will never use it.
unsafe fn abandon(control: NonNull<Control>) {
    // SAFETY: the right to run includes a reference.
    let this = unsafe { FiberBlock::of(control) };
    // The block stays for ever, and another host may get the same address later.
    this.hide();
    // SAFETY: the result may be set here, and no frame of the fiber touches it any more.
    unsafe { (this.body.abandon)(control) };
    // SAFETY: as above.
    let _ = unsafe { settle(control, Reference::Keep) };
}
