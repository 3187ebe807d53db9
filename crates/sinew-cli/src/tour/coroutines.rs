//! What fibers are made of: functions that stop in the middle and go on later, without a scheduler.

use std::hint::black_box;
use std::io;
use std::panic::{self, AssertUnwindSafe};

use sinew::coroutine::{Coroutine, CoroutineState, MmapStack};

use crate::output::text::time;
use crate::stage::Stage;
use crate::stage::chapter::{Chapter, Findings, Outcome, Unit};
use crate::stage::check::check_equal;

pub(super) const CHAPTER: Chapter = Chapter {
    name: "coroutines",
    title: "Underneath: coroutines",
    about: "A sieve of 25 coroutines, each resumed by the next, finds the primes below 100. A panic continues in the resumer.",
    guide: "inside.md",
    share: 2,
    run,
};

/// Ample for what runs on them here.
const STACK_SIZE: usize = 64 * 1024;

/// Resumes of a round.
const RESUMES: u64 = 10_000;

/// A coroutine that yields numbers.
type Numbers = Coroutine<(), u32, ()>;

fn run(stage: &Stage<'_>) -> Outcome {
    check_equal("the 25th prime", primes(25)?.last().copied(), Some(97))?;
    check_equal("the payload of a panic", carried_panic()?, Some(42))?;

    let mut numbers = count_up()?;
    let rounds = stage.repeat(1.0, || {
        for _ in 0..RESUMES {
            black_box(numbers.resume(()));
        }
        Ok(())
    })?;
    let next = numbers.resume(());
    let expected = 2 + rounds.count.wrapping_mul(RESUMES) as u32;
    check_equal("the number after all these", next, CoroutineState::Yielded(expected))?;

    // A resume is two switches: there and back.
    let switch = rounds.seconds_each(2 * RESUMES);
    Ok(Findings::new(format!("{} for a switch from one stack to another", time(switch))).measure(
        "switch of stacks",
        switch,
        Unit::Seconds,
    ))
}

fn count_up() -> io::Result<Numbers> {
    Ok(Coroutine::new(MmapStack::new(STACK_SIZE)?, |suspender, ()| {
        let mut number = 2_u32;
        loop {
            suspender.suspend(number);
            number = number.wrapping_add(1);
        }
    }))
}

/// Finds primes: each one found adds a coroutine that leaves its multiples out.
fn primes(count: usize) -> io::Result<Vec<u32>> {
    let mut numbers = count_up()?;
    let mut primes = Vec::new();
    while primes.len() < count {
        let CoroutineState::Yielded(prime) = numbers.resume(()) else { break };
        primes.push(prime);
        numbers = without_multiples(prime, numbers)?;
    }
    Ok(primes)
}

/// Yields what `source` does, except the multiples of a prime.
fn without_multiples(prime: u32, mut source: Numbers) -> io::Result<Numbers> {
    Ok(Coroutine::new(MmapStack::new(STACK_SIZE)?, move |suspender, ()| {
        while let CoroutineState::Yielded(number) = source.resume(()) {
            if !number.is_multiple_of(prime) {
                suspender.suspend(number);
            }
        }
    }))
}

/// Returns the payload of a panic that crossed from a coroutine to its resumer.
fn carried_panic() -> io::Result<Option<i32>> {
    let stack = MmapStack::new(STACK_SIZE)?;
    let mut panics = Coroutine::<(), (), ()>::new(stack, |_, ()| panic::resume_unwind(Box::new(42)));
    let payload = panic::catch_unwind(AssertUnwindSafe(|| panics.resume(()))).err();
    Ok(payload.and_then(|payload| payload.downcast_ref().copied()))
}
