//! Cancels that race with what is waited for: each wait ends once, and nothing is lost.

use super::support::everywhere;
use sinew::fiber::{self, CancelToken};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

const ROUNDS: u64 = 300;

/// A number that looks random, of a round.
fn dice(round: u64, salt: u64) -> u64 {
    let mut x = (round << 8 | salt).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    x ^= x >> 29;
    x = x.wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x ^ x >> 32
}

fn dawdle(round: u64, salt: u64) {
    for _ in 0..dice(round, salt) % 4 {
        fiber::yield_now();
    }
    for _ in 0..dice(round, salt + 100) % 200 {
        std::hint::spin_loop();
    }
}

#[test]
fn a_join_or_its_cancel() {
    everywhere(|| {
        for round in 0..ROUNDS {
            let worker = fiber::spawn(move || {
                dawdle(round, 1);
                round
            });
            let joiner = fiber::spawn(move || match worker.join_cancellable() {
                Ok(value) => value.unwrap(),
                // Its value is still to be had.
                Err(error) => error.handle.join().unwrap(),
            });
            dawdle(round, 2);
            joiner.cancel();
            assert_eq!(joiner.join().unwrap(), round);
        }
    });
}

#[test]
fn an_unpark_or_a_cancel() {
    everywhere(|| {
        let stopped = Arc::new(AtomicUsize::new(0));
        for round in 0..ROUNDS {
            let count = stopped.clone();
            let parked = fiber::spawn(move || {
                if fiber::park_cancellable().is_err() {
                    count.fetch_add(1, Ordering::Relaxed);
                    // The unpark is still to come, or was kept.
                    fiber::park();
                }
            });
            let other = parked.thread().clone();
            let unparker = fiber::spawn(move || {
                dawdle(round, 3);
                other.unpark();
            });
            dawdle(round, 4);
            parked.cancel();
            parked.join().unwrap();
            unparker.join().unwrap();
        }
    });
}

#[test]
fn many_waits_in_a_region_that_is_cancelled() {
    everywhere(|| {
        for round in 0..20 {
            let token = CancelToken::new();
            let fibers: Vec<_> = (0..20)
                .map(|number| {
                    let token = token.clone();
                    fiber::spawn(move || {
                        let mut sleeps = 0;
                        let rest =
                            || fiber::sleep_cancellable(Duration::from_micros(dice(round, number) % 30));
                        while token.run(|| rest().and_then(|()| rest())).is_ok() {
                            sleeps += 1;
                        }
                        sleeps
                    })
                })
                .collect();
            let threads = [(); 2].map(|()| {
                let token = token.clone();
                std::thread::spawn(move || {
                    while token.run(|| fiber::sleep_cancellable(Duration::from_micros(10))).is_ok() {}
                })
            });
            dawdle(round, 5);
            let cancellers = [(); 3].map(|()| {
                let token = token.clone();
                fiber::spawn(move || token.cancel())
            });
            for fiber in fibers {
                let _: u32 = fiber.join().unwrap();
            }
            for thread in threads {
                thread.join().unwrap();
            }
            for canceller in cancellers {
                canceller.join().unwrap();
            }
        }
    });
}

/// Scopes come and go while the fiber that opens them is cancelled: all of them end.
#[test]
fn scopes_that_are_opened_while_their_fiber_is_cancelled() {
    everywhere(|| {
        for round in 0..50 {
            let parent = fiber::spawn(move || {
                while fiber::checkpoint().is_ok() {
                    fiber::scope(|scope| {
                        for number in 0..3 {
                            scope.spawn(move || {
                                dawdle(round, number);
                                let _ =
                                    fiber::sleep_cancellable(Duration::from_micros(dice(round, number) % 20));
                            });
                        }
                        // In some rounds, only the cancel ends this fiber.
                        if dice(round, 7).is_multiple_of(2) {
                            scope.spawn(|| fiber::park_cancellable().unwrap_err());
                        }
                    });
                }
            });
            dawdle(round, 8);
            parent.cancel();
            parent.join().unwrap();
        }
    });
}
