//! Running fibers: a fiber is a task whose run function resumes a coroutine. Knows no handle.
//!
//! # Safety
//!
//! Trusted with the right to run a fiber: it comes with the task, and passes to the next thread
//! that runs the fiber, or ends with it.
#![expect(unsafe_code, reason = "fibers are pointers, and their coroutines are under the right to run them")]

use std::fmt;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;

use sinew_coroutine::{Coroutine, CoroutineState, Label, StackError, Suspender};
use sinew_sched::{Context, Header, TaskRef, Vtable};

use super::block::FiberBlock;
use super::host::Vtables;
use super::starving;
use super::switch_hooks::SwitchHooks;
use super::task::fiber_of;
use super::teardown::{discard, finish, leave_stack};
use super::worker_state::WorkerState;
use crate::rt::base::sync::Ordering;
use crate::rt::wait::{
    By, Control, Ended, FiberCoroutine, Home, Moves, Pause, Status, WakeAction, make_ready,
};

static USUAL: Vtables = vtables::<false>();
static FOLLOWED: Vtables = vtables::<true>();

const fn vtables<const FOLLOWED: bool>() -> Vtables {
    let run = run::<FOLLOWED>;
    [Vtable { run, discard, settles: true }, Vtable { run, discard, settles: false }]
}

/// Returns the vtables of the tasks of an engine. Only engines with switch hooks pay for calling
/// them.
pub(crate) fn vtables_for(switch_hooks: &SwitchHooks) -> &'static Vtables {
    if switch_hooks.is_empty() { &USUAL } else { &FOLLOWED }
}

/// Called by a worker, with the right to run the fiber. Then runs the next fibers of this worker,
/// until another queue has its turn. This saves the way back to the worker and here again.
unsafe fn run<const FOLLOWED: bool>(header: NonNull<Header>, _: &Context<'_>) {
    let local = WorkerState::current().expect("the workers of an engine have what fibers need");
    let mut control = fiber_of(header);
    loop {
        local.begin_task();
        // SAFETY: every task of a host is a fiber, and the task was the right to run it.
        let next = match unsafe { resume::<FOLLOWED>(local, control, By::Worker) } {
            // SAFETY: the fiber has returned control, and the right to run it.
            Ok(CoroutineState::Yielded(Pause::Yield)) => unsafe { exchange(local, control) },
            Ok(CoroutineState::Yielded(Pause::Rest)) => {
                rest(local);
                local.context().take_next()
            }
            Ok(state) => {
                // SAFETY: as above.
                unsafe { dispatch_outcome(local, control, By::Worker, state) };
                local.context().take_next()
            }
            Err(error) => {
                // SAFETY: the fiber was not entered, so this function still has the right.
                unsafe { starving::wait(local, control, &error) };
                local.context().take_next()
            }
        };
        match next {
            Some(task) => control = fiber_of(task.into_raw()),
            None => return,
        }
    }
}

/// Puts a fiber that yields behind the others. Returns the next fiber, unless another queue has its
/// turn.
///
/// # Safety
///
/// The caller has the right to run the fiber, and gives it up.
#[inline(always)]
unsafe fn exchange(local: &WorkerState, control: NonNull<Control>) -> Option<TaskRef> {
    // SAFETY: the right to run includes a reference.
    let this = unsafe { control.as_ref() };
    if !matches!(this.home(), Home::Worker(_)) {
        // SAFETY: the caller's right.
        unsafe { go_to_the_back(local, control, By::Worker) };
        return local.context().take_next();
    }
    this.set_status(Status::Ready);
    // SAFETY: the caller's right.
    local.context().exchange(unsafe { Control::task(control) })
}

/// Runs a fiber until it returns control, and handles the reason.
///
/// # Errors
///
/// Returns an error if the fiber has not begun and there is no stack for it. The caller still has
/// the right to run it then.
///
/// # Safety
///
/// The caller has the right to run the fiber, on this worker, and gives it up.
#[inline]
pub(crate) unsafe fn enter(local: &WorkerState, control: NonNull<Control>, by: By) -> Result<(), StackError> {
    if !local.host().switch_hooks().is_empty() {
        // SAFETY: the caller's right.
        return unsafe { enter_followed(local, control, by) };
    }
    // SAFETY: the caller's right.
    let state = unsafe { resume::<false>(local, control, by) }?;
    // SAFETY: the fiber has returned control, and the right to run it.
    unsafe { dispatch_outcome(local, control, by, state) };
    Ok(())
}

