//! Figures of this machine, for orientation. The comparisons with peers are in `bench/`.

use std::hint::black_box;
use std::time::Instant;

use sinew::coroutine::{Coroutine, CoroutineState, DEFAULT_STACK_SIZE, MmapStack, StackPool};

use crate::screen::Screen;

/// Long enough to be above the clock's grain, short enough not to be noticed.
const ROUNDS: u32 = 1_000_000;

/// Measures and shows everything that has a figure.
pub(crate) fn show_all(screen: &mut Screen) {
    screen.heading(if cfg!(debug_assertions) {
        "Measured here, once, in a debug build: these figures mean nothing"
    } else {
        "Measured here, once (`bench/` compares with peers, with more optimisation)"
    });
    let figures = [
        ("one switch, either way", switch()),
        ("create, run and finish on a stack in hand", create()),
        ("take and return a pooled stack, by a cache", pooled()),
    ];
    for (name, figure) in figures {
        match figure {
            Ok(value) => screen.figure(name, value, "ns"),
            Err(error) => screen.fail(name, error),
        }
    }
}

fn switch() -> std::io::Result<f64> {
    let mut loops = Coroutine::<(), u32, ()>::new(MmapStack::new(64 * 1024)?, |suspender, ()| {
        for number in 0.. {
            suspender.suspend(number);
        }
    });
    let start = Instant::now();
    for _ in 0..ROUNDS {
        black_box(loops.resume(()));
    }
    Ok(nanoseconds_each(start, 2 * ROUNDS))
}

fn create() -> std::io::Result<f64> {
    let mut stack = MmapStack::new(64 * 1024)?;
    let start = Instant::now();
    for number in 0..ROUNDS {
        let mut short = Coroutine::<u32, (), u32>::new(stack, |_, number| black_box(number));
        assert_eq!(short.resume(number), CoroutineState::Complete(number));
        stack = short.into_stack().expect("it is done");
    }
    Ok(nanoseconds_each(start, ROUNDS))
}

fn pooled() -> std::io::Result<f64> {
    let mut cache = StackPool::new().cache();
    let start = Instant::now();
    for _ in 0..ROUNDS {
        let stack = black_box(cache.acquire(DEFAULT_STACK_SIZE)?);
        cache.release(stack);
    }
    Ok(nanoseconds_each(start, ROUNDS))
}

fn nanoseconds_each(start: Instant, times: u32) -> f64 {
    start.elapsed().as_secs_f64() * 1e9 / f64::from(times)
}
