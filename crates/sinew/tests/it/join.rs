//! Joining.

use super::support::{
    Random, everywhere, in_child, is_emulated, migrating, panics_with, pinned, quiet_panic, stderr,
};
use sinew::fiber;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};
use std::time::Duration;

fn fib(n: u32) -> u32 {
    if n < 2 {
        return n;
    }
    let child = fiber::spawn(move || fib(n - 1));
    let own = fib(n - 2);
    own + child.join().unwrap()
}

#[test]
fn fibers_join_their_children() {
    everywhere(|| assert_eq!(fib(16), 987));
}

fn nest(depth: usize) -> usize {
    if depth == 0 { 0 } else { 1 + fiber::spawn(move || nest(depth - 1)).join().unwrap() }
}

#[test]
fn nested_waits_never_deadlock_however_deep() {
    for runtime in [pinned(1), super::support::migrating(1)] {
        assert_eq!(runtime.run(|| nest(10_000)), 10_000);
    }
}

#[test]
fn a_child_that_waits_is_joined_all_the_same() {
    everywhere(|| {
        let child = fiber::spawn(|| {
            fiber::yield_now();
            fiber::sleep(Duration::from_micros(100));
            3
        });
        assert_eq!(child.join().unwrap(), 3);
    });
}

#[test]
fn a_fiber_cannot_join_itself() {
    everywhere(|| {
        let slot = Arc::new(Mutex::new(None::<fiber::JoinHandle<()>>));
        let copy = slot.clone();
        let fiber = fiber::spawn(move || {
            let own = loop {
                // In a statement of its own, so that no lock is held across the wait.
                let taken = copy.lock().unwrap().take();
                match taken {
                    Some(own) => break own,
                    None => fiber::yield_now(),
                }
            };
            panics_with("a fiber cannot join itself", || own.join());
        });
        *slot.lock().unwrap() = Some(fiber);
    });
}

#[test]
fn whoever_has_the_handle_may_join() {
    everywhere(|| {
        // A grandchild joins its own parent.
        let slot = Arc::new(Mutex::new(None));
        let copy = slot.clone();
        let (sender, receiver) = std::sync::mpsc::channel::<fiber::JoinHandle<u32>>();
        let parent = fiber::spawn(move || {
            let grandchild = fiber::spawn(move || receiver.recv().unwrap().join().unwrap());
            *copy.lock().unwrap() = Some(grandchild);
            5
        });
        sender.send(parent).unwrap();
        let grandchild = loop {
            let taken = slot.lock().unwrap().take();
            match taken {
                Some(grandchild) => break grandchild,
                None => fiber::yield_now(),
            }
        };
        assert_eq!(grandchild.join().unwrap(), 5);
    });
}

#[test]
fn a_join_may_give_up() {
    everywhere(|| {
        let child = fiber::spawn(|| {
            fiber::park();
            9
        });
        let child = child.join_timeout(Duration::from_millis(1)).unwrap_err();
        assert!(!child.is_finished());
        child.thread().unpark();
        assert_eq!(child.join_timeout(Duration::MAX).unwrap().unwrap(), 9);
    });
}

#[test]
fn joins_of_local_and_scoped_fibers_may_give_up_too() {
    everywhere(|| {
        let local = fiber::spawn_local(fiber::park);
        let local = local.join_timeout(Duration::from_millis(1)).unwrap_err();
        local.thread().unpark();
        local.join_timeout(Duration::MAX).unwrap().unwrap();
        let nine = fiber::scope(|scope| {
            let scoped = scope.spawn(|| {
                fiber::park();
                9
            });
            let scoped = scoped.join_timeout(Duration::from_millis(1)).unwrap_err();
            scoped.thread().unpark();
            scoped.join_timeout(Duration::MAX).unwrap().unwrap()
        });
        assert_eq!(nine, 9);
    });
}

#[test]
fn a_timed_join_races_with_the_end() {
    everywhere(|| {
        for round in 0..200 {
            let child = fiber::spawn(move || fiber::sleep(Duration::from_micros(round % 20)));
            let mut outcome = child.join_timeout(Duration::from_micros(10));
            while let Err(child) = outcome {
                outcome = child.join_timeout(Duration::from_micros(10));
            }
        }
    });
}

