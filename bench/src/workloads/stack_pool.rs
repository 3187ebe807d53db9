//! `stack_pool`: a stack is taken from a warm pool and returned. The headline goes through a
//! thread's cache. Beside it stand the shared pool without a cache, the life of a coroutine (made,
//! run, ended) on a stack of the cache, the time to clear a stack of which one page was used, and
//! the time to read its high-water mark. Peers without a pool map and unmap a stack each time, as
//! their users do.

use super::{Entry, Job, Metric, Readings, STACK_BYTES, Workload};
use crate::peers;
use std::hint::black_box;

/// The table of this workload.
pub(super) static WORKLOAD: Workload = Workload {
    name: "stack_pool",
    what: "acquire + release of a pooled stack",
    single_threaded: true,
    metrics: &[
        Metric { name: "ns", unit: "ns a stack", lower_is_better: true },
        Metric { name: "shared_ns", unit: "ns a stack, without a cache", lower_is_better: true },
        Metric { name: "life_ns", unit: "ns a coroutine on a pooled stack", lower_is_better: true },
        Metric { name: "mark_ns", unit: "ns a high-water mark, cleared and read", lower_is_better: true },
    ],
    entries: &[&[
        Entry::here(&peers::SINEW, sinew),
        Entry::here(&peers::COROSENSEI, corosensei).deviating(&[("stack", "mapped each time")]),
    ]],
};

fn sinew(job: &Job) -> Readings {
    use sinew_coroutine::{Coroutine, CoroutineState, Stack, StackPool, Suspender};
    let pool = StackPool::new();
    let mut cache = pool.cache();
    let ns = job.pace.ns_per_op(|n| {
        for _ in 0..n {
            let stack = black_box(cache.acquire(STACK_BYTES).expect("a stack"));
            cache.release(stack);
        }
    });
    let shared_ns = job.pace.ns_per_op(|n| {
        for _ in 0..n {
            drop(black_box(pool.acquire(STACK_BYTES).expect("a stack")));
        }
    });
    let life_ns = job.pace.ns_per_op(|n| {
        for i in 0..n {
            let stack = cache.acquire(STACK_BYTES).expect("a stack");
            let mut life = Coroutine::new(stack, move |_: &Suspender<(), ()>, ()| i);
            let CoroutineState::Complete(value) = life.resume(()) else {
                unreachable!("it does not suspend")
            };
            assert_eq!(value, i);
            let Ok(stack) = life.into_stack() else { unreachable!("it is done") };
            cache.release(stack);
        }
    });
    let mut marked = cache.acquire(STACK_BYTES).expect("a stack");
    let mark_ns = job.pace.ns_per_op(|n| {
        for _ in 0..n {
            sinew_coroutine::clear_used(&mut marked);
            crate::mapping::write_below(marked.top().as_ptr());
            black_box(sinew_coroutine::high_water(&marked));
        }
    });
    vec![("ns", ns), ("shared_ns", shared_ns), ("life_ns", life_ns), ("mark_ns", mark_ns)]
}

fn corosensei(job: &Job) -> Readings {
    use corosensei::stack::DefaultStack;
    let ns = job.pace.ns_per_op(|n| {
        for _ in 0..n {
            drop(black_box(DefaultStack::new(STACK_BYTES).expect("a stack")));
        }
    });
    vec![("ns", ns)]
}
