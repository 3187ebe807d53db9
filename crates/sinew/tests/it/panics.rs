//! Panics in fibers, and waits while one unwinds.

use super::support::{everywhere, in_child, message, mute, pinned, quiet_panic, stderr};
use sinew::{Runtime, fiber, time};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::time::Duration;

#[test]
fn a_panic_comes_out_of_join() {
    let _muted = (mute("out of join"), mute("caught inside"));
    everywhere(|| {
        let fiber = fiber::spawn(|| {
            if fiber::is_fiber() {
                panic!("out of join");
            }
        });
        assert_eq!(message(&*fiber.join().unwrap_err()), "out of join");
        let caught = fiber::spawn(|| catch_unwind(|| panic!("caught inside")).is_err());
        assert!(caught.join().unwrap());
    });
}

struct WaitOnDrop(fn());

impl Drop for WaitOnDrop {
    fn drop(&mut self) {
        (self.0)();
    }
}

#[test]
fn a_destructor_may_wait_while_its_fiber_unwinds() {
    everywhere(|| {
        let waits: [fn(); 5] = [
            fiber::yield_now,
            || fiber::sleep(Duration::from_millis(1)),
            // Longer than a worker is held.
            || fiber::sleep(Duration::from_millis(25)),
            || fiber::spawn(|| ()).join().unwrap(),
            || {
                let me = fiber::current();
                std::thread::spawn(move || me.unpark());
                fiber::park();
            },
        ];
        for wait in waits {
            let others: Vec<_> =
                (0..4).map(|_| fiber::spawn(|| (0..20).for_each(|_| fiber::yield_now()))).collect();
            let fiber = fiber::spawn(move || {
                let _wait = WaitOnDrop(wait);
                quiet_panic("on its way out");
            });
            assert_eq!(message(&*fiber.join().unwrap_err()), "on its way out");
            others.into_iter().for_each(|fiber| fiber.join().unwrap());
        }
    });
}

#[test]
fn fibers_beside_one_that_unwinds_do_not_count_as_panicking_for_a_short_wait() {
    let runtime = super::support::pinned(1);
    runtime.run(|| {
        let beside = fiber::spawn(|| {
            (0..100).all(|_| {
                fiber::yield_now();
                !fiber::panicking()
            })
        });
        let unwinding = fiber::spawn(|| {
            let _wait = WaitOnDrop(|| fiber::sleep(Duration::from_micros(500)));
            quiet_panic("shortly");
        });
        assert!(unwinding.join().is_err());
        assert!(beside.join().unwrap());
    });
}

#[test]
fn whoever_entered_a_fiber_that_unwinds_lets_it_go_on() {
    everywhere(|| {
        let unwinds = fiber::Builder::new().launch(fiber::Launch::Dispatch);
        let unwinds = unwinds.spawn(|| {
            // Longer than a worker is held.
            let _wait = WaitOnDrop(|| fiber::sleep(Duration::from_millis(25)));
            quiet_panic("on its way out");
        });
        let unwinds: fiber::JoinHandle<()> = unwinds.unwrap();
        while !unwinds.is_finished() {
            fiber::yield_now();
        }
        assert_eq!(message(&*unwinds.join().unwrap_err()), "on its way out");
        // The same for a fiber that was itself entered by another one.
        let enters = fiber::Builder::new().launch(fiber::Launch::Dispatch);
        let enters = enters.spawn(|| {
            let unwinds = fiber::Builder::new().launch(fiber::Launch::Dispatch);
            let unwinds = unwinds.spawn(|| {
                let _wait = WaitOnDrop(|| fiber::sleep(Duration::from_millis(25)));
                quiet_panic("on its way out");
            });
            fiber::yield_now();
            let unwinds: fiber::JoinHandle<()> = unwinds.unwrap();
            assert!(unwinds.join().is_err());
        });
        let enters = enters.unwrap();
        while !enters.is_finished() {
            fiber::yield_now();
        }
        enters.join().unwrap();
    });
}

/// std aborts if a thread panics while it runs a panic hook, and does not know that it is another
/// fiber which panics.
#[test]
fn a_hook_may_wait_while_other_fibers_of_its_worker_panic() {
    let name = "panics::a_hook_may_wait_while_other_fibers_of_its_worker_panic";
    let output = in_child(name, || {
        // Longer than a fiber that unwinds keeps its worker.
        std::panic::set_hook(Box::new(|_| fiber::sleep(Duration::from_millis(25))));
        for workers in [1, 2] {
            super::support::pinned(workers).run(|| {
                let panics = fiber::spawn_batch((0..6).map(|_| || panic!("told slowly")));
                for fiber in panics {
                    let result: Result<(), _> = fiber.join();
                    assert_eq!(message(&*result.unwrap_err()), "told slowly");
                }
                // Nothing is left of it.
                let others: Vec<_> = (0..4).map(|_| fiber::spawn(fiber::yield_now)).collect();
                others.into_iter().for_each(|other| other.join().unwrap());
            });
        }
    });
    assert!(output.status.success(), "{}", stderr(&output));
}

