//! Waits inside waits, on a single worker. A pool of threads whose only thread waits would stand
//! still.

use sinew::{Runtime, fiber};

use crate::output::text::{grouped, time};
use crate::stage::Stage;
use crate::stage::chapter::{Chapter, Findings, Outcome, Unit};
use crate::stage::check::check_equal;

pub(super) const CHAPTER: Chapter = Chapter {
    name: "nesting",
    title: "Nested waits on one worker",
    about: "Fibers spawn fibers and wait for them, thousands deep. The runtime has one thread for all of that, and it never blocks.",
    guide: "fibers-and-runtimes.md",
    share: 8,
    run,
};

/// Levels of the tree: 2^10 leaves.
const LEVELS: u32 = 10;

fn run(stage: &Stage<'_>) -> Outcome {
    let runtime = Runtime::builder().name("nesting").workers(1).start()?;
    check_equal("workers", runtime.workers(), 1)?;

    let depth = stage.sizes().depth;
    check_equal("the depth of the chain", runtime.run(move || chain(depth)), depth)?;

    let rounds = stage.repeat(1.0, || check_equal("leaves", runtime.run(|| tree(LEVELS)), 1 << LEVELS))?;
    // A tree of n leaves has 2n - 1 nodes, and all but the root are joined.
    let each = rounds.seconds_each((2 << LEVELS) - 2);
    Ok(Findings::new(format!("{} joins deep on one worker, {} per join", grouped(depth), time(each)))
        .measure("depth of nested joins", depth as f64, Unit::Count)
        .measure("nested spawn and join", each, Unit::Seconds))
}

/// Waits for a fiber that waits for a fiber that ...
fn chain(length: u64) -> u64 {
    match length {
        0 => 0,
        length => 1 + fiber::spawn(move || chain(length - 1)).join().unwrap_or(0),
    }
}

/// Counts the leaves of a tree, each half of it in a fiber.
fn tree(levels: u32) -> u64 {
    if levels == 0 {
        return 1;
    }
    fiber::scope(|scope| {
        let halves = [0, 1].map(|_| scope.spawn(|| tree(levels - 1)));
        halves.map(|half| half.join().unwrap_or(0)).iter().sum()
    })
}
