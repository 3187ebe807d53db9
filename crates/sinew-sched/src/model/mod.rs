//! The models: loom runs them through every interleaving and every outcome of weak memory that it
//! can distinguish, within a bound on preemptions. Each protocol holds as it is, and fails without
//! each of its fences.
//!
//! # Safety
//!
//! Trusted with boxes that travel as tasks.
#![expect(unsafe_code, reason = "a task is an untyped pointer")]

mod batch;
mod deque;
mod drain;
mod exchange;
mod idle;
mod inbox;
mod patience;
mod relied;
mod role;
mod shutdown;
mod steal_remote;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
// std's atomics: the bookkeeping is not part of the protocol, so the checker need not explore it.
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, RwLock};

use loom::cell::UnsafeCell;

use crate::sync::{Fence, fence, ignore_poison};
use crate::task::{Context, Header, TaskRef, Vtable};

/// The number of the fence that is removed; `ALL`, if none is.
static MISSING: AtomicUsize = AtomicUsize::new(ALL);
const ALL: usize = usize::MAX;

/// Models run at the same time, but a model without a fence runs alone.
static RUNNING: RwLock<()> = RwLock::new(());

/// Issues a SeqCst fence, unless it is removed.
pub(crate) fn full_fence(which: Fence) {
    if MISSING.load(Ordering::Relaxed) != which as usize {
        fence(Ordering::SeqCst);
    }
}

/// Runs a model, with at most this number of preemptions in an execution.
fn check(preemptions: usize, model: impl Fn() + Send + Sync + 'static) {
    let _shared = ignore_poison(RUNNING.read());
    explore(preemptions, model);
}

fn explore(preemptions: usize, model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.max_branches = 20_000;
    builder.check(model);
}

/// Returns whether a model fails without a fence.
fn fails_without(fence: Fence, preemptions: usize, model: impl Fn() + Send + Sync + 'static) -> bool {
    let _alone = ignore_poison(RUNNING.write());
    MISSING.store(fence as usize, Ordering::Relaxed);
    let outcome = catch_unwind(AssertUnwindSafe(|| explore(preemptions, model)));
    MISSING.store(ALL, Ordering::Relaxed);
    outcome.is_err()
}

/// The tasks of a model. Dropping a task counts as taking it. The tasks stay allocated until the
/// end, so that a model that takes one twice fails for that reason.
#[derive(Clone)]
struct Taken(Arc<Vec<Model>>);

impl Taken {
    fn new(tasks: usize) -> Self {
        Self(Arc::new((0..tasks).map(Model::new).collect()))
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn total(&self) -> usize {
        self.0.iter().map(|model| model.taken.load(Ordering::Relaxed)).sum()
    }

    fn assert_each_once(&self) {
        let once = |model: &Model| assert_eq!(model.taken.load(Ordering::Relaxed), 1, "taken once");
        self.0.iter().for_each(once);
    }

    /// Returns a task with a payload, which the thread that takes the task has to see.
    fn task(&self, number: usize) -> TaskRef {
        let model = &self.0[number];
        // SAFETY: the task was not handed out yet.
        model.payload.with_mut(|value| unsafe { *value = number + 1 });
        // SAFETY: the tasks outlive the model's threads, and this one may be taken by any of them.
        unsafe { TaskRef::from_raw(NonNull::from_ref(model).cast()) }
    }
}

#[repr(C)]
struct Model {
    header: Header,
    number: usize,
    payload: UnsafeCell<usize>,
    taken: AtomicUsize,
}

// SAFETY: only the owner of the task uses the payload; the checker detects two owners.
unsafe impl Sync for Model {}

impl Model {
    fn new(number: usize) -> Self {
        let (payload, taken) = (UnsafeCell::new(0), AtomicUsize::new(0));
        Self { header: Header::new(VTABLE), number, payload, taken }
    }
}

const VTABLE: &Vtable = &Vtable { run, discard, settles: false };

unsafe fn run(header: NonNull<Header>, _: &Context<'_>) {
    // SAFETY: as for `discard`.
    unsafe { discard(header) };
}

unsafe fn discard(header: NonNull<Header>) {
    // SAFETY: called through the vtable, with a header of this type.
    let model = unsafe { header.cast::<Model>().as_ref() };
    // SAFETY: the taker is the task's only owner; the checker detects others. The payload is
    // accessed mutably so that it can detect two takers.
    model.payload.with_mut(|value| unsafe {
        assert_eq!(*value, model.number + 1, "the taker of a task sees its payload");
    });
    model.taken.fetch_add(1, Ordering::Relaxed);
}
