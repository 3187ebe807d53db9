//! Fibers in a program where a panic cannot unwind: a panic ends the process, after a message that
//! names the fiber.
//!
//! Run it with the profile `panic-abort`: `cargo run -p sinew --profile panic-abort --example
//! panic_abort`.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use sinew::{Runtime, fiber};

/// Uses what fibers can do without panicking.
fn work() -> usize {
    let count = AtomicUsize::new(0);
    fiber::scope(|scope| {
        for _ in 0..100 {
            scope.spawn(|| {
                fiber::yield_now();
                count.fetch_add(1, Ordering::Relaxed)
            });
        }
    });
    let parked = fiber::spawn(fiber::park);
    parked.thread().unpark();
    parked.join().expect("it does not panic");
    fiber::sleep(Duration::from_millis(1));
    let steps = fiber::spawn_steps(0, |step| {
        *step += 1;
        if *step == 10 { ControlFlow::Break(*step) } else { ControlFlow::Continue(()) }
    });
    let batch = fiber::spawn_batch((0..10).map(|number| move || number));
    let sum: usize = batch.into_iter().map(|fiber| fiber.join().expect("it does not panic")).sum();
    count.load(Ordering::Relaxed) + steps.join().expect("it does not panic") + sum
}

fn main() {
    if cfg!(panic = "unwind") {
        return eprintln!("it is meant for another profile: --profile panic-abort");
    }
    for workers in [1, 2, 8] {
        let runtime = Runtime::builder().workers(workers).start().expect("a runtime");
        assert_eq!(runtime.run(work), 155);
        let waits = runtime.spawn(fiber::park);
        while waits.thread().state() != fiber::State::Parked {
            std::thread::yield_now();
        }
        // A fiber that waits for ever is abandoned, without unwinding.
        assert_eq!(runtime.shutdown(Some(Duration::from_millis(1))).leaked.len(), 1);
        assert!(waits.join().is_err());
    }
    println!("all works");
    let fiber = fiber::Builder::new().name("weft".to_owned()).spawn(|| panic!("torn")).expect("a fiber");
    let end = fiber.join();
    println!("the process went on: {end:?}");
}