/// A fiber that is to run at once does not run inside a panic hook: std would take a panic of it
/// for one of the hook.
#[test]
fn a_hook_enters_no_fiber() {
    let output = in_child("panics::a_hook_enters_no_fiber", || {
        static MADE: Mutex<Vec<fiber::JoinHandle<()>>> = Mutex::new(Vec::new());
        std::panic::set_hook(Box::new(|panic| {
            if panic.payload_as_str() == Some("makes another") {
                let builder = fiber::Builder::new().launch(fiber::Launch::Dispatch);
                let other = builder.spawn(|| panic!("another")).unwrap();
                MADE.lock().unwrap().push(other);
            }
        }));
        everywhere(|| {
            let first = fiber::spawn(|| panic!("makes another"));
            assert_eq!(message(&*first.join().unwrap_err()), "makes another");
            let other = MADE.lock().unwrap().pop().unwrap();
            assert_eq!(message(&*other.join().unwrap_err()), "another");
        });
    });
    assert!(output.status.success(), "{}", stderr(&output));
}

/// A hook that waits for another fiber of its own worker waits for ever, and that is told.
#[test]
fn a_hook_that_waits_for_its_own_worker_is_told_of() {
    let name = "panics::a_hook_that_waits_for_its_own_worker_is_told_of";
    if super::support::is_child() {
        std::panic::set_hook(Box::new(|_| fiber::spawn_local(|| ()).join().unwrap()));
        let builder = Runtime::builder().workers(1).stall_report(Some(Duration::from_millis(50)));
        builder.start().unwrap().run(|| panic!("never told"));
    }
    super::support::is_told_of_as_stuck(name);
}

#[test]
fn a_panic_is_told_with_the_fibers_name() {
    let output = in_child("panics::a_panic_is_told_with_the_fibers_name", || {
        let fiber = fiber::Builder::new().name("weft".to_owned());
        let fiber = fiber.spawn(|| panic!("told")).unwrap();
        assert!(fiber.join().is_err());
    });
    let text = stderr(&output);
    assert!(output.status.success(), "{text}");
    assert!(text.contains("fiber 'weft'") && text.contains("told"), "{text}");
}

#[test]
fn a_panic_is_told_with_where_the_fiber_was_made() {
    let name = "panics::a_panic_is_told_with_where_the_fiber_was_made";
    let line = line!();
    let output = in_child(name, || {
        fiber::spawn(told).join().unwrap_err();
        let begun = fiber::CancelToken::new();
        let token = begun.clone();
        let timer = time::after(Duration::ZERO, move || {
            token.cancel();
            told();
        });
        begun.wait();
        timer.cancel_and_wait().unwrap();
    });
    let text = stderr(&output);
    assert!(output.status.success(), "{text}");
    for line in [line + 2, line + 5] {
        assert!(text.contains(&format!("made at {}:{line}:", file!())), "{text}");
    }
}

fn told() {
    panic!("told");
}

#[test]
fn a_runtime_goes_on_after_a_panic() {
    let runtime = pinned(1);
    let runtime: &Runtime = &runtime;
    // That this compiles is half of it.
    assert!(catch_unwind(|| runtime.run(|| quiet_panic("in a fiber"))).is_err());
    assert_eq!(runtime.run(|| 7), 7);
}

#[test]
fn a_panic_in_a_result_that_nobody_wants_ends_there() {
    everywhere(|| {
        for _ in 0..3 {
            let fiber = fiber::spawn(|| WaitOnDrop(|| quiet_panic("in a destructor")));
            // If it has ended, the result is dropped here.
            let _ = catch_unwind(AssertUnwindSafe(|| drop(fiber)));
        }
        // A scope ends all the same.
        let _ = catch_unwind(|| {
            fiber::scope(|scope| drop(scope.spawn(|| WaitOnDrop(|| quiet_panic("in a destructor")))));
        });
        let fiber = fiber::spawn(|| WaitOnDrop(|| quiet_panic("in a destructor")));
        let value = fiber.join().unwrap();
        assert!(catch_unwind(AssertUnwindSafe(|| drop(value))).is_err());
    });
}
