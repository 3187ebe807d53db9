//! Blocking a worker.

use super::super::support::{everywhere, migrating, pinned};
use sinew::coroutine::{Coroutine, CoroutineState, MmapStack};
use sinew::sync::Baton;
use sinew::{block_in_place, fiber};
use std::panic::catch_unwind;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

/// Blocks until a new fiber has run.
fn block_until_another_runs() {
    let (send, receive) = mpsc::channel();
    let other = fiber::spawn(move || send.send(()).unwrap());
    block_in_place(|| receive.recv().unwrap());
    other.join().unwrap();
}

#[test]
fn what_has_not_begun_runs_meanwhile() {
    everywhere(|| {
        let fibers = fiber::spawn_batch([block_until_another_runs; 20]);
        fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
    });
}

/// A fiber that has begun, and counts until it is told to end.
fn counter() -> (Arc<AtomicU64>, Arc<AtomicBool>, fiber::JoinHandle<()>) {
    let (count, ends) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
    let (counted, is_over) = (count.clone(), ends.clone());
    let counter = fiber::spawn(move || {
        while !is_over.load(Ordering::Relaxed) {
            counted.fetch_add(1, Ordering::Relaxed);
            fiber::yield_now();
        }
    });
    while count.load(Ordering::Relaxed) == 0 {
        fiber::yield_now();
    }
    (count, ends, counter)
}

#[test]
fn what_has_begun_waits() {
    pinned(1).run(|| {
        let (count, ends, counter) = counter();
        let (send, receive) = mpsc::channel();
        let others = fiber::spawn_batch((0..10).map(|_| {
            let send = send.clone();
            move || send.send(()).unwrap()
        }));
        block_in_place(|| {
            let before = count.load(Ordering::Relaxed);
            (0..10).for_each(|_| receive.recv().unwrap());
            assert_eq!(count.load(Ordering::Relaxed), before);
        });
        ends.store(true, Ordering::Relaxed);
        counter.join().unwrap();
        others.into_iter().for_each(|other| other.join().unwrap());
    });
}

#[test]
fn what_may_move_goes_on_elsewhere() {
    migrating(1).run(|| {
        let (count, ends, counter) = counter();
        block_in_place(|| {
            let before = count.load(Ordering::Relaxed);
            while count.load(Ordering::Relaxed) < before + 10 {
                thread::yield_now();
            }
        });
        ends.store(true, Ordering::Relaxed);
        counter.join().unwrap();
    });
}

#[test]
fn a_fiber_that_moves_stays_meanwhile() {
    migrating(2).run(|| {
        let fibers = fiber::spawn_batch((0..20).map(|_| {
            || {
                for _ in 0..20 {
                    block_in_place(|| {
                        let here = thread::current().id();
                        fiber::yield_now();
                        fiber::sleep(Duration::from_micros(10));
                        assert_eq!(thread::current().id(), here);
                    });
                }
            }
        }));
        fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
    });
}

/// Sections of several fibers of one worker that wait inside, and end in another order than they
/// began.
#[test]
fn sections_end_in_any_order() {
    everywhere(|| {
        for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
            let batons: Arc<[(Baton, Baton); 3]> = Arc::default();
            let fibers = [0, 1, 2].map(|number| {
                let batons = batons.clone();
                let body = move || {
                    block_in_place(|| {
                        batons[number].0.post();
                        batons[number].1.wait();
                        block_until_another_runs();
                    });
                    block_until_another_runs();
                };
                Some(fiber::spawn(body))
            });
            batons.iter().for_each(|(inside, _)| inside.wait());
            block_until_another_runs();
            let mut fibers = fibers;
            for number in order {
                batons[number].1.post();
                fibers[number].take().unwrap().join().unwrap();
            }
            block_until_another_runs();
        }
    });
}

#[test]
fn panics_pass_and_sections_nest() {
    everywhere(|| {
        let panic = catch_unwind(|| {
            block_in_place(|| block_in_place(|| std::panic::resume_unwind(Box::new(7))));
        });
        assert_eq!(panic.unwrap_err().downcast_ref(), Some(&7));
        let value = block_in_place(|| {
            block_in_place(block_until_another_runs);
            block_until_another_runs();
            sinew::blocking(|| block_in_place(|| 5))
        });
        assert_eq!(value, 5);
        block_until_another_runs();
    });
}

/// A coroutine that is suspended inside a section: its fiber has left, and others go on with it or
/// drop it.
#[test]
fn a_section_may_end_in_another_fiber() {
    for mut runtime in [pinned(1), migrating(2)] {
        runtime.run(|| {
            for drops in [false, true] {
                let mut coroutine = Coroutine::new(MmapStack::new(64 * 1024).unwrap(), |suspender, ()| {
                    block_in_place(|| suspender.suspend(()));
                    6
                });
                let first = fiber::spawn_local(move || {
                    assert_eq!(coroutine.resume(()), CoroutineState::Yielded(()));
                    coroutine
                });
                let mut coroutine = first.join().unwrap();
                let second = fiber::spawn_local(move || {
                    if drops {
                        drop(coroutine);
                    } else {
                        assert_eq!(coroutine.resume(()), CoroutineState::Complete(6));
                    }
                });
                second.join().unwrap();
                block_until_another_runs();
            }
        });
        assert!(runtime.take().shutdown(None).drained);
    }
}

thread_local! {
    static KEPT: std::cell::RefCell<Option<Coroutine<(), (), i32, MmapStack>>> =
        const { std::cell::RefCell::new(None) };
}

/// It ends when the worker is gone.
#[test]
fn a_section_may_end_after_its_worker() {
    for mut runtime in [pinned(1), pinned(2)] {
        runtime.run(|| {
            let mut coroutine = Coroutine::new(MmapStack::new(64 * 1024).unwrap(), |suspender, ()| {
                block_in_place(|| suspender.suspend(()));
                6
            });
            assert_eq!(coroutine.resume(()), CoroutineState::Yielded(()));
            KEPT.set(Some(coroutine));
        });
        assert!(runtime.take().shutdown(None).drained);
    }
}
