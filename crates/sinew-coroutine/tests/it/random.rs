//! Many coroutines at once: resumed, dropped and panicking in an order drawn from a seed.

use std::panic::{self, AssertUnwindSafe};

use sinew_coroutine::{CoroutineState, Suspender};

use crate::support::{Tested, coroutine, leak_checked};

/// Numbers that look random (xorshift), and are the same for the same seed.
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

/// Suspends from different depths, with live values in every frame, and checks the values sent in.
fn wander(suspender: &Suspender<u64, u64>, mut value: u64, depth: u64) -> u64 {
    let kept = [value; 8];
    if depth > 0 {
        value = wander(suspender, value, depth - 1);
    }
    value = suspender.suspend(value.wrapping_mul(3));
    if value == 13 {
        // A panic without the hook's message, which would be printed many times.
        panic::resume_unwind(Box::new("an unlucky number"));
    }
    assert!(kept.iter().all(|&number| number == kept[0]));
    value.wrapping_add(kept[0])
}

fn fresh(draw: &mut Draw) -> Tested<u64, u64, u64> {
    let (rounds, depth) = (draw.below(5), draw.below(20));
    coroutine(move |suspender, mut value| {
        for _ in 0..rounds {
            value = wander(suspender, value, depth);
        }
        value
    })
}

#[test]
fn many_coroutines_in_any_order() {
    for seed in 1..=20 {
        leak_checked(|| {
            let mut draw = Draw(0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(seed));
            let mut all: Vec<_> = (0..64).map(|_| fresh(&mut draw)).collect();
            let mut ended = 0;
            for _ in 0..5_000 {
                let index = usize::try_from(draw.below(64)).expect("small");
                let value = draw.below(100);
                let outcome = panic::catch_unwind(AssertUnwindSafe(|| all[index].resume(value)));
                if !matches!(outcome, Ok(CoroutineState::Yielded(_))) {
                    ended += 1;
                    assert!(all[index].is_done());
                }
                if all[index].is_done() || draw.below(50) == 0 {
                    all[index] = fresh(&mut draw);
                }
            }
            assert!(ended > 100, "seed {seed}: only {ended} ended");
        });
    }
}
