//! A million fibers that wait at the same time, each on a stack of its own.

use std::sync::Arc;
use std::time::{Duration, Instant};

use sinew::fiber::JoinHandle;
use sinew::runtime::Handle;
use sinew::sync::Event;
use sinew::{Runtime, RuntimeStats};

use crate::machine::memory::resident;
use crate::output::text::{bytes, counted, grouped, time};
use crate::stage::Stage;
use crate::stage::chapter::{Chapter, Findings, Outcome, Unit};
use crate::stage::check::{check, check_equal};

pub(super) const CHAPTER: Chapter = Chapter {
    name: "fibers",
    title: "A million fibers",
    about: "Each fiber has a stack of its own and waits for one event. Then all go on, and their results are summed.",
    guide: "fibers-and-runtimes.md",
    share: 44,
    run,
};

/// Few enough for a bar that moves.
const BATCH: u64 = 10_000;

fn run(stage: &Stage<'_>) -> Outcome {
    let runtime = Runtime::builder().name("million").start()?;
    let gate = Arc::new(Event::manual());
    let wanted = stage.sizes().fibers;
    let before = resident();

    let bar = stage.bar(wanted);
    let began = Instant::now();
    let mut fibers: Vec<JoinHandle<u64>> = Vec::new();
    while (fibers.len() as u64) < wanted && has_room(&runtime, began, stage.time()) {
        let first = fibers.len() as u64;
        let numbers = first..wanted.min(first + BATCH);
        fibers.extend(runtime.spawn_batch(numbers.map(|number| {
            let gate = gate.clone();
            move || {
                gate.wait();
                number
            }
        })));
        wait_until_parked(&runtime, fibers.len() as u64);
        bar.set(fibers.len() as u64);
    }
    drop(bar);
    let (spawning, alive) = (began.elapsed(), runtime.stats().parked);
    let memory = resident().zip(before).map(|(after, before)| after.saturating_sub(before));

    let count = fibers.len() as u64;
    gate.set();
    let began = Instant::now();
    let sum: u64 = fibers.into_iter().map(|fiber| fiber.join().unwrap_or(0)).sum();
    let ending = began.elapsed();

    check_equal("the sum of all results", sum, count * (count - 1) / 2)?;
    let RuntimeStats { starved, finished, live, .. } = runtime.stats();
    check_equal("fibers that ended, and that are left", (finished, live), (count, 0))?;
    check(alive == count || starved > 0, || format!("{alive} of {count} fibers waited at the same time"))?;
    let each = memory.unwrap_or(0) / alive.max(1);
    let seconds = spawning.as_secs_f64();
    Ok(Findings::new(format!("{} alive at once, {} of memory each", counted(alive, "fiber"), bytes(each)))
        .note(format!("spawned in {}, ended in {}", time(seconds), time(ending.as_secs_f64())))
        .note(why_so_many(stage, alive, starved))
        .measure("fibers alive at once", alive as f64, Unit::Count)
        .measure("memory of a waiting fiber", each as f64, Unit::Bytes)
        .measure("fiber until its first wait", seconds / count as f64, Unit::Seconds))
}

/// Whether more fibers fit: into the time of this chapter, and into the memory for stacks.
fn has_room(runtime: &Handle, began: Instant, time: Duration) -> bool {
    began.elapsed() < time.mul_f64(0.9) && runtime.stats().starved == 0
}

/// Waits until all fibers wait, or some of them wait for a stack first.
fn wait_until_parked(runtime: &Handle, count: u64) {
    while runtime.stats().parked < count && runtime.stats().starved == 0 {
        std::thread::sleep(Duration::from_micros(100));
    }
}

/// What set the number of fibers.
fn why_so_many(stage: &Stage<'_>, alive: u64, starved: u64) -> String {
    let planned = stage.sizes().fibers;
    match (alive < planned, starved > 0) {
        (false, _) => stage.sizes().fibers_by.to_owned(),
        (true, true) => format!("{} were planned, but there was no memory for more stacks", grouped(planned)),
        (true, false) => format!("{} were planned, but the time for this chapter was over", grouped(planned)),
    }
}
