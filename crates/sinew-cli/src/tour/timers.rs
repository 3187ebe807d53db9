//! Timers that call back, and fibers that sleep.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use sinew::{Runtime, fiber, time};

use crate::output::text;
use crate::stage::Stage;
use crate::stage::chapter::{Chapter, Findings, Outcome, Unit};
use crate::stage::check::{Failure, check_equal};

pub(super) const CHAPTER: Chapter = Chapter {
    name: "timers",
    title: "Timers and sleeps",
    about: "Timers fire at moments all over an interval, and half of them are cancelled first. As many fibers sleep, and say how late they woke.",
    guide: "time.md",
    share: 8,
    run,
};

/// Far beyond the end of the tour.
const LONG: Duration = Duration::from_secs(3_600);

/// What the fibers and timers of this chapter came to.
struct Fired {
    /// Timers that called back.
    called: u64,
    /// Timers that were cancelled before they were due.
    cancelled: u64,
    /// How late each fiber woke; `None` if it woke too early.
    late: Vec<Option<Duration>>,
}

fn run(stage: &Stage<'_>) -> Outcome {
    let runtime = Runtime::builder().name("timers").start()?;
    let (count, span) = (stage.sizes().waits, stage.time().mul_f64(0.7));
    let bar = stage.bar(span.as_micros() as u64);
    let began = Instant::now();
    let fired = runtime.spawn(move || wait_for_all(count, span));
    while !fired.is_finished() {
        bar.set(began.elapsed().as_micros() as u64);
        fiber::sleep(Duration::from_millis(20));
    }
    drop(bar);
    findings(count, fired.join().map_err(|_| "a fiber panicked")?)
}

/// Sets `count` timers, cancels half of them, and lets `count` fibers sleep, all over the same span
/// of time.
fn wait_for_all(count: u64, span: Duration) -> Fired {
    let moment = move |number: u64| span.mul_f64((number + 1) as f64 / count as f64);
    let called = Arc::new(AtomicU64::new(0));
    let timers: Vec<_> = (0..count)
        .map(|number| {
            let called = called.clone();
            // Those that are cancelled are due after the tour, so that this never comes too late.
            let due = if number % 2 == 0 { moment(number) } else { LONG };
            time::after(due, move || {
                called.fetch_add(1, Ordering::Relaxed);
            })
        })
        .collect();
    let sleepers: Vec<_> = (0..count)
        .map(|number| {
            fiber::spawn(move || {
                let due = Instant::now() + moment(number);
                fiber::sleep_until(due);
                Instant::now().checked_duration_since(due)
            })
        })
        .collect();
    let cancelled = timers.iter().skip(1).step_by(2).filter(|timer| timer.cancel()).count() as u64;
    let late = sleepers.into_iter().map(|sleeper| sleeper.join().unwrap_or(None)).collect();
    // The last sleeper was due after the last timer, but a callback may still be on its way.
    while timers.iter().any(time::Timer::is_armed) {
        fiber::sleep(Duration::from_millis(1));
    }
    for timer in &timers {
        // Waits for a callback that has begun. None can be left to cancel.
        let _ = timer.cancel_and_wait();
    }
    Fired { called: called.load(Ordering::Relaxed), cancelled, late }
}

fn findings(count: u64, fired: Fired) -> Outcome {
    let Fired { called, cancelled, late } = fired;
    check_equal("timers that called back", called, count.div_ceil(2))?;
    check_equal("timers that were cancelled", cancelled, count / 2)?;
    let early: Failure = "a fiber woke too early, or panicked".into();
    let mut late: Vec<Duration> = late.into_iter().collect::<Option<_>>().ok_or(early)?;
    late.sort_unstable();
    let percentile = |percent: usize| late[(late.len() - 1) * percent / 100].as_secs_f64();
    let (median, slow) = (percentile(50), percentile(99));
    Ok(Findings::new(format!("{} late for half of {}", text::time(median), text::counted(count, "sleep")))
        .note(format!("{} for 99 of 100; none woke too early", text::time(slow)))
        .note(format!(
            "{} timers called back, {} were cancelled",
            text::grouped(called),
            text::grouped(cancelled)
        ))
        .measure("sleep, late by, median", median, Unit::Seconds)
        .measure("sleep, late by, 99 of 100", slow, Unit::Seconds)
        .measure("timers that called back", called as f64, Unit::Count)
        .measure("timers that were cancelled", cancelled as f64, Unit::Count))
}
