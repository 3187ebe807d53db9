//! `parked`: a million fibers wait, and then all are woken. The headline is the memory of one, page
//! tables included. Beside it stand the time to spawn one until it waits, and the time to wake one
//! until it has been joined. On the way to the million, the same is measured for the first 100,000.
//! In the end, 100,000 more come and go, which find the memory of those before them, as far as a
//! runtime has kept it; and then 10,000.
//!
//! The peer `faults` is the least that every stack must do: a page touched for each, in a plain
//! mapping. Memory is given back before each part of the fibers, in time that does not count, as
//! [`Reserve`] explains.

use super::{Entry, Job, Metric, Readings, Workload, fibers};
use crate::countdown::Countdown;
use crate::mapping::{self, Mapping, PAGE, Reserve};
use crate::pace::{Cost, cost_of};
use crate::peers;
use crate::runtimes::{self, May};
use crate::usage::memory;
use may::{coroutine, go};
use sinew::fiber;
use std::thread;
use tokio::runtime::Runtime;
use tokio::sync::Notify;

/// How many fibers come at a time.
const PART: usize = 10_000;

/// The table of this workload.
pub(super) static WORKLOAD: Workload = Workload {
    name: "parked",
    what: "1,000,000 fibers parked, then all woken",
    single_threaded: false,
    metrics: &[
        Metric { name: "bytes", unit: "bytes a fiber with page tables", lower_is_better: true },
        Metric { name: "park_ns", unit: "ns a fiber spawned and parked", lower_is_better: true },
        Metric { name: "wake_ns", unit: "ns a fiber woken and finished", lower_is_better: true },
        Metric { name: "park_cpu_ns", unit: "ns of processor time a fiber parked", lower_is_better: true },
        Metric { name: "wake_cpu_ns", unit: "ns of processor time a fiber woken", lower_is_better: true },
        Metric { name: "bytes_100k", unit: "bytes a fiber, of 100,000", lower_is_better: true },
        Metric { name: "park_ns_100k", unit: "ns a fiber parked, of 100,000", lower_is_better: true },
        Metric { name: "wake_ns_100k", unit: "ns a fiber woken, of 100,000", lower_is_better: true },
        Metric { name: "warm_park_ns", unit: "ns a fiber parked, memory warm", lower_is_better: true },
        Metric {
            name: "warm_park_ns_10k",
            unit: "ns a fiber parked, memory warm, of 10,000",
            lower_is_better: true,
        },
    ],
    entries: &[
        &fibers(fibers_of),
        &[
            Entry::here(&peers::TOKIO, tokio),
            Entry::here(&peers::MAY, may).deviating(&[("fibers", "20,000 and 10,000")]),
            Entry::here(&peers::FAULTS, faults),
            Entry::foreign(&peers::BOOST).deviating(&[("fibers", "100,000 and 10,000")]),
            Entry::foreign(&peers::GO),
        ],
    ],
};

/// Fibers that are unparked one by one.
struct Fibers<'a> {
    runtime: &'a sinew::Runtime,
    there: &'static Countdown,
    fibers: Vec<fiber::JoinHandle<()>>,
}

impl Crowd for Fibers<'_> {
    const TAKES: Takes = STACK;

    fn park(&mut self, more: usize) {
        let there = self.there;
        there.set(more);
        let one = move |_| {
            fiber::spawn(move || {
                there.arrive();
                fiber::park();
            })
        };
        self.fibers.extend(self.runtime.run(move || (0..more).map(one).collect::<Vec<_>>()));
        there.wait();
    }

    fn wake(&mut self) {
        let fibers = std::mem::take(&mut self.fibers);
        self.runtime.run(move || {
            fibers.iter().for_each(|one| one.thread().unpark());
            fibers.into_iter().for_each(|one| one.join().expect("it does not panic"));
        });
    }
}

fn fibers_of(job: &Job) -> Readings {
    let runtime = &runtimes::fibers(job);
    stay(counts(job), Fibers { runtime, there: Countdown::leaked(), fibers: Vec::new() })
}

/// How many fibers there are: in the end, and where the smaller figures are measured.
#[derive(Clone, Copy)]
struct Counts {
    many: usize,
    fewer: usize,
}

/// For a quick run, and for peers that cannot have more.
const FEW: Counts = Counts { many: 20_000, fewer: 10_000 };

fn counts(job: &Job) -> Counts {
    if job.pace.is_quick() { FEW } else { Counts { many: 1_000_000, fewer: 100_000 } }
}

/// About what one fiber takes. This amount is held ready for each.
#[derive(Clone, Copy)]
struct Takes {
    /// The size of the whole pages for a part of the fibers.
    bytes: usize,
    /// How far these pages are apart.
    stride: usize,
}

/// A fiber that uses one page of its stack: that page, and what its runtime keeps for it.
const STACK: Takes = Takes { bytes: PAGE + PAGE / 8, stride: STRIDE };

/// A stack of 128 KiB, with its guard and its colour page.
const STRIDE: usize = 128 * 1024 + 2 * PAGE;

/// The fibers of a runtime.
trait Crowd {
    /// What one of them takes.
    const TAKES: Takes;

    /// One of the fibers spawns `more` fibers, and waits until all of them wait.
    fn park(&mut self, more: usize);

    /// One of the fibers wakes all of them and joins them.
    fn wake(&mut self);
}

