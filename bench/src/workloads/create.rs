//! `create`: the whole life of a bare coroutine on an existing stack. It is made, runs to its end
//! without suspending, and is taken apart, so that the stack can serve the next one. Each life
//! returns its number; the numbers are added up and checked.

use super::{Entry, Job, Metric, Readings, STACK_BYTES, Workload, check_sum};
use crate::peers;
use crate::ucontext::Swap;
use corosensei::stack::DefaultStack;
use generator::Gn;
use sinew_coroutine::MmapStack;

/// The table of this workload.
pub(super) static WORKLOAD: Workload = Workload {
    name: "create",
    what: "create + run + finish of a bare coroutine, stack reused",
    single_threaded: true,
    metrics: &[Metric { name: "ns", unit: "ns a coroutine", lower_is_better: true }],
    entries: &[&[
        Entry::here(&peers::SINEW, sinew),
        Entry::here(&peers::COROSENSEI, corosensei),
        Entry::here(&peers::GENERATOR, generator),
        Entry::here(&peers::SWAPCONTEXT, swapcontext),
        Entry::foreign(&peers::BOOST),
        Entry::foreign(&peers::GO),
        Entry::foreign(&peers::JAVA).deviating(&[("api", "jdk.internal.vm.Continuation")]),
    ]],
};

fn sinew(job: &Job) -> Readings {
    use sinew_coroutine::{Coroutine, CoroutineState, Suspender};
    let stack = MmapStack::new(STACK_BYTES).expect("memory for a stack");
    lives(job, stack, |stack, i| {
        let mut life = Coroutine::new(stack, move |_: &Suspender<(), ()>, ()| i);
        let CoroutineState::Complete(value) = life.resume(()) else { unreachable!("it does not suspend") };
        let Ok(stack) = life.into_stack() else { unreachable!("it is done") };
        (stack, value)
    })
}

fn corosensei(job: &Job) -> Readings {
    use corosensei::{Coroutine, CoroutineResult, Yielder};
    let stack = DefaultStack::new(STACK_BYTES).expect("memory for a stack");
    lives(job, stack, |stack, i| {
        let mut life = Coroutine::with_stack(stack, move |_: &Yielder<(), ()>, ()| i);
        let CoroutineResult::Return(value) = life.resume(()) else { unreachable!("it does not suspend") };
        (life.into_stack(), value)
    })
}

/// This library has no stack to take out. A generator that is done gets new code instead, on its
/// stack.
fn generator(job: &Job) -> Readings {
    let mut first = Gn::<()>::new_scoped_opt(STACK_BYTES / size_of::<usize>(), |_| 0_u64);
    first.resume();
    lives(job, first, |mut life, i| {
        life.scoped_init(move |_| i);
        let value = life.resume().expect("it returns a value");
        (life, value)
    })
}

fn swapcontext(job: &Job) -> Readings {
    lives(job, Swap::new(STACK_BYTES, |link| link.received()), |mut life, i| {
        life.begin();
        let value = life.resume(i);
        (life, value)
    })
}

/// Times `life`, which gets the stack (or what holds it) and a number, and returns both.
fn lives<S>(job: &Job, stack: S, mut life: impl FnMut(S, u64) -> (S, u64)) -> Readings {
    let mut start = 0;
    let mut kept = Some(stack);
    let ns = job.pace.ns_per_op(|n| {
        let stack = kept.take().expect("put back after each batch");
        let (stack, sum) = one_after_another(stack, start..start + n, &mut life);
        kept = Some(stack);
        check_sum(sum, start, n);
        start += n;
    });
    vec![("ns", ns)]
}

/// The loop that is timed. It is kept out of line so that warm-up and measurement run the same
/// copy.
#[inline(never)]
fn one_after_another<S>(
    mut stack: S,
    numbers: std::ops::Range<u64>,
    life: &mut impl FnMut(S, u64) -> (S, u64),
) -> (S, u64) {
    let mut sum = 0_u64;
    for i in numbers {
        let value;
        (stack, value) = life(stack, i);
        sum = sum.wrapping_add(value);
    }
    (stack, sum)
}
