//! A call that blocks its thread: what it does to others inside a fiber, and inside `blocking`.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use sinew::{Runtime, blocking, fiber};

use crate::stage::Stage;
use crate::stage::chapter::{Chapter, Findings, Outcome, Unit};
use crate::stage::check::{check, check_equal};

pub(super) const CHAPTER: Chapter = Chapter {
    name: "blocking",
    title: "A blocking call that harms no other fiber",
    about: "On one worker, a fiber ticks each millisecond while another one calls what blocks a thread: as it is, and then through sinew::blocking.",
    guide: "blocking.md",
    share: 4,
    run,
};

/// Ticks that the blocked call waits for: more than one, so that the ticker has also slept
/// meanwhile.
const ENOUGH: u64 = 5;

/// A call that saw too few ticks by then gives up, and the check fails.
const PATIENCE: Duration = Duration::from_secs(5);

fn run(stage: &Stage<'_>) -> Outcome {
    let runtime = Runtime::builder().name("blocking").workers(1).start()?;
    // Well below the second after which the runtime reports a worker that is kept from others.
    let long = stage.time().mul_f64(0.4).clamp(Duration::from_millis(50), Duration::from_millis(400));
    let bar = stage.bar(2);
    let alone = runtime.run(move || ticks_during(|_| thread::sleep(long)));
    bar.set(1);
    let beside = runtime.run(move || ticks_during(|ticks| blocking(|| block(ticks, long))));
    drop(bar);

    check_equal("ticks while the only worker was blocked", alone, 0)?;
    check(beside >= ENOUGH, || format!("{beside} ticks while the call blocked another thread"))?;
    let millis = long.as_millis();
    Ok(Findings::new(format!("{beside} ticks beside a call of {millis} ms; 0 without sinew::blocking"))
        .measure("ticks beside a blocking call", beside as f64, Unit::Count)
        .measure("ticks without sinew::blocking", alone as f64, Unit::Count))
}

/// Counts how often another fiber gets to tick during a call.
fn ticks_during(call: impl FnOnce(&AtomicU64)) -> u64 {
    let (ticks, has_ended) = (AtomicU64::new(0), AtomicBool::new(false));
    fiber::scope(|scope| {
        scope.spawn(|| {
            while !has_ended.load(Ordering::Relaxed) {
                fiber::sleep(Duration::from_millis(1));
                ticks.fetch_add(1, Ordering::Relaxed);
            }
        });
        // Until the other one has begun to tick.
        while ticks.load(Ordering::Relaxed) == 0 {
            fiber::yield_now();
        }
        // From zero, so that the call can see how many there were.
        ticks.store(0, Ordering::Relaxed);
        call(&ticks);
        has_ended.store(true, Ordering::Relaxed);
        ticks.load(Ordering::Relaxed)
    })
}

/// Blocks this thread for a time, or longer on a machine that is too busy for the ticks.
fn block(ticks: &AtomicU64, time: Duration) {
    let began = Instant::now();
    let has_enough = || ticks.load(Ordering::Relaxed) >= ENOUGH || began.elapsed() > PATIENCE;
    thread::sleep(time);
    while !has_enough() {
        thread::sleep(Duration::from_millis(1));
    }
}
