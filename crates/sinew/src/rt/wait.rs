//! Waiting, for fibers and threads alike: a wait is begun, made known to whoever may end it, and slept through.
//!
//! # Safety
//!
//! Trusted with suspending the running fiber.
#![expect(unsafe_code, reason = "the running fiber is a pointer")]

use std::num::NonZero;
use std::ptr::NonNull;
use std::time::{Duration, Instant};

use super::ambient::Slot;
use super::control::{Control, Pause, Status};
use super::local::Local;
use super::reference::Fiber;
use super::tls;
use super::waiter::Waiter;
use super::word::{Cause, Ends, Runner, WaitId};

/// Waits. `publish` makes the waiter known to whoever is to end the wait, and says whether there is something to wait for.
/// Returns what ended it.
pub(crate) fn wait(ends: Ends, until: Option<Instant>, publish: impl FnOnce(Waiter) -> bool) -> Cause {
    match running() {
        Some((local, _)) if local.is_between() => wait_between(local, (ends, until, publish)),
        Some((local, control)) => {
            wait_on_fiber(local, control, (ends, until, IsHeld(local.is_held())), publish)
        }
        None => wait_on_thread((ends, until, publish)),
    }
}

/// Waits for ever, if the caller is a fiber for which this is so, and that can let others run: the short way, which takes little of its stack.
/// None, if not: `publish` has not been called then.
#[inline]
pub(crate) fn wait_if(
    ends: Ends,
    is_so: impl FnOnce(&Control) -> bool,
    publish: impl FnOnce(&Control, Waiter) -> bool,
) -> Option<Cause> {
    let (local, control) = running().filter(|(local, _)| !local.is_between() && !local.is_held())?;
    // SAFETY: it runs, so it is there.
    let this = unsafe { control.as_ref() };
    let publish = |waiter| publish(this, waiter);
    is_so(this).then(|| wait_on_fiber(local, control, (ends, None, IsHeld(false)), publish))
}

/// Whether the fiber cannot let others run.
#[derive(Clone, Copy)]
struct IsHeld(bool);

/// Whether the caller waits as a thread does though a fiber counts as the one that runs: it follows that fiber.
pub(crate) fn is_between() -> bool {
    tls::local().is_some_and(Local::is_between)
}

/// The fiber that calls this, if it is one, and its worker.
#[inline]
pub(crate) fn running() -> Option<(&'static Local, NonNull<Control>)> {
    let local = tls::local()?;
    Some((local, local.fiber()?))
}

/// Whether the fiber that runs on a worker, which is the caller's, may go on elsewhere after a wait.
#[inline]
pub(crate) fn may_move(local: &Local) -> bool {
    // SAFETY: it runs, so it is there.
    local.fiber().is_some_and(|control| unsafe { control.as_ref() }.pins.runner() == Runner::Anybody)
}

/// Panics if the caller is a fiber that must not wait now.
#[track_caller]
pub(crate) fn check_may_wait() {
    assert!(may_wait(), "{NO_SUSPEND}");
}

/// Whether the caller may wait now: it is a thread, or a fiber that may be suspended.
pub(crate) fn may_wait() -> bool {
    running().is_none_or(|(local, control)| {
        // SAFETY: it runs, so it is there.
        local.is_held() || !local.is_between() && unsafe { control.as_ref() }.may_suspend()
    })
}

/// A reference to the fiber that calls this.
pub(crate) fn running_fiber() -> Option<Fiber> {
    // SAFETY: it runs, so it is there.
    running().map(|(_, control)| unsafe { Fiber::new(control) })
}

/// The number of whoever calls this, by which something may be its own: that of the fiber, wherever it runs, or of the thread. No two
/// have the same, and none is ever used again. A fiber in steps has another one in each.
///
/// What follows a fiber at a switch counts as its thread: it runs between two fibers, on the worker's stack. A panic hook runs on the
/// stack of the fiber, which is its caller, and counts as that.
#[inline]
pub(crate) fn caller() -> NonZero<u64> {
    match running() {
        Some((local, control)) if !local.is_between() => {
            // SAFETY: it runs, so it is there.
            let this = unsafe { control.as_ref() };
            this.step.get().unwrap_or(this.birth.id)
        }
        _ => tls::thread_id(),
    }
}

/// Shows where the caller has what is in force to `look`, which runs no code of the user's.
#[inline]
pub(crate) fn with_ambient<R>(look: impl FnOnce(&Slot) -> R) -> R {
    match running() {
        // SAFETY: it runs, so it is there, and what is in force is the caller's to touch.
        Some((_, control)) => look(&unsafe { control.as_ref() }.ambient),
        None => tls::with_ambient(look),
    }
}

