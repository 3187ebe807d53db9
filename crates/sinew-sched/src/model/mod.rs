//! The models: loom runs them through every interleaving and every outcome of weak memory that it can tell apart, within a
//! bound on preemptions. Each protocol holds as it is, and fails without each of its fences.
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
// The bookkeeping is none of the protocol: the checker need not see it.
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, RwLock};

use loom::cell::UnsafeCell;

use crate::sync::{Fence, fence, ignore_poison};
use crate::task::{Context, Header, TaskRef, Vtable};

/// The fence that is out, by number; none, if it is `ALL`.
static MISSING: AtomicUsize = AtomicUsize::new(ALL);
const ALL: usize = usize::MAX;

/// Models run side by side, but one without a fence runs alone.
static RUNNING: RwLock<()> = RwLock::new(());

/// A SeqCst fence, if it is not out.
pub(crate) fn full_fence(which: Fence) {
    if MISSING.load(Ordering::Relaxed) != which as usize {
        fence(Ordering::SeqCst);
    }
}

/// Runs a model, with at most so many preemptions in an execution.
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

/// Whether a model fails without a fence.
fn fails_without(fence: Fence, preemptions: usize, model: impl Fn() + Send + Sync + 'static) -> bool {
    let _alone = ignore_poison(RUNNING.write());
    MISSING.store(fence as usize, Ordering::Relaxed);
    let outcome = catch_unwind(AssertUnwindSafe(|| explore(preemptions, model)));
    MISSING.store(ALL, Ordering::Relaxed);
    outcome.is_err()
}

/// The tasks of a model. Dropping a task counts as taking it. They stay where they are until the end, so that a model in
/// which one is taken twice fails for that reason.
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

    /// A task, with a payload that whoever takes it has to see.
    fn task(&self, number: usize) -> TaskRef {
        let model = &self.0[number];
        // SAFETY: nobody has it yet.
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

// SAFETY: the payload is used by whoever has the task; the checker sees if two do.
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
    // SAFETY: whoever takes it is alone; the checker sees if not. Written, so that it sees two takers.
    model.payload.with_mut(|value| unsafe {
        assert_eq!(*value, model.number + 1, "whoever takes a task sees what it holds");
    });
    model.taken.fetch_add(1, Ordering::Relaxed);
}
