//! The texts of stall reports.

use std::fmt::Write as _;
use std::time::Duration;

use super::super::engine::Engine;
use crate::rt::fiber::Leak;

const ADVICE: &str = "  A fiber that blocks its thread (a lock or channel of std, std::thread::sleep, a system call) or computes for long stops all \
                      others of its worker: use what sinew has in their place, make such calls inside `sinew::blocking`, or call `fiber::yield_now` now and then.\n";

/// Returns the report that every worker is stuck.
pub(super) fn of_all(engine: &Engine, waiting: usize, time: Duration) -> String {
    let (name, workers, fibers) = (&engine.settings.name, engine.workers(), fibers(waiting));
    let first = format!(
        "sinew: every worker of runtime '{name}' is stuck: none of {workers} has let another fiber run for {}, and {waiting} {fibers} for that.\n",
        seconds(time),
    );
    with_fibers(first, engine.host().census.running().as_deref())
}

/// Returns the report that one worker is stuck, and others are not.
pub(super) fn of_one(engine: &Engine, worker: u32, waiting: usize, time: Duration) -> String {
    let name = &engine.settings.name;
    let fibers = fibers(waiting);
    let first = format!(
        "sinew: worker {worker} of runtime '{name}' is stuck: it has let no other fiber run for {}, and {waiting} {fibers} for it.\n",
        seconds(time),
    );
    let running = engine.host().census.running();
    let here =
        running.map(|fibers| fibers.into_iter().filter(|fiber| fiber.worker == worker).collect::<Vec<_>>());
    with_fibers(first, here.as_deref())
}

fn fibers(waiting: usize) -> &'static str {
    if waiting == 1 { "fiber waits" } else { "fibers wait" }
}

fn seconds(time: Duration) -> String {
    if time < Duration::from_secs(1) {
        format!("{} ms", time.as_millis())
    } else {
        format!("{:.1} s", time.as_secs_f64())
    }
}

fn with_fibers(mut text: String, running: Option<&[Leak]>) -> String {
    match running {
        Some(fibers) => fibers.iter().for_each(|fiber| describe(&mut text, fiber)),
        None => text.push_str("  what they run is not known: the kernel has refused a membarrier\n"),
    }
    text.push_str(ADVICE);
    text
}

fn describe(text: &mut String, Leak { id, name, worker, location }: &Leak) {
    let written = match name {
        Some(name) => writeln!(text, "  worker {worker}: fiber '{name}' ({id}), made at {location}"),
        None => writeln!(text, "  worker {worker}: fiber {id}, made at {location}"),
    };
    debug_assert!(written.is_ok(), "a string takes all that is written");
}