#[inline]
fn wait_on_fiber(
    local: &Local,
    control: NonNull<Control>,
    (ends, until, IsHeld(is_held)): (Ends, Option<Instant>, IsHeld),
    publish: impl FnOnce(Waiter) -> bool,
) -> Cause {
    // SAFETY: it runs.
    let this = unsafe { control.as_ref() };
    // Before anybody knows of the wait: whoever does would end it, or look at this fiber, when that is long over.
    assert!(is_held || this.may_suspend(), "{NO_SUSPEND}");
    let runner = if is_held { Runner::Anybody } else { this.pins.runner() };
    let how = if runner == Runner::Anybody { Pause::Wait } else { Pause::Rest };
    let Some(wait) = this.word.begin_wait(ends, runner) else { return Cause::Unpark };
    let waiter = Waiter::fiber(control, wait);
    this.set_status(Status::Parked);
    if !publish(waiter) {
        if this.word.end(wait, Cause::Event).is_some() {
            this.set_status(Status::Running);
            return Cause::Event;
        }
        // If somebody else has ended it, that is as good, and told: an unpark is used up by it.
        match how {
            Pause::Rest => suspend(this, how),
            _ => this.set_status(Status::Running),
        }
        return this.word.cause();
    }
    let driver = NonNull::from(&*local.driver);
    let timer = until.and_then(|until| local.driver.set_timer(until, waiter));
    if !is_held {
        suspend(this, how);
    } else if hold(local, this, wait) {
        this.set_status(Status::Running);
    } else {
        this.pins.add();
        local.out_of_hook(|| pause(control, Pause::Wait));
        this.pins.remove();
    }
    let cause = this.word.cause();
    if let Some(timer) = timer
        && cause != Cause::Time
    {
        // SAFETY: drivers stay for as long as the engine, and that for as long as its fibers. The fiber may have moved away
        // from the worker whose driver it is.
        unsafe { driver.as_ref() }.cancel_timer(timer);
    }
    cause
}

/// How long a fiber that cannot let others run keeps its worker to itself.
const LONGEST_HOLD: Duration = Duration::from_millis(10);

/// Waits without letting others run, for a while: the worker sleeps in its driver. Whether the wait has ended. One that must not
/// suspend keeps the worker for as long as it takes: it cannot panic either, since others know of the wait.
#[cold]
fn hold(local: &Local, this: &Control, wait: WaitId) -> bool {
    let until = Instant::now() + LONGEST_HOLD;
    while this.word.is_open(wait) {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() && this.may_suspend() {
            return false;
        }
        local.context().core().doze(if left.is_zero() { LONGEST_HOLD } else { left });
    }
    true
}

const NO_SUSPEND: &str = "a fiber waits inside `no_suspend`: move the wait out of it";

/// Lets others run.
#[inline]
pub(crate) fn yield_now(local: &Local, control: NonNull<Control>) {
    if !local.is_held() {
        pause(control, Pause::Yield);
    }
}

/// Lets others run, if the caller is a fiber that may now. Whether it did.
pub(crate) fn give_way() -> bool {
    let Some((local, control)) = running() else { return false };
    // SAFETY: it runs, so it is there.
    let may_suspend = !local.is_between() && !local.is_held() && unsafe { control.as_ref() }.may_suspend();
    if may_suspend {
        pause(control, Pause::Yield);
    }
    may_suspend
}

/// Whether the caller unwinds because of a panic of its own. Of a fiber that went on while its thread was unwinding nobody can tell,
/// and it is taken not to.
#[inline]
pub(crate) fn is_unwinding() -> bool {
    std::thread::panicking() && is_ours()
}

#[cold]
fn is_ours() -> bool {
    tls::local().is_none_or(|local| local.fiber().is_none() || local.is_held())
}

/// Hands the worker back.
///
/// # Panics
///
/// If the fiber has said that it will not.
#[inline]
pub(crate) fn pause(control: NonNull<Control>, how: Pause) {
    // SAFETY: it runs.
    let this = unsafe { control.as_ref() };
    assert!(this.may_suspend(), "{NO_SUSPEND}");
    suspend(this, how);
}

/// The same, for one that may.
#[inline]
fn suspend(this: &Control, how: Pause) {
    let suspender = this.suspender.get().expect("a fiber that runs can suspend");
    // SAFETY: the invariant of `suspender`: it is on the stack of this very fiber, whose body has not returned.
    unsafe { suspender.as_ref() }.suspend(how);
}

/// A wait by what follows a fiber. Not in the fiber's word: it may be in a wait already, which would be lost. It is a panic; if there is one
/// already, the thread waits, since another one would end the process.
#[cold]
fn wait_between<P: FnOnce(Waiter) -> bool>(local: &Local, wait: (Ends, Option<Instant>, P)) -> Cause {
    assert!(local.is_held(), "{NO_SUSPEND}");
    match wait.0 {
        // Who unparks a fiber does not mean this. A park may end for no reason.
        Ends::ByUnpark | Ends::UnparkOrCancel => Cause::Unpark,
        Ends::ByEvent | Ends::ByHolder | Ends::EventOrCancel => wait_on_thread(wait),
    }
}

#[inline(never)]
fn wait_on_thread<P: FnOnce(Waiter) -> bool>((ends, until, publish): (Ends, Option<Instant>, P)) -> Cause {
    let block = tls::thread_block();
    let waiter = block.begin_wait(ends);
    if publish(waiter) { block.sleep(waiter, until) } else { block.cancel(waiter) }
}
