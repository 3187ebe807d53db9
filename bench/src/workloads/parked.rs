//! `parked`: a million fibers that wait, and then all of them woken. The headline is what one takes, page tables included;
//! beside it stand the times of spawning one until it waits, and of waking one until it has been joined. On the way to the
//! million, the same is read of the first 100,000; and in the end 100,000 more come and go, who find the memory of those
//! before them, as far as a runtime has kept it; and then 10,000.
//!
//! The peer `faults` is what no stack can do without: a page touched for each, in a plain mapping. Memory is given back
//! before each part of the fibers, in time that does not count, as [`Reserve`] explains.

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

/// How many fibers there are: in the end, and where the smaller figures are read.
#[derive(Clone, Copy)]
struct Counts {
    many: usize,
    fewer: usize,
}

/// For a quick look, and for whoever cannot have more.
const FEW: Counts = Counts { many: 20_000, fewer: 10_000 };

fn counts(job: &Job) -> Counts {
    if job.pace.is_quick() { FEW } else { Counts { many: 1_000_000, fewer: 100_000 } }
}

/// About what one fiber takes. So much is held ready for each.
#[derive(Clone, Copy)]
struct Takes {
    /// Whole pages for a part of them.
    bytes: usize,
    /// How far these pages lie from one another.
    stride: usize,
}

/// Of one that uses one page of its stack: that page, and what its runtime remembers of it.
const STACK: Takes = Takes { bytes: PAGE + PAGE / 8, stride: STRIDE };

/// A stack of 128 KiB, with its guard and its colour page.
const STRIDE: usize = 128 * 1024 + 2 * PAGE;

/// The fibers of a runtime.
trait Crowd {
    /// What one of them takes.
    const TAKES: Takes;

    /// Has so many more spawned by one of them, and waits until all are there.
    fn park(&mut self, more: usize);

    /// Has all that are there woken by one of them, and joined.
    fn wake(&mut self);
}

/// All figures of a runtime.
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

/// The figures of those that come, where one takes about so much, and `park` makes some come.
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
    /// Never freed, as the countdown: they share it for nothing.
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
                // It hears every notice from here on.
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
    /// Of each stack of 32 KiB, it writes to the lowest page too.
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

/// A stack of may's is two mappings, of which Linux lets a process have 65,530: there is no room for more than a few.
fn may(job: &Job) -> Readings {
    let (may, there) = (runtimes::may(job.threads), Countdown::leaked());
    stay(FEW, Coroutines { may, there, coroutines: Vec::new() })
}

/// As many threads as there are workers share in the touching.
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
