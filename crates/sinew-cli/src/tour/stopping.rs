//! Cancellation and deadlines: errors where a fiber waits, and never force.

use std::sync::Arc;
use std::time::{Duration, Instant};

use sinew::channel;
use sinew::fiber::{self, Stopped};
use sinew::sync::{Latch, Mutex, Notify, PoisonError};
use sinew::{Runtime, time};

use crate::output::text;
use crate::stage::Stage;
use crate::stage::chapter::{Chapter, Findings, Outcome, Unit};
use crate::stage::check::{check, check_equal};

pub(super) const CHAPTER: Chapter = Chapter {
    name: "stopping",
    title: "Cancellation and deadlines",
    about: "Fibers sleep, and wait for a lock, a message and a notification, none of which ever comes. One call cancels all. Then a deadline ends a wait.",
    guide: "time.md",
    share: 4,
    run,
};

const REASON: &str = "the page was closed";

/// Far beyond the end of the tour.
const LONG: Duration = Duration::from_secs(3_600);

/// The deadline that ends a wait.
const PATIENCE: Duration = Duration::from_millis(20);

fn run(stage: &Stage<'_>) -> Outcome {
    let runtime = Runtime::builder().name("stopping").start()?;
    let count = stage.sizes().waits;
    let mut stopped = 0;
    let mut seconds = f64::MAX;
    stage.repeat(1.0, || {
        let (waits, took) = runtime.run(move || cancel_all(count));
        stopped += waits.len();
        seconds = seconds.min(took.as_secs_f64() / count as f64);
        let reasons =
            waits.iter().filter(|wait| wait.reason() == Some(REASON) && wait.is_cancelled()).count();
        check_equal("waits that ended with the reason", reasons as u64, count)
    })?;

    let late = runtime.run(|| time::timeout(PATIENCE, two_levels_down));
    let late = late.err().ok_or("a wait of an hour ended by itself")?;
    check(late.is_timed_out(), || format!("a deadline ended the wait, but it says: {late}"))?;
    Ok(Findings::new(format!(
        "{} waits cancelled, {} each",
        text::grouped(stopped as u64),
        text::time(seconds)
    ))
    .note(format!("and after the deadline: \"{}\"", text::without_folders(&late.to_string())))
    .measure("cancelled wait, until joined", seconds, Unit::Seconds))
}

/// Starts fibers that wait in four ways, cancels all of them, and returns their errors and how long
/// that took.
fn cancel_all(count: u64) -> (Vec<Stopped>, Duration) {
    let (_sender, receiver) = channel::bounded::<u64>(1);
    let (lock, notify) = (Arc::new(Mutex::new(())), Notify::new());
    let begun = Latch::new(count as usize);
    let held = lock.lock().unwrap_or_else(PoisonError::into_inner);

    let ended = fiber::scope(|scope| {
        let (receiver, lock, notify, begun) = (&receiver, &lock, &notify, &begun);
        let fibers: Vec<_> = (0..count)
            .map(|number| {
                scope.spawn(move || {
                    begun.count_down();
                    match number % 4 {
                        0 => fiber::sleep_cancellable(LONG),
                        1 => receiver.recv_cancellable().map(drop),
                        2 => lock.lock_cancellable().map(drop),
                        _ => notify.wait_cancellable(),
                    }
                })
            })
            .collect();
        begun.wait();
        let began = Instant::now();
        scope.cancel_with_reason(REASON);
        let ends: Vec<_> = fibers.into_iter().filter_map(|fiber| fiber.join().ok()?.err()).collect();
        (ends, began.elapsed())
    });
    drop(held);
    ended
}

/// The deadline holds wherever the wait is: no function on the way has a parameter for it.
fn two_levels_down() -> Result<(), Stopped> {
    fn one_level_down() -> Result<(), Stopped> {
        fiber::sleep_cancellable(LONG)
    }
    one_level_down()
}