/// [Enters](enter) a fiber, and calls the switch hooks for the outer fiber, which is suspended
/// meanwhile.
///
/// # Errors
///
/// As for [`enter`].
///
/// # Safety
///
/// As for [`enter`].
#[cold]
unsafe fn enter_followed(local: &WorkerState, control: NonNull<Control>, by: By) -> Result<(), StackError> {
    let (engine, has_outer) = (local.host().clone(), local.fiber().is_some());
    if has_outer {
        engine.switch_hooks().suspend(local);
    }
    // SAFETY: the caller's right.
    let state = unsafe { resume::<true>(local, control, by) };
    if has_outer {
        engine.switch_hooks().resume(local);
    }
    // SAFETY: the fiber has returned control, and the right to run it.
    state.map(|state| unsafe { dispatch_outcome(local, control, by, state) })
}

/// Runs a fiber until it returns control.
///
/// # Errors
///
/// As for [`enter`].
///
/// # Safety
///
/// The caller has the right to run the fiber, on this worker, and has it again afterwards.
#[inline(always)]
unsafe fn resume<const FOLLOWED: bool>(
    local: &WorkerState,
    control: NonNull<Control>,
    by: By,
) -> Result<CoroutineState<Pause, Ended>, StackError> {
    // SAFETY: the right to run includes a reference.
    let this = unsafe { FiberBlock::of(control) };
    // SAFETY: the right to run includes access to the coroutine.
    let slot = unsafe { &mut *this.coroutine.get() };
    let coroutine = match slot {
        Some(coroutine) => coroutine,
        None => slot.insert(ManuallyDrop::new(begin(local, control, this)?)),
    };
    this.set_worker(local.worker());
    this.set_status(Status::Running);
    fetch_next(local);
    Ok(local.enter(control, by, || {
        if FOLLOWED {
            local.host().switch_hooks().resume(local);
        }
        let state = coroutine.resume(());
        if FOLLOWED {
            if matches!(state, CoroutineState::Complete(_)) {
                // Its locals have ended. Those of its next step are for another worker.
                this.locals.close();
            }
            local.host().switch_hooks().suspend(local);
        }
        state
    }))
}

/// Handles the reason why a fiber has returned control.
///
/// # Safety
///
/// The caller has the right to run the fiber, and gives it up.
#[inline]
unsafe fn dispatch_outcome(
    local: &WorkerState,
    control: NonNull<Control>,
    by: By,
    state: CoroutineState<Pause, Ended>,
) {
    match state {
        // SAFETY: the caller's right.
        CoroutineState::Yielded(Pause::Yield) => unsafe { go_to_the_back(local, control, by) },
        CoroutineState::Yielded(Pause::Rest) => rest(local),
        CoroutineState::Yielded(Pause::Wait) => {
            // SAFETY: the right to run includes a reference.
            let this = unsafe { control.as_ref() };
            local.counters.waits.add(1);
            // Unless this returns `Schedule`, the fiber may run elsewhere, or be gone, from here
            // on.
            if this.word.saved() == WakeAction::Schedule {
                // SAFETY: the wait ended before the fiber was saved, so this thread has the right
                // to run it.
                unsafe { make_ready(control) };
            }
        }
        // SAFETY: the caller's right.
        CoroutineState::Complete(Ended::ForGood) => unsafe { finish(local, control) },
        // SAFETY: the caller's right.
        CoroutineState::Complete(Ended::ForNow) => unsafe { go_anywhere(local, control, by) },
    }
}

/// Counts a wait that counts as saved from the beginning, and may have ended.
#[inline]
fn rest(local: &WorkerState) {
    local.counters.waits.add(1);
}

/// Prefetches the stack of the next fiber while this one runs. With many fibers, it is seldom in
/// the fastest cache.
#[inline]
fn fetch_next(local: &WorkerState) {
    if let Some(next) = local.context().core().next_ready() {
        // SAFETY: every task of a host is a fiber, and this worker has the right to run those in
        // its ready list.
        unsafe { Control::fetch_stack(fiber_of(next)) };
    }
}

