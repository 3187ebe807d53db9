//! How fibers and threads wait: they begin a wait, make it known to its wakers, and suspend or
//! sleep until it has ended.
//!
//! # Safety
//!
//! Trusted with suspending the running fiber.
#![expect(unsafe_code, reason = "the running fiber is a pointer")]

use std::num::NonZero;
use std::ptr::NonNull;
use std::time::{Duration, Instant};

use super::control::{Control, Pause, Status};
use super::reason::WaitOn;
use super::tls;
use super::wait_timers::WakePlace;
use super::waiter::Waiter;
use super::word::{Cause, Ends, Runner, WaitId};
use super::worker_local::WorkerLocal;
use crate::rt::base::clock;

/// Which wait of an operation this is. An operation is one call, such as a lock or a receive, that
/// may wait several times.
///
/// Whether an operation may wait is decided once, before other threads know of it. From then on no
/// path of it panics: its node may be in a queue, a lock may have been released for it, or another
/// thread may be about to write to its frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The first wait. Panics where the fiber must not suspend, before `publish` is called.
    First,
    /// A wait that continues an operation. Holds the worker where the fiber must not suspend.
    Later,
}

/// How a fiber waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Manner {
    /// It suspends.
    Suspend,
    /// It suspends, and continues on the same worker: its thread is unwinding, perhaps because of
    /// this fiber, and std counts panics per thread.
    SuspendHere,
    /// It keeps its worker, which sleeps in its driver: it must not suspend, or is known to unwind.
    Hold,
}

/// Waits for this reason. `publish` makes the waiter known to its wakers, and returns whether there
/// is something to wait for. Returns what ended the wait.
///
/// # Panics
///
/// In the first phase, if the caller is a fiber that must not suspend. `publish` has not been
/// called then.
#[inline]
pub(crate) fn wait(
    phase: Phase,
    on: WaitOn,
    ends: Ends,
    until: Option<Instant>,
    publish: impl FnOnce(Waiter) -> bool,
) -> Cause {
    match running() {
        // SAFETY: the fiber runs, so its control block is alive.
        Some((local, control)) if can_suspend(local, unsafe { control.as_ref() }) => {
            wait_on_fiber(local, control, (on, ends, until, Manner::Suspend), publish)
        }
        running => wait_otherwise(running, phase, (on, ends, until, &mut once(publish))),
    }
}

/// Returns whether the running fiber can suspend now, and continue on any worker that it may run
/// on.
#[inline]
pub(super) fn can_suspend(local: &WorkerLocal, this: &Control) -> bool {
    !local.in_switch_hook() && !std::thread::panicking() && this.may_suspend()
}

/// Makes a waiter known to its wakers. Called once.
pub(super) type Publish<'a> = &'a mut dyn FnMut(Waiter) -> bool;

/// Turns a function that can be called once into one that can be called by reference.
#[inline]
pub(super) fn once(publish: impl FnOnce(Waiter) -> bool) -> impl FnMut(Waiter) -> bool {
    let mut publish = Some(publish);
    move |waiter| publish.take().is_some_and(|publish| publish(waiter))
}

