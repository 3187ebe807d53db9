//! The one handle through which a fiber is joined: the right to its result, and the wait for it.
//!
//! # Safety
//!
//! Trusted with one reference per handle, and with the result once the fiber is done.
#![expect(unsafe_code, reason = "fibers are pointers, counted by hand")]

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::panic::Location;
use std::ptr::NonNull;
use std::time::Instant;

use super::block::FiberBlock;
use super::cancel::cancel_fiber;
use super::cell::FiberOutcome;
use super::run;
use super::task::fiber_of;
use super::worker_state::WorkerState;
use crate::rt::base::FirstPanic;
use crate::rt::wait::{
    By, Cause, Control, Dropped, Ends, FiberRef, Phase, Status, Stop, WaitKind, What, Why, stop, suspend,
};

/// The handle of a fiber: the right to its result.
pub(crate) struct FiberHandle<T> {
    /// The fiber. No other value may join or detach it.
    ///
    /// # Invariant
    ///
    /// Not a thread.
    fiber: ManuallyDrop<FiberRef>,
    /// Like a function that returns the result. So a handle is `Unpin` and unwind-safe for any type
    /// of result. `Send` and `Sync` are implemented below.
    result: PhantomData<fn() -> T>,
}

// SAFETY: the result is `Send`, and the block is shared.
unsafe impl<T: Send> Send for FiberHandle<T> {}
// SAFETY: a shared handle gives no access to the result.
unsafe impl<T> Sync for FiberHandle<T> {}

impl<T> FiberHandle<T> {
    /// Returns the handle of a fiber with results of this type.
    ///
    /// # Safety
    ///
    /// The caller holds one of the two references of a new fiber, and gives it up.
    #[inline]
    pub(super) unsafe fn new(control: NonNull<Control>) -> Self {
        // SAFETY: the caller's promise.
        let fiber = ManuallyDrop::new(unsafe { FiberRef::from_ref(control) });
        Self { fiber, result: PhantomData }
    }

    pub(crate) fn fiber(&self) -> &FiberRef {
        &self.fiber
    }

    #[inline]
    fn control(&self) -> NonNull<Control> {
        // SAFETY: the invariant of `fiber`.
        unsafe { self.fiber.address_unchecked() }
    }

    #[inline]
    fn get(&self) -> &Control {
        // SAFETY: `fiber` is a reference.
        unsafe { self.control().as_ref() }
    }

    pub(crate) fn is_done(&self) -> bool {
        self.get().join.ending.is_done()
    }

    /// Waits for the result, until this moment if there is one. Returns whether the result exists.
    #[inline]
    pub(crate) fn wait(&self, until: Option<Instant>) -> bool {
        self.is_done() || {
            // SAFETY: the caller holds this fiber's handle.
            unsafe { wait_for_end(self.control(), until) }
        }
    }

    /// Cancels the fiber. `by` is the place of the user's call.
    pub(crate) fn cancel(&self, by: &'static Location<'static>, reason: Option<Cow<'static, str>>) {
        cancel_fiber(&self.fiber, Why { what: What::Fiber(self.fiber.number()), by, reason });
    }

    /// Waits for the result, and observes cancellation and deadlines.
    ///
    /// # Errors
    ///
    /// Returns an error if the caller is to stop, and there is no result yet.
    pub(crate) fn wait_or_stop(&self) -> Result<(), Stop> {
        let (join, mut phase) = (&self.get().join, Phase::First);
        let on = WaitKind::Join.on(self.get());
        while !self.is_done() {
            let mut is_waiting = false;
            let result = stop::wait_or_stop(phase, on, Ends::ByEvent, None, |waiter| {
                let waiter = waiter.counted();
                is_waiting = join.wait(waiter);
                if !is_waiting {
                    waiter.release();
                }
                is_waiting
            });
            let is_over = matches!(result, Ok(Cause::Event)) || is_waiting && !join.give_up();
            if !is_over {
                result?;
            }
            phase = Phase::Later;
        }
        Ok(())
    }

