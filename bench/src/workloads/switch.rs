//! `switch`: resume and suspend of a bare coroutine. The coroutine passes out 0, 1, 2, ...; nothing
//! is passed in. The metric is the time of one way, half a round trip. The optimiser cannot see
//! through any of these switches, and the numbers are added up and checked, so no round trip can be
//! left out.

use super::{Entry, Job, Metric, Readings, STACK_BYTES, Workload, check_sum};
use crate::peers;
use crate::ucontext::Swap;
use corosensei::stack::DefaultStack;
use generator::Gn;
use sinew_coroutine::MmapStack;

/// The table of this workload.
pub(super) static WORKLOAD: Workload = Workload {
    name: "switch",
    what: "resume + suspend of a bare coroutine",
    single_threaded: true,
    metrics: &[Metric { name: "ns", unit: "ns one way", lower_is_better: true }],
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
    let mut counter = Coroutine::new(stack, |suspender: &Suspender<(), u64>, ()| {
        for i in 0.. {
            suspender.suspend(i);
        }
    });
    round_trips(job, || match counter.resume(()) {
        CoroutineState::Yielded(i) => i,
        CoroutineState::Complete(()) => unreachable!("the counter does not end"),
    })
}

fn corosensei(job: &Job) -> Readings {
    use corosensei::{Coroutine, CoroutineResult, Yielder};
    let stack = DefaultStack::new(STACK_BYTES).expect("memory for a stack");
    let mut counter = Coroutine::with_stack(stack, |yielder: &Yielder<(), u64>, ()| {
        for i in 0.. {
            yielder.suspend(i);
        }
    });
    round_trips(job, || match counter.resume(()) {
        CoroutineResult::Yield(i) => i,
        CoroutineResult::Return(()) => unreachable!("the counter does not end"),
    })
}

/// The scoped generator is the one that its documentation shows first. It takes the size of the
/// stack in words.
fn generator(job: &Job) -> Readings {
    let mut counter = Gn::<()>::new_scoped_opt(STACK_BYTES / size_of::<usize>(), |mut scope| {
        for i in 0_u64.. {
            scope.yield_(i);
        }
        generator::done!()
    });
    round_trips(job, || counter.resume().expect("the counter does not end"))
}

fn swapcontext(job: &Job) -> Readings {
    let mut counter = Swap::new(STACK_BYTES, |link| {
        for i in 0.. {
            link.suspend(i);
        }
        unreachable!("the counter does not end")
    });
    counter.begin();
    round_trips(job, || counter.resume(0))
}

/// Times `resume`, which returns the counter's next number.
fn round_trips(job: &Job, mut resume: impl FnMut() -> u64) -> Readings {
    let mut start = 0;
    let round_trip = job.pace.ns_per_op(|n| {
        check_sum(pull(n, &mut resume), start, n);
        start += n;
    });
    vec![("ns", round_trip / 2.0)]
}

/// The loop that is timed. It is kept out of line so that warm-up and measurement run the same
/// copy.
#[inline(never)]
fn pull(n: u64, resume: &mut impl FnMut() -> u64) -> u64 {
    let mut sum = 0_u64;
    for _ in 0..n {
        sum = sum.wrapping_add(resume());
    }
    sum
}