/// Waits as a thread, or as a fiber that cannot suspend as usual. Not generic, so that only the
/// usual path is compiled into each caller of [`wait`], and is inlined there.
#[inline(never)]
fn wait_otherwise(
    running: Option<RunningFiber>,
    phase: Phase,
    (on, ends, until, publish): (WaitOn, Ends, Option<Instant>, Publish<'_>),
) -> Cause {
    let Some((local, control)) = running else { return wait_on_thread((on, ends), until, publish) };
    if local.in_switch_hook() {
        return wait_in_switch_hook(phase, (on, ends, until, publish));
    }
    // SAFETY: the fiber runs, so its control block is alive.
    let manner = unusual_manner(local, unsafe { control.as_ref() }, phase);
    wait_on_fiber(local, control, (on, ends, until, manner), publish)
}

/// Returns how the running fiber waits if it cannot suspend as usual.
#[cold]
fn unusual_manner(local: &WorkerLocal, this: &Control, phase: Phase) -> Manner {
    match (local.must_hold_worker(), this.may_suspend()) {
        // A second panic would abort the process. So a fiber that unwinds waits even where it must
        // not suspend.
        (true, _) => Manner::Hold,
        (false, true) => Manner::SuspendHere,
        (false, false) => {
            // The thread unwinds because of this fiber, as above, or because of another fiber.
            // There is no way to tell which.
            assert!(phase == Phase::Later || std::thread::panicking(), "{NO_SUSPEND}");
            Manner::Hold
        }
    }
}

/// Returns whether the caller is a switch hook. It waits as a thread does, although a fiber counts
/// as the running one.
pub(crate) fn in_switch_hook() -> bool {
    tls::worker_local().is_some_and(WorkerLocal::in_switch_hook)
}

/// The running fiber and its worker.
pub(crate) type RunningFiber = (&'static WorkerLocal, NonNull<Control>);

/// Returns the calling fiber, or `None` if the caller is a thread.
#[inline]
pub(crate) fn running() -> Option<RunningFiber> {
    let local = tls::worker_local()?;
    Some((local, local.fiber()?))
}

/// Returns whether the running fiber may continue on another worker after a wait. `local` is the
/// caller's worker.
#[inline]
pub(crate) fn may_move(local: &WorkerLocal) -> bool {
    // SAFETY: the fiber runs, so its control block is alive.
    local.fiber().is_some_and(|control| unsafe { control.as_ref() }.pins.runner() == Runner::Anybody)
}

/// Panics if the caller is a fiber that must not wait now.
#[track_caller]
pub(crate) fn check_may_wait() {
    assert!(may_wait(), "{NO_SUSPEND}");
}

/// Returns whether the caller may wait now: it is a thread, or a fiber that may suspend. On a
/// thread that unwinds, every caller may: a second panic would abort the process.
pub(crate) fn may_wait() -> bool {
    running().is_none_or(|(local, control)| {
        // SAFETY: the fiber runs, so its control block is alive.
        let may_suspend = || !local.in_switch_hook() && unsafe { control.as_ref() }.may_suspend();
        std::thread::panicking() || may_suspend()
    })
}

/// Returns whether a wait of the caller lets other fibers of its worker run, at once or after a
/// while. True for threads.
pub(crate) fn lets_others_run() -> bool {
    running().is_none_or(|(local, control)| {
        // SAFETY: the fiber runs, so its control block is alive.
        !local.in_switch_hook() && !local.is_in_hook() && unsafe { control.as_ref() }.may_suspend()
    })
}

/// Returns the number that identifies the caller as an owner: the number of the fiber, on any
/// worker, or of the thread. Numbers are unique and never used again. A fiber in steps has a new
/// number in each step.
///
/// A switch hook counts as its thread: it runs between two fibers, on the worker's stack. A panic
/// hook runs on the stack of the panicking fiber, and counts as that fiber.
#[inline]
pub(crate) fn caller() -> NonZero<u64> {
    match running() {
        Some((local, control)) if !local.in_switch_hook() => {
            // SAFETY: the fiber runs, so its control block is alive.
            let this = unsafe { control.as_ref() };
            this.step.get().unwrap_or(this.birth.id)
        }
        _ => tls::thread_id(),
    }
}

/// Waits as the running fiber.
#[inline]
pub(super) fn wait_on_fiber(
    local: &WorkerLocal,
    control: NonNull<Control>,
    (on, ends, until, manner): (WaitOn, Ends, Option<Instant>, Manner),
    publish: impl FnOnce(Waiter) -> bool,
) -> Cause {
    // SAFETY: the fiber runs, so its control block is alive.
    let this = unsafe { control.as_ref() };
    this.reason.set(on);
    let is_pinned = manner == Manner::SuspendHere && this.pins.add();
    let runner = if manner == Manner::Hold { Runner::Anybody } else { this.pins.runner() };
    let how = if runner == Runner::Anybody { Pause::Wait } else { Pause::Rest };
    let cause = match this.word.begin_wait(ends, runner) {
        None => Cause::Unpark,
        Some(wait) => wait_through(local, control, (wait, until, manner, how), publish),
    };
    if is_pinned {
        this.pins.remove();
    }
    cause
}

/// Publishes a wait that has begun, and waits until it has ended.
#[inline]
fn wait_through(
    local: &WorkerLocal,
    control: NonNull<Control>,
    (wait, until, manner, how): (WaitId, Option<Instant>, Manner, Pause),
    publish: impl FnOnce(Waiter) -> bool,
) -> Cause {
    // SAFETY: the fiber runs, so its control block is alive.
    let this = unsafe { control.as_ref() };
    let waiter = Waiter::fiber(control, wait);
    this.set_status(Status::Parked);
    if !publish(waiter) {
        if this.word.end(wait, Cause::Event).is_some() {
            this.set_status(Status::Running);
            return Cause::Event;
        }
        // Another thread has ended the wait. Its cause counts, and uses up an unpark.
        match how {
            Pause::Rest => suspend(this, how),
            _ => this.set_status(Status::Running),
        }
        return this.word.cause();
    }
    let timers = local.timers();
    let wakes =
        if how == Pause::Wait && manner != Manner::Hold { WakePlace::Anywhere } else { WakePlace::Here };
    // SAFETY: the invariant of a worker's timers.
    let timer = until.and_then(|until| unsafe { timers.as_ref() }.set_wake(until, waiter, wakes));
    match manner {
        Manner::Suspend | Manner::SuspendHere => suspend(this, how),
        Manner::Hold => hold_or_suspend(local, this, wait),
    }
    let cause = this.word.cause();
    if let Some(timer) = timer
        && cause != Cause::Time
    {
        // SAFETY: as above. The fiber may have moved away from the worker that owns these timers.
        unsafe { timers.as_ref() }.cancel_wake(timer);
    }
    cause
}

/// How long a fiber that unwinds keeps its worker to itself.
const LONGEST_HOLD: Duration = Duration::from_millis(10);

/// Waits in the worker's driver. A fiber that unwinds suspends after a while, and continues on the
/// same worker.
#[cold]
fn hold_or_suspend(local: &WorkerLocal, this: &Control, wait: WaitId) {
    if hold(local, this, wait) {
        this.set_status(Status::Running);
        return;
    }
    let is_pinned = this.pins.add();
    suspend(this, Pause::Wait);
    if is_pinned {
        this.pins.remove();
    }
}

/// Waits without letting other fibers run: the worker sleeps in its driver. Returns false if the
/// wait has not ended after [`LONGEST_HOLD`] and the fiber may suspend. A fiber that must not
/// suspend, or is in a panic hook, holds its worker until the wait has ended: std would take a
/// panic of another fiber on this thread for one inside the hook, and abort.
fn hold(local: &WorkerLocal, this: &Control, wait: WaitId) -> bool {
    let until = clock::now() + LONGEST_HOLD;
    while this.word.is_open(wait) {
        let left = until.saturating_duration_since(clock::now());
        if left.is_zero() && this.may_suspend() && !local.is_in_hook() {
            return false;
        }
        local.context().core().doze(if left.is_zero() { LONGEST_HOLD } else { left });
    }
    true
}

/// The message of the panic if a wait is refused.
pub(crate) const NO_SUSPEND: &str = "a fiber waits inside `no_suspend`: move the wait out of it";

/// Returns whether the caller unwinds because of a panic of its own. A fiber that continued while
/// its thread was unwinding cannot be told apart, and counts as not unwinding.
#[inline]
pub(crate) fn is_unwinding() -> bool {
    std::thread::panicking() && is_ours()
}

#[cold]
fn is_ours() -> bool {
    tls::worker_local().is_none_or(|local| local.fiber().is_none() || local.must_hold_worker())
}

/// Suspends the fiber and returns the thread to its worker. The caller has checked that the fiber
/// may suspend.
#[inline]
pub(super) fn suspend(this: &Control, how: Pause) {
    let suspender = this.suspender.get().expect("a fiber that runs can suspend");
    // SAFETY: the invariant of `suspender`: it is on the stack of this very fiber, whose body has
    // not returned.
    unsafe { suspender.as_ref() }.suspend(how);
}

/// Waits for a switch hook. It does not use the word of the fiber that is switched, which may be in
/// a wait already. The first wait of an operation panics, unless the thread unwinds already: a
/// second panic would abort the process. In that case, and in a wait that continues an operation,
/// the hook waits as a thread.
#[cold]
fn wait_in_switch_hook(
    phase: Phase,
    (on, ends, until, publish): (WaitOn, Ends, Option<Instant>, Publish<'_>),
) -> Cause {
    assert!(phase == Phase::Later || std::thread::panicking(), "{NO_SUSPEND}");
    match ends {
        // An unpark is meant for the fiber, not for the hook. A park may return for no reason.
        Ends::ByUnpark | Ends::UnparkOrCancel => Cause::Unpark,
        Ends::ByEvent | Ends::ByHolder | Ends::EventOrCancel => wait_on_thread((on, ends), until, publish),
    }
}

fn wait_on_thread((on, ends): (WaitOn, Ends), until: Option<Instant>, publish: Publish<'_>) -> Cause {
    let block = tls::thread_block();
    let wait = block.begin_wait(on, ends);
    if publish(Waiter::thread(block, wait)) { block.sleep(wait, until) } else { block.cancel(wait) }
}

/// Removes a [pin](super::pins::Pins::add) of a fiber. A fiber other than the caller may be
/// suspended, so it stays where it is for good.
///
/// # Safety
///
/// The caller holds a reference to the fiber.
pub(crate) unsafe fn unpin(control: NonNull<Control>) {
    // SAFETY: the caller's reference.
    let this = unsafe { control.as_ref() };
    match running() {
        Some((local, running)) if running == control && !local.in_switch_hook() => this.pins.remove(),
        _ => this.pins.stick(),
    }
}