/// Measures all figures of a runtime.
fn stay<C: Crowd>(counts: Counts, mut crowd: C) -> Readings {
    let Counts { many, fewer } = counts;
    let mut readings = arrival(counts, C::TAKES, |more| crowd.park(more));
    let wake = cost_of(|| crowd.wake()).divided_by(many);
    let warm = cost_of(|| crowd.park(fewer)).divided_by(fewer);
    let wake_fewer = cost_of(|| crowd.wake()).divided_by(fewer);
    let warm_part = cost_of(|| crowd.park(PART)).divided_by(PART);
    crowd.wake();
    readings.extend([("wake_ns", wake.ns), ("wake_cpu_ns", wake.cpu_ns), ("wake_ns_100k", wake_fewer.ns)]);
    readings.extend([("warm_park_ns", warm.ns), ("warm_park_ns_10k", warm_part.ns)]);
    readings
}

/// Measures the arrival of fibers. One takes about `one`, and `park` makes the given number arrive.
fn arrival(counts: Counts, one: Takes, mut park: impl FnMut(usize)) -> Readings {
    let Counts { many, fewer } = counts;
    let before = memory();
    let mut reserve = Reserve::new(one.bytes * many, one.stride);
    let reserved = memory() - before;
    let mut spent = Cost::default();
    let mut readings = Vec::new();
    for there in (PART..=many).step_by(PART) {
        reserve.release(one.bytes * PART);
        spent = spent.plus(cost_of(|| park(PART)));
        let still_reserved = reserved * (many - there) as f64 / many as f64;
        let bytes = || (memory() - before - still_reserved) / there as f64;
        let Cost { ns, cpu_ns } = spent.divided_by(there);
        if there == fewer {
            readings.extend([("bytes_100k", bytes()), ("park_ns_100k", ns)]);
        }
        if there == many {
            readings.extend([("bytes", bytes()), ("park_ns", ns), ("park_cpu_ns", cpu_ns)]);
        }
    }
    readings
}

/// Tasks that wait for one notice to all.
struct Tasks {
    runtime: Runtime,
    /// Never freed, like the countdown: so the tasks share it without counting references.
    gate: &'static Notify,
    there: &'static Countdown,
    tasks: Vec<tokio::task::JoinHandle<()>>,
}

impl Crowd for Tasks {
    const TAKES: Takes = Takes { bytes: PAGE / 8, stride: PAGE };

    fn park(&mut self, more: usize) {
        let (gate, there) = (self.gate, self.there);
        there.set(more);
        let spawned = runtimes::in_tokio(&self.runtime, async move {
            let task = || async {
                // From here on, it gets every notice.
                let notice = gate.notified();
                there.arrive();
                notice.await;
            };
            (0..more).map(|_| tokio::spawn(task())).collect::<Vec<_>>()
        });
        self.tasks.extend(spawned);
        there.wait();
    }

    fn wake(&mut self) {
        let (gate, tasks) = (self.gate, std::mem::take(&mut self.tasks));
        runtimes::in_tokio(&self.runtime, async move {
            gate.notify_waiters();
            for task in tasks {
                task.await.expect("it does not panic");
            }
        });
    }
}

fn tokio(job: &Job) -> Readings {
    let (runtime, gate) = (runtimes::tokio(job.threads), Box::leak(Box::new(Notify::new())));
    stay(counts(job), Tasks { runtime, gate, there: Countdown::leaked(), tasks: Vec::new() })
}

/// Coroutines that are unparked one by one.
struct Coroutines {
    may: May,
    there: &'static Countdown,
    coroutines: Vec<coroutine::JoinHandle<()>>,
}

impl Crowd for Coroutines {
    /// It writes to the lowest page of each stack of 32 KiB too.
    const TAKES: Takes = Takes { bytes: 2 * STACK.bytes, stride: 4 * PAGE };

    fn park(&mut self, more: usize) {
        let there = self.there;
        there.set(more);
        let one = move |_| {
            go!(move || {
                there.arrive();
                coroutine::park();
            })
        };
        self.coroutines.extend(self.may.run(move || (0..more).map(one).collect::<Vec<_>>()));
        there.wait();
    }

    fn wake(&mut self) {
        let coroutines = std::mem::take(&mut self.coroutines);
        self.may.run(move || {
            coroutines.iter().for_each(|one| one.coroutine().unpark());
            coroutines.into_iter().for_each(|one| one.join().expect("it does not panic"));
        });
    }
}

/// A stack of may takes two mappings, of which Linux allows a process 65,530. So there is no room
/// for more than a few.
fn may(job: &Job) -> Readings {
    let (may, there) = (runtimes::may(job.threads), Countdown::leaked());
    stay(FEW, Coroutines { may, there, coroutines: Vec::new() })
}

/// As many threads as there are workers touch the pages.
fn faults(job: &Job) -> Readings {
    let counts = counts(job);
    let mapping = Mapping::new(STRIDE * counts.many);
    let touch = |index| mapping::write_below(mapping.start().wrapping_add((index + 1) * STRIDE));
    let mut there = 0;
    arrival(counts, STACK, |more| {
        let share = |thread| there + more * thread / job.threads..there + more * (thread + 1) / job.threads;
        thread::scope(|scope| {
            for thread in 0..job.threads {
                let (touch, share) = (&touch, share(thread));
                scope.spawn(move || share.for_each(touch));
            }
        });
        there += more;
    })
}
