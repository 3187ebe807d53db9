//! The checks of coroutines, on the public interface alone.

use std::backtrace::Backtrace;
use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::rc::Rc;

use sinew::coroutine::{Coroutine, CoroutineState, MmapStack};

use crate::check::{Check, Outcome, expect};

/// Small, so that ten thousand of them are modest; ample for what runs on them here.
const STACK_SIZE: usize = 64 * 1024;

/// In the order they are shown.
pub(crate) const CHECKS: &[Check] = &[
    Check { name: "values travel both ways", run: both_ways },
    Check { name: "coroutines nest: a sieve of filters", run: nested },
    Check { name: "10,000 at once, resumed in turn", run: many },
    Check { name: "a panic goes on in the resumer", run: carried },
    Check { name: "a suspended one that is dropped unwinds", run: unwound },
    Check { name: "a backtrace leads on to the resumer", run: walked },
    Check { name: "bad input is an error that says what to do", run: refused },
];

fn stack() -> std::io::Result<MmapStack> {
    MmapStack::new(STACK_SIZE)
}

fn both_ways() -> Outcome {
    let mut sum = Coroutine::<u32, u32, u32>::new(stack()?, |suspender, first| {
        let mut sum = first;
        while sum < 10 {
            sum += suspender.suspend(sum);
        }
        sum
    });
    let seen = [sum.resume(3), sum.resume(4), sum.resume(5)];
    let expected = [CoroutineState::Yielded(3), CoroutineState::Yielded(7), CoroutineState::Complete(12)];
    expect(&seen, &expected, "in 3, 4, 5; out 3, 7, and 12 at the end".into())
}

type Numbers = Coroutine<(), u32, ()>;

/// Hands out what `source` does, except the multiples of `prime`.
fn without_multiples(prime: u32, mut source: Numbers) -> std::io::Result<Numbers> {
    Ok(Coroutine::new(stack()?, move |suspender, ()| {
        while let CoroutineState::Yielded(number) = source.resume(()) {
            if number % prime != 0 {
                suspender.suspend(number);
            }
        }
    }))
}

fn nested() -> Outcome {
    let mut numbers = Numbers::new(stack()?, |suspender, ()| {
        for number in 2.. {
            suspender.suspend(number);
        }
    });
    let mut primes = Vec::new();
    while let (true, CoroutineState::Yielded(prime)) = (primes.len() < 25, numbers.resume(())) {
        primes.push(prime);
        numbers = without_multiples(prime, numbers)?;
    }
    expect(&primes.last(), &Some(&97), "the 25th prime is 97, through 24 coroutines".into())
}

fn many() -> Outcome {
    const COUNT: usize = 10_000;
    const ROUNDS: usize = 10;
    let mut all = (0..COUNT)
        .map(|_| {
            Ok(Coroutine::<(), (), ()>::new(stack()?, |suspender, ()| {
                loop {
                    suspender.suspend(())
                }
            }))
        })
        .collect::<std::io::Result<Vec<_>>>()?;
    let mut resumed = 0;
    for one in (0..ROUNDS).flat_map(|_| 0..COUNT) {
        resumed += usize::from(all[one].resume(()) == CoroutineState::Yielded(()));
    }
    expect(&resumed, &(COUNT * ROUNDS), format!("{resumed} resumes"))
}

fn carried() -> Outcome {
    let mut panics = Coroutine::<(), (), ()>::new(stack()?, |_, ()| panic::resume_unwind(Box::new(42)));
    let payload = panic::catch_unwind(AssertUnwindSafe(|| panics.resume(()))).err();
    let seen = payload.and_then(|payload| payload.downcast_ref::<i32>().copied());
    expect(&(seen, panics.is_done()), &(Some(42), true), "with its payload, 42".into())
}

fn unwound() -> Outcome {
    struct Count(Rc<Cell<u32>>);
    impl Drop for Count {
        fn drop(&mut self) {
            self.0.set(self.0.get() + 1);
        }
    }
    let drops = Rc::new(Cell::new(0));
    let (outer, inner) = (Count(drops.clone()), Count(drops.clone()));
    let mut suspended = Coroutine::<(), (), ()>::new(stack()?, move |suspender, ()| {
        let _outer = outer;
        let _inner = inner;
        suspender.suspend(());
    });
    suspended.resume(());
    let before = drops.get();
    drop(suspended);
    expect(&(before, drops.get()), &(0, 2), "2 destructors ran on its stack".into())
}

#[inline(never)]
fn the_resumer(coroutine: &mut Coroutine<(), (), String>) -> String {
    match std::hint::black_box(coroutine.resume(())) {
        CoroutineState::Complete(text) => text,
        CoroutineState::Yielded(()) => String::new(),
    }
}

fn walked() -> Outcome {
    // A backtrace that is put into words takes more stack than anything else here.
    let stack = MmapStack::new(8 * STACK_SIZE)?;
    let mut coroutine = Coroutine::new(stack, |_, ()| Backtrace::force_capture().to_string());
    let backtrace = the_resumer(&mut coroutine);
    let frames = backtrace.lines().filter(|line| line.contains(": ")).count();
    expect(&backtrace.contains("the_resumer"), &true, format!("{frames} frames, on two stacks"))
}

fn refused() -> Outcome {
    let Err(error) = MmapStack::new(16) else {
        return Err("a stack of 16 bytes was accepted".into());
    };
    Ok(format!("\"{error}\""))
}
