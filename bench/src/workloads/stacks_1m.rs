//! `stacks_1m`: a million guarded stacks of 128 KiB, one page of each touched. The headline is the
//! time of one, beside the bare page fault that it cannot avoid (the peer `faults`: the same pages
//! in a plain mapping). Both find memory that was given back just before. Further figures: the
//! memory of a stack, page tables included; how much of that trimming gives back; and the time of
//! one when there are fewer of them.

use super::{Entry, Job, Metric, Readings, Workload};
use crate::mapping::{Mapping, PAGE, Reserve};
use crate::peers;
use crate::usage::memory;
use sinew_coroutine::{PooledStack, Stack, StackCache, StackPool};
use std::time::{Duration, Instant};

const SIZE: usize = 128 * 1024;

/// From one stack to the next, including the guard and the page of colours.
const STRIDE: usize = SIZE + 2 * PAGE;

/// How many stacks are made at a time.
const PART: usize = 10_000;

/// The largest number of stacks that is measured besides the million, and the smallest number of
/// which any figure is the mean.
const LARGEST_SMALL: usize = 100_000;

/// The table of this workload.
pub(super) static WORKLOAD: Workload = Workload {
    name: "stacks_1m",
    what: "1,000,000 guarded 128 KiB stacks, one page touched each",
    single_threaded: true,
    metrics: &[
        Metric { name: "ns", unit: "ns a stack", lower_is_better: true },
        Metric { name: "bytes", unit: "bytes a stack with page tables", lower_is_better: true },
        Metric { name: "back_percent", unit: "% given back by trimming", lower_is_better: false },
        Metric { name: "ns_1k", unit: "ns a stack, of 1,000", lower_is_better: true },
        Metric { name: "ns_10k", unit: "ns a stack, of 10,000", lower_is_better: true },
        Metric { name: "ns_100k", unit: "ns a stack, of 100,000", lower_is_better: true },
        Metric { name: "ns_1000k", unit: "ns a stack, of 1,000,000", lower_is_better: true },
    ],
    entries: &[&[Entry::here(&peers::SINEW, sinew), Entry::here(&peers::FAULTS, faults)]],
};

/// Returns a million, or a few in a quick run, which is labelled.
fn count(job: &Job) -> usize {
    if job.pace.is_quick() { 20_000 } else { 1_000_000 }
}

fn sinew(job: &Job) -> Readings {
    let mut readings = the_million(job);
    let smaller = [("ns_1k", 1_000), ("ns_10k", 10_000), ("ns_100k", LARGEST_SMALL)];
    for (name, some) in smaller.into_iter().filter(|(_, some)| *some < count(job)) {
        readings.push((name, several_fills(some)));
    }
    readings
}

/// What is held ready for each stack: its page, and a little for the pool's own data.
const RESERVED: usize = PAGE + PAGE / 16;

fn reserve(job: &Job) -> Reserve {
    Reserve::new(RESERVED * count(job), STRIDE)
}

/// Calls `one` for every index. Before each part it gives back memory for it, in time that does not
/// count. Returns the nanoseconds of one call.
fn in_parts(job: &Job, reserve: &mut Reserve, mut one: impl FnMut(usize)) -> f64 {
    let mut spent = Duration::ZERO;
    for first in (0..count(job)).step_by(PART) {
        reserve.release(RESERVED * PART);
        let start = Instant::now();
        (first..first + PART).for_each(&mut one);
        spent += start.elapsed();
    }
    spent.as_nanos() as f64 / count(job) as f64
}

fn the_million(job: &Job) -> Readings {
    let pool = StackPool::builder().keep(0..=usize::MAX).build();
    let mut stacks = Vec::with_capacity(count(job));
    let before = memory();
    let mut reserve = reserve(job);
    let mut cache = pool.cache();
    let ns = in_parts(job, &mut reserve, |_| take(&mut cache, &mut stacks));
    drop(cache);
    // The reserve is empty now: in its place, this process holds stacks.
    let gained = memory() - before;
    drop(stacks);
    pool.trim();
    let left = memory() - before;
    let mut readings = vec![("ns", ns)];
    readings.extend((count(job) == 1_000_000).then_some(("ns_1000k", ns)));
    readings.push(("bytes", gained / count(job) as f64));
    readings.push(("back_percent", 100.0 * (1.0 - left / gained)));
    readings
}

/// Returns the nanoseconds of a stack when there are `count` of them. A few stacks are made in a
/// few milliseconds, in which noise of other processes weighs much. So they are made again and
/// again, each time from nothing.
fn several_fills(count: usize) -> f64 {
    let rounds = LARGEST_SMALL / count;
    let one = || {
        let pool = StackPool::new();
        let (mut cache, mut stacks) = (pool.cache(), Vec::with_capacity(count));
        let start = Instant::now();
        (0..count).for_each(|_| take(&mut cache, &mut stacks));
        start.elapsed().as_nanos() as f64 / count as f64
    };
    (0..rounds).map(|_| one()).sum::<f64>() / rounds as f64
}

/// Takes a stack and touches it.
fn take(cache: &mut StackCache, stacks: &mut Vec<PooledStack>) {
    let stack = cache.acquire(SIZE).expect("a stack");
    touch(stack.top().as_ptr());
    stacks.push(stack);
}

fn faults(job: &Job) -> Readings {
    let mapping = Mapping::new(STRIDE * count(job));
    let mut reserve = reserve(job);
    let ns = in_parts(job, &mut reserve, |index| touch(mapping.start().wrapping_add((index + 1) * STRIDE)));
    vec![("ns", ns)]
}

/// Writes the byte below an address, as the first push to a stack would.
fn touch(top: *mut u8) {
    crate::mapping::write_below(top);
}
