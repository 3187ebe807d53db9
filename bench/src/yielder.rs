//! Tasks of our pool that only yield, and take no memory for it: what a fiber does, without the
//! fiber.
//!
//! # Safety
//!
//! This file is trusted with the tasks' headers. Each is the beginning of a [`Yielder`] that is
//! never freed, and has one [`TaskRef`] at a time: that of [`Yielders::start`], or that which its
//! run makes once the previous one is used up.
#![expect(unsafe_code, reason = "a task is an untyped pointer with functions")]

use crate::countdown::Countdown;
use sinew_sched::{Context, Header, TaskRef, Vtable};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

/// Where a task goes when it yields.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Yields {
    /// To a queue from which any worker may take it.
    ToAnyone,
    /// To the end of the ready list of its own core.
    Here,
}

/// One task. It has a cache line of its own, as if it had a stack: neighbours may run on different
/// workers.
///
/// # Invariant
///
/// The header is first, so that a pointer to it is one to the whole.
#[repr(C, align(64))]
struct Yielder {
    header: Header,
    /// The number of yields to come. Only the worker that runs the task touches it. It is atomic so
    /// that safe code may.
    left: AtomicU32,
    done: &'static Countdown,
}

static TO_ANYONE: Vtable = Vtable { run: run_anywhere, discard, settles: false };
static HERE: Vtable = Vtable { run: run_here, discard, settles: false };

impl Yielder {
    fn new(yields: Yields, done: &'static Countdown) -> Self {
        let vtable = if yields == Yields::Here { &HERE } else { &TO_ANYONE };
        Self { header: Header::new(vtable), left: AtomicU32::new(0), done }
    }

    /// # Safety
    ///
    /// No other `TaskRef` of it exists.
    unsafe fn task(&'static self) -> TaskRef {
        // SAFETY: it is never freed, and its functions may be called on any thread. The caller
        // promises the rest.
        unsafe { TaskRef::from_raw(NonNull::from(self).cast()) }
    }

    /// Returns its next turn, if there is one.
    fn turn(&'static self) -> Option<TaskRef> {
        let left = self.left.load(Ordering::Relaxed);
        if left == 0 {
            self.done.arrive();
            return None;
        }
        self.left.store(left - 1, Ordering::Relaxed);
        // SAFETY: only its run calls this, which has used up the previous `TaskRef`.
        Some(unsafe { self.task() })
    }
}

/// # Safety
///
/// The header is that of a `Yielder`.
unsafe fn yielder(header: NonNull<Header>) -> &'static Yielder {
    // SAFETY: the caller's promise and the type's invariant hold, and it is never freed.
    unsafe { header.cast().as_ref() }
}

unsafe fn run_anywhere(header: NonNull<Header>, context: &Context<'_>) {
    // SAFETY: called through the vtable of a `Yielder`.
    let yielder = unsafe { yielder(header) };
    if let Some(task) = yielder.turn() {
        context.yield_to_others(task);
    }
}

unsafe fn run_here(header: NonNull<Header>, context: &Context<'_>) {
    // SAFETY: called through the vtable of a `Yielder`.
    let yielder = unsafe { yielder(header) };
    if let Some(task) = yielder.turn() {
        context.core().push(task);
    }
}

unsafe fn discard(header: NonNull<Header>) {
    // SAFETY: called through the vtable of a `Yielder`.
    let yielder = unsafe { yielder(header) };
    yielder.done.arrive();
}

/// A number of yielding tasks. The thread that made them waits for them.
pub(crate) struct Yielders {
    all: &'static [Yielder],
    done: &'static Countdown,
}

impl Yielders {
    /// Makes `count` tasks that yield in this way.
    pub(crate) fn new(count: usize, yields: Yields) -> Self {
        let done = Countdown::leaked();
        Self { all: (0..count).map(|_| Yielder::new(yields, done)).collect::<Vec<_>>().leak(), done }
    }

    /// Returns the tasks, each of which yields `yields` times once it is submitted. All of them
    /// must be submitted.
    pub(crate) fn start(&mut self, yields: u32) -> impl Iterator<Item = TaskRef> + use<> {
        assert!(self.done.is_over(), "they are started again before they have ended");
        self.done.set(self.all.len());
        self.all.iter().map(move |yielder| {
            yielder.left.store(yields, Ordering::Relaxed);
            // SAFETY: all tasks have ended, so no `TaskRef` is left from before.
            unsafe { yielder.task() }
        })
    }

    /// Waits until all have ended.
    pub(crate) fn wait(&self) {
        self.done.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::{Yielders, Yields};
    use crate::runtimes;
    use sinew_sched::{Placement, Pool};

    #[test]
    fn each_runs_once_and_then_for_each_yield() {
        let pool = Pool::builder().workers(2).build().expect("a pool");
        for (yields, rounds) in [(Yields::ToAnyone, 3), (Yields::Here, 2)] {
            let before = pool.stats().tasks();
            let mut yielders = Yielders::new(10, yields);
            for _ in 0..rounds {
                pool.handle().submit_batch(yielders.start(7), Placement::Anyone).expect("it is open");
                yielders.wait();
            }
            // The last task of a round is counted a moment after it has arrived.
            while pool.stats().tasks() < before + rounds * 10 * 8 {}
            assert_eq!(pool.stats().tasks(), before + rounds * 10 * 8);
        }
        runtimes::end_sinew(pool);
    }
}