#[test]
fn results_that_nobody_wants_are_dropped_once() {
    everywhere(|| {
        let counted = Arc::new(());
        for late in [false, true] {
            let copy = counted.clone();
            let fiber = fiber::spawn(move || copy);
            while late && !fiber.is_finished() {
                fiber::yield_now();
            }
            drop(fiber);
        }
        while Arc::strong_count(&counted) > 1 {
            fiber::yield_now();
        }
    });
}

/// The sanitizers keep what is freed.
#[cfg(not(any(sinew_asan, sinew_tsan)))]
#[test]
fn a_fiber_that_gave_up_joining_is_freed() {
    if is_emulated() {
        return eprintln!("skipped: an emulator has memory of its own");
    }
    let resident = || {
        let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
        pages.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() * 4096
    };
    let name = "join::a_fiber_that_gave_up_joining_is_freed";
    let output = in_child(name, move || {
        let runtime = pinned(1);
        runtime.run(move || {
            let mut parked = fiber::spawn(fiber::park);
            let mut give_up = |times| {
                for _ in 0..times {
                    let taken = std::mem::replace(&mut parked, fiber::spawn(|| ()));
                    let joiner = fiber::spawn(move || taken.join_timeout(Duration::ZERO).unwrap_err());
                    parked = joiner.join().unwrap();
                }
            };
            give_up(1_000);
            let before = resident();
            give_up(50_000);
            let gained = resident().saturating_sub(before);
            // A block is some hundred bytes: all of them would be many times this.
            assert!(gained < 4 << 20, "{gained} bytes");
            parked.thread().unpark();
            parked.join().unwrap();
        });
    });
    assert!(output.status.success(), "{}", stderr(&output));
}

/// Waits for a fiber of the same worker when it is dropped.
struct JoinOnDrop(Option<fiber::JoinHandle<()>>);

impl Drop for JoinOnDrop {
    fn drop(&mut self) {
        self.0.take().into_iter().for_each(|fiber| fiber.join().unwrap());
    }
}

#[test]
fn a_result_that_nobody_wants_may_wait_when_it_is_dropped() {
    everywhere(|| {
        let done = Arc::new(());
        for panics in [false, true] {
            let held = done.clone();
            let detached = fiber::spawn(move || {
                let begun = fiber::Builder::new().launch(fiber::Launch::Dispatch);
                let begun = begun.spawn(move || {
                    fiber::sleep(Duration::from_millis(5));
                    drop(held);
                });
                let result = JoinOnDrop(Some(begun.unwrap()));
                if panics {
                    quiet_panic(Mutex::new(result));
                }
                result
            });
            drop(detached);
        }
        while Arc::strong_count(&done) > 1 {
            fiber::sleep(Duration::from_millis(1));
        }
    });
}

/// A handle is dropped from outside at about the moment when its fiber ends. The result is dropped
/// by the fiber or with the handle, where a destructor may wait; never by a worker outside of all
/// fibers.
#[test]
fn no_result_is_dropped_outside_of_fibers() {
    static OUTSIDE: AtomicUsize = AtomicUsize::new(0);
    struct Result(ThreadId);
    impl Drop for Result {
        fn drop(&mut self) {
            if !fiber::is_fiber() && thread::current().id() != self.0 {
                OUTSIDE.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
    let (rounds, here) = (if cfg!(sinew_few) { 200 } else { 8_000 }, thread::current().id());
    for mut watched in [pinned(1), migrating(1)] {
        let runtime = watched.take();
        let mut random = Random::new(7);
        for _ in 0..rounds {
            let handle = runtime.spawn(move || Result(here));
            (0..random.below(4_000)).for_each(|_| std::hint::spin_loop());
            drop(handle);
        }
        let report = runtime.shutdown(None);
        assert!(report.drained && report.leaked.is_empty(), "{report:?}");
        assert_eq!(OUTSIDE.load(Ordering::Relaxed), 0);
    }
}