    /// Returns the result of a fiber that has ended.
    pub(crate) fn take(self) -> FiberOutcome<T> {
        debug_assert!(self.is_done(), "there is a result");
        // There is nothing left to detach from, and no result to drop.
        let this = ManuallyDrop::new(self);
        let mut outcome = MaybeUninit::<FiberOutcome<T>>::uninit();
        // SAFETY: the fiber is done, so the result belongs to the handle. The memory is of its
        // type.
        let is_there = unsafe { (this.get().body.take_result)(this.control(), outcome.as_mut_ptr().cast()) };
        // SAFETY: the reference of `fiber`, which is not used again.
        unsafe { Control::release(this.control()) };
        assert!(is_there, "a fiber that has ended has a result, which is taken once");
        // SAFETY: it was written.
        unsafe { outcome.assume_init() }
    }
}

/// Waits for the end of a fiber, as [`FiberHandle::wait`] does.
///
/// # Safety
///
/// The caller holds the fiber's handle.
#[inline(never)]
unsafe fn wait_for_end(control: NonNull<Control>, until: Option<Instant>) -> bool {
    // SAFETY: the handle is a reference.
    if until.is_none() && unsafe { enter_child(control) } {
        return true;
    }
    // SAFETY: as above.
    let this = unsafe { control.as_ref() };
    let (join, on) = (&this.join, WaitKind::Join.on(this));
    let cause = suspend::wait(Phase::First, on, Ends::ByEvent, until, |waiter| {
        // Counted: a fiber whose time limit is over continues even if the waker still uses its
        // waiter.
        let waiter = if until.is_some() { waiter.counted() } else { waiter };
        let is_waiting = join.wait(waiter);
        if !is_waiting {
            waiter.release();
        }
        is_waiting
    });
    cause != Cause::Time || !join.give_up()
}

/// Enters a child directly, if it has not begun and is the newest of this worker's tasks, so that
/// control returns here. Returns whether the child has ended.
///
/// # Safety
///
/// The caller holds the child's handle.
#[inline]
unsafe fn enter_child(control: NonNull<Control>) -> bool {
    // SAFETY: the handle is a reference.
    let this = unsafe { control.as_ref() };
    let Some((local, parent)) = WorkerState::current().and_then(|state| Some((state, state.fiber()?))) else {
        return false;
    };
    assert!(parent != control, "a fiber cannot join itself: it would wait for ever");
    // SAFETY: the parent runs, so its control block is alive.
    let may_enter = || local.may_enter(unsafe { parent.as_ref() });
    if this.status() != Status::New || !may_enter() || std::thread::panicking() {
        return false;
    }
    let Some(task) = local.context().take_newest(control.cast()) else { return false };
    let control = fiber_of(task.into_raw());
    // Counted as a wait: the parent waits for the child, which runs in its place on the worker.
    local.counters.waits.add(1);
    // SAFETY: the task was the right to run the child, on this worker.
    if unsafe { run::enter(local, control, By::Fiber) }.is_err() {
        // SAFETY: the child was not entered, so this function still has the right.
        local.context().submit(unsafe { Control::task(control) });
    }
    local.counters.wakes.add(1);
    this.join.ending.is_done()
}

impl<T> Drop for FiberHandle<T> {
    fn drop(&mut self) {
        let this = self.get();
        if this.join.ending.detach() {
            return;
        }
        // A guard, which releases the reference even if the user's destructor panics.
        let control = self.control();
        // SAFETY: the reference of the handle, which is not used again.
        let _reference = unsafe { FiberRef::from_ref(control) };
        let mut first = FirstPanic::new();
        first.catch(|| {
            // SAFETY: the fiber is done, or has announced its result, which belongs to the handle.
            let dropped = unsafe { (this.body.drop_result)(control) };
            // SAFETY: `fiber` is a reference.
            let block = unsafe { FiberBlock::of(control) };
            if let (Dropped::Panic, Some(scope)) = (dropped, &block.scope) {
                scope.note_panic();
            }
        });
        first.resume();
    }
}

impl<T> fmt::Debug for FiberHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FiberHandle").field("control", self.get()).finish()
    }
}
