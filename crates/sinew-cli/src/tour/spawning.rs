//! Spawn and join, with fibers and with OS threads. The code is the same.

use sinew::{Runtime, fiber};
use std::thread;

use crate::output::text::time;
use crate::stage::Stage;
use crate::stage::chapter::{Chapter, Findings, Outcome, Unit};
use crate::stage::check::check_equal;

pub(super) const CHAPTER: Chapter = Chapter {
    name: "spawn",
    title: "Spawn and join, beside OS threads",
    about: "The same function, once with std::thread and once with sinew::fiber.",
    guide: "from-threads.md",
    share: 8,
    run,
};

/// A number of threads at a time that stays below any limit.
const THREADS: u64 = 32;

const FIBERS: u64 = 1_000;

fn run(stage: &Stage<'_>) -> Outcome {
    let threads =
        stage.repeat(0.5, || check_equal("the sum of threads", with_threads(), sum_below(THREADS)))?;
    let runtime = Runtime::builder().name("spawn").start()?;
    let fibers = stage
        .repeat(0.5, || check_equal("the sum of fibers", runtime.run(with_fibers), sum_below(FIBERS)))?;
    // One more fiber in each round runs `with_fibers`.
    check_equal("fibers that ended", runtime.stats().finished, fibers.count * (FIBERS + 1))?;

    let (thread, fiber) = (threads.seconds_each(THREADS), fibers.seconds_each(FIBERS));
    Ok(Findings::new(format!("{} for a fiber, {} for a thread", time(fiber), time(thread)))
        .note(format!("{:.0} fibers in the time of one thread", thread / fiber))
        .measure("fiber, spawn and join", fiber, Unit::Seconds)
        .measure("OS thread, spawn and join", thread, Unit::Seconds))
}

fn with_threads() -> u64 {
    let threads: Vec<_> = (0..THREADS).map(|number| thread::spawn(move || number)).collect();
    threads.into_iter().map(|thread| thread.join().unwrap_or(0)).sum()
}

fn with_fibers() -> u64 {
    let fibers: Vec<_> = (0..FIBERS).map(|number| fiber::spawn(move || number)).collect();
    fibers.into_iter().map(|fiber| fiber.join().unwrap_or(0)).sum()
}

fn sum_below(count: u64) -> u64 {
    count * (count - 1) / 2
}
