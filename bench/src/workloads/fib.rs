//! `fib`: the 27th Fibonacci number (the 18th in a quick run), computed in the slowest way: each
//! number spawns a child for the number before it, computes the one before that itself, and joins
//! the child. The figure is for one spawn; there are 317,810. The number is checked.

use super::{Entry, Job, Metric, Readings, Workload, both, fibers};
use crate::peers;
use crate::runtimes;
use may::go;
use sinew::fiber;

/// The table of this workload.
pub(super) static WORKLOAD: Workload = Workload {
    name: "fib",
    what: "fib(27), where each node spawns a fiber and joins it",
    single_threaded: false,
    metrics: &[
        Metric { name: "ns", unit: "ns a spawn", lower_is_better: true },
        Metric { name: "cpu_ns", unit: "ns of processor time a spawn", lower_is_better: true },
    ],
    entries: &[
        &fibers(fibers_of),
        &[
            Entry::here(&peers::TOKIO, tokio),
            Entry::here(&peers::MAY, may).deviating(&[("number", "21")]),
            Entry::here(&peers::RAYON, rayon),
            Entry::foreign(&peers::BOOST),
            Entry::foreign(&peers::GO),
        ],
    ],
};

fn fibers_of(job: &Job) -> Readings {
    let runtime = &runtimes::fibers(job);
    fn fib(n: u32) -> u64 {
        if n < 2 {
            return u64::from(n);
        }
        let child = fiber::spawn(move || fib(n - 1));
        let own = fib(n - 2);
        own + child.join().expect("it does not panic")
    }
    numbers(job, number(job), |n| runtime.run(move || fib(n)))
}

fn tokio(job: &Job) -> Readings {
    #[expect(clippy::manual_async_fn, reason = "a future that spawns itself must be declared `Send`")]
    fn fib(n: u32) -> impl Future<Output = u64> + Send {
        async move {
            if n < 2 {
                return u64::from(n);
            }
            let child = tokio::spawn(fib(n - 1));
            let own = Box::pin(fib(n - 2)).await;
            own + child.await.expect("it does not panic")
        }
    }
    let runtime = runtimes::tokio(job.threads);
    numbers(job, number(job), |n| runtimes::in_tokio(&runtime, fib(n)))
}

/// It starts fibers in the order in which they were spawned, so most of them exist at once. A stack
/// of may takes two mappings, of which Linux allows a process 65,530. So there is no room for more
/// than the 17,710 fibers of a smaller number.
fn may(job: &Job) -> Readings {
    fn fib(n: u32) -> u64 {
        if n < 2 {
            return u64::from(n);
        }
        let child = go!(move || fib(n - 1));
        let own = fib(n - 2);
        own + child.join().expect("it does not panic")
    }
    let may = runtimes::may(job.threads);
    numbers(job, number(job).min(21), |n| may.run(move || fib(n)))
}

fn rayon(job: &Job) -> Readings {
    fn fib(n: u32) -> u64 {
        if n < 2 {
            return u64::from(n);
        }
        let (own, child) = rayon::join(|| fib(n - 2), || fib(n - 1));
        own + child
    }
    let pool = runtimes::rayon(job.threads);
    numbers(job, number(job), |n| pool.install(|| fib(n)))
}

/// Returns which number is computed.
fn number(job: &Job) -> u32 {
    if job.pace.is_quick() { 18 } else { 27 }
}

/// Times one spawn. `fib` computes the given number.
fn numbers(job: &Job, n: u32, fib: impl Fn(u32) -> u64) -> Readings {
    let (expected, next) = (1..=n).fold((0, 1), |(last, next), _| (next, last + next));
    let cost = job.pace.cost_per_op(|times| (0..times).for_each(|_| assert_eq!(fib(n), expected)));
    // Each number beyond the first two spawns once, which makes one less than the number after the
    // last.
    both(cost.divided_by(next as usize - 1))
}