/// Makes the coroutine of a fiber that begins.
#[inline(never)]
fn begin(
    local: &WorkerState,
    control: NonNull<Control>,
    this: &FiberBlock,
) -> Result<FiberCoroutine, StackError> {
    let mut stack = match local.host().starving.take_grant(control) {
        None => local.take_stack(this.birth.stack_size)?,
        Some(stack) => {
            starving::has_begun(local, this);
            stack
        }
    };
    stack.set_label(Some(label(control)));
    this.has_stack.store(true, Ordering::Relaxed);
    // A fiber in steps begins once, but on a new stack for each step.
    if this.status() == Status::New {
        local.counters.started.add(1);
    }
    if this.birth.moves != Moves::Always {
        local.context().core().own();
        // SAFETY: the fiber does not end before it is taken out, in `finish`.
        unsafe { local.roster.enter(control) };
    } else {
        local.context().core().own_roaming();
        // SAFETY: as above, in `leave_roamers`.
        unsafe { local.roamers.lock().enter(control) };
        this.roamers.set(Some(NonNull::from(&*local.roamers)));
    }
    // SAFETY: the coroutine is entered with the right to run the fiber.
    Ok(Coroutine::new(stack, move |suspender, ()| unsafe { root(control, suspender) }))
}

/// Returns the label of a fiber's stack, which names the fiber when the stack overflows.
fn label(control: NonNull<Control>) -> Label {
    /// # Safety
    ///
    /// The data is a fiber's block.
    unsafe fn describe(data: *const (), out: &mut dyn fmt::Write) -> fmt::Result {
        // SAFETY: the caller's promise. A fiber is alive while it has a stack.
        let birth = &unsafe { &*data.cast::<Control>() }.birth;
        match birth.name.as_deref() {
            // A long name is cut, so that there is room for the location.
            Some(name) => write!(out, "fiber '{}' ({})", &name[..name.floor_char_boundary(100)], birth.id)?,
            None => write!(out, "fiber {}", birth.id)?,
        }
        write!(out, ", made at {}", birth.location)
    }
    // SAFETY: the fiber is alive as long as it has the stack, and the fields read here never
    // change.
    unsafe { Label::new(control.as_ptr().cast_const().cast(), describe) }
}

/// The root function of a fiber's stack.
///
/// # Safety
///
/// Called by the fiber's coroutine.
unsafe fn root(control: NonNull<Control>, suspender: &Suspender<(), Pause>) -> Ended {
    // SAFETY: the fiber runs, so its control block is alive.
    let this = unsafe { control.as_ref() };
    this.suspender.set(Some(NonNull::from(suspender)));
    // SAFETY: the thread that resumed the coroutine has the right to run the fiber.
    let ended = unsafe { (this.body.run)(control) };
    this.suspender.set(None);
    ended
}

/// # Safety
///
/// The caller has the right to run the fiber, and gives it up.
#[inline]
unsafe fn go_to_the_back(local: &WorkerState, control: NonNull<Control>, by: By) {
    // SAFETY: the right to run includes a reference.
    let this = unsafe { control.as_ref() };
    this.set_status(Status::Ready);
    let home = this.home();
    // SAFETY: the caller's right.
    let task = unsafe { Control::task(control) };
    match home {
        Home::Worker(_) => local.context().core().push(task),
        home => give_way(local, task, home, by),
    }
}

/// Lets others run before this task. If another fiber entered this one, and so runs next, idle
/// workers are notified of the task.
#[inline]
fn give_way(local: &WorkerState, task: TaskRef, home: Home, by: By) {
    match by {
        By::Worker if home == Home::Anywhere => local.context().yield_to_others(task),
        By::Worker | By::Fiber => local.schedule(task, home),
    }
}

/// Schedules a fiber between two steps: it belongs to no worker, and goes behind all tasks that any
/// worker may run.
///
/// # Safety
///
/// The caller has the right to run the fiber, and gives it up.
unsafe fn go_anywhere(local: &WorkerState, control: NonNull<Control>, by: By) {
    // SAFETY: the caller's right.
    unsafe { leave_stack(local, control) };
    // SAFETY: the right to run includes a reference.
    let this = unsafe { control.as_ref() };
    this.locals.reopen();
    this.set_status(Status::Ready);
    // SAFETY: the caller's right.
    give_way(local, unsafe { Control::task(control) }, this.begins(), by);
}
