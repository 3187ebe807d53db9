//! Making fibers.
//!
//! # Safety
//!
//! The fibers that move hold nothing of their thread.
#![expect(unsafe_code, reason = "that fibers may move is a promise")]

use super::runtimes::{KINDS, Kind};
use super::support::{WORKERS, Watched, everywhere, pinned};
use sinew::{Runtime, fiber};
use std::cell::Cell;
use std::collections::HashSet;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};

#[test]
fn each_fiber_runs_once() {
    everywhere(|| {
        let runs: Arc<Vec<AtomicUsize>> = Arc::new((0..2_000).map(|_| AtomicUsize::new(0)).collect());
        let fibers: Vec<_> = (0..runs.len())
            .map(|number| {
                let runs = runs.clone();
                fiber::spawn(move || runs[number].fetch_add(1, Ordering::Relaxed))
            })
            .collect();
        fibers.into_iter().for_each(|fiber| assert_eq!(fiber.join().unwrap(), 0));
        assert!(runs.iter().all(|runs| runs.load(Ordering::Relaxed) == 1));
    });
}

#[test]
fn threads_may_spawn_and_join() {
    for workers in WORKERS {
        let runtime = pinned(workers);
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let runtime = &runtime;
                scope.spawn(move || {
                    for number in 0..200 {
                        assert_eq!(
                            runtime.spawn(move || thread * 1_000 + number).join().unwrap(),
                            thread * 1_000 + number
                        );
                    }
                });
            }
        });
    }
}

#[test]
fn the_default_runtime_starts_by_itself() {
    assert_eq!(fiber::spawn(|| 7).join().unwrap(), 7);
    assert_eq!(sinew::run(|| fiber::spawn(|| 8).join().unwrap()), 8);
    assert!(!fiber::is_fiber());
    assert!(sinew::run(fiber::is_fiber));
}

#[test]
fn names_places_and_numbers_are_kept() {
    everywhere(|| {
        let named = fiber::Builder::new().name("weft".to_owned()).spawn(fiber::current).unwrap();
        let line = line!() - 1;
        assert_eq!(named.thread().name(), Some("weft"));
        let id = named.thread().id();
        let seen = named.join().unwrap();
        assert_eq!((seen.name(), seen.id()), (Some("weft"), id));
        let place = seen.spawned_at().unwrap();
        assert_eq!((place.line(), place.file()), (line, file!()));
        assert_eq!(fiber::spawn(|| fiber::current().name().map(str::to_owned)).join().unwrap(), None);
    });
}

#[test]
fn numbers_are_never_used_twice() {
    let ids = Arc::new(Mutex::new(HashSet::new()));
    let count = {
        let ids = ids.clone();
        move || {
            // More than a worker takes at once.
            let fibers: Vec<_> = (0..5_000).map(|_| fiber::spawn(|| fiber::current().id())).collect();
            for fiber in fibers {
                assert!(ids.lock().unwrap().insert(fiber.join().unwrap()));
            }
        }
    };
    everywhere(count);
    assert!(ids.lock().unwrap().insert(fiber::current().id()), "a thread has one too");
    assert_eq!(fiber::current().id(), fiber::current().id());
}

#[test]
fn a_local_fiber_stays_with_what_is_not_send() {
    everywhere(|| {
        let value = Rc::new(Cell::new(1));
        let (copy, thread) = (value.clone(), std::thread::current().id());
        let local = fiber::spawn_local(move || {
            for _ in 0..10 {
                fiber::yield_now();
            }
            copy.set(copy.get() + 1);
            (copy, std::thread::current().id())
        });
        // The fiber that joins must stay too, for what it holds.
        let _stay = fiber::pin();
        let (copy, where_it_ran) = local.join().unwrap();
        assert!(Rc::ptr_eq(&value, &copy));
        assert_eq!((value.get(), where_it_ran), (2, thread));
    });
}

#[test]
fn a_local_fiber_needs_a_worker() {
    let error = fiber::try_spawn_local(|| 1).unwrap_err();
    assert!(error.to_string().contains("plain thread"), "{error}");
    assert_eq!(error.into_inner()(), 1);
}

#[test]
fn a_dispatched_fiber_runs_at_once() {
    everywhere(|| {
        let (sender, receiver) = mpsc::channel();
        let copy = sender.clone();
        let child = fiber::Builder::new().launch(fiber::Launch::Dispatch).spawn(move || {
            copy.send(1).unwrap();
            fiber::yield_now();
            copy.send(3).unwrap();
        });
        sender.send(2).unwrap();
        child.unwrap().join().unwrap();
        drop(sender);
        let order: Vec<_> = receiver.iter().collect();
        assert_eq!(order[0], 1, "{order:?}");
        assert_eq!(order.len(), 3);
    });
}

#[test]
fn there_may_be_a_limit() {
    let runtime = Watched::new(Runtime::builder().workers(2).max_fibers(3).start().unwrap());
    let refused = runtime.run(|| {
        let park = || {
            fiber::spawn(|| {
                fiber::park();
            })
        };
        let two = [park(), park()];
        let error = fiber::try_spawn(|| 5).unwrap_err();
        assert!(error.is_limit() && error.to_string().contains('3'), "{error}");
        two.iter().for_each(|fiber| fiber.thread().unpark());
        two.into_iter().for_each(|fiber| fiber.join().unwrap());
        error.into_inner()()
    });
    assert_eq!(refused, 5);
}

#[test]
fn a_limit_is_exact_whoever_races_for_the_last_place() {
    const MOST: usize = 10;
    for kind in KINDS {
        let builder = match kind {
            Kind::Pinned => Runtime::builder(),
            // SAFETY: the fibers hold nothing of their thread.
            Kind::Migrating => unsafe { Runtime::builder().assume_migration_safe() },
        };
        let runtime = Watched::new(builder.workers(2).max_fibers(MOST).start().unwrap());
        for _ in 0..200 {
            let start = std::sync::Barrier::new(4);
            let made: Vec<_> = std::thread::scope(|scope| {
                let spawner = || {
                    start.wait();
                    std::iter::from_fn(|| runtime.try_spawn(fiber::park).ok()).collect::<Vec<_>>()
                };
                let threads: Vec<_> = (0..4).map(|_| scope.spawn(spawner)).collect();
                threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
            });
            assert_eq!(made.len(), MOST);
            for fiber in made {
                fiber.thread().unpark();
                fiber.join().unwrap();
                // The fiber's place is free when its end is visible to a joiner.
                runtime.try_spawn(|| ()).unwrap().join().unwrap();
            }
        }
        // No fiber of a refused batch is left.
        for _ in 0..3 {
            let parks = std::iter::repeat_n(fiber::park as fn(), MOST + 1);
            let refused = runtime.run(move || fiber::try_spawn_batch(parks).unwrap_err().is_limit());
            assert!(refused);
        }
    }
}

#[test]
fn a_stack_that_cannot_be_is_refused() {
    everywhere(|| {
        let error = fiber::Builder::new().stack_size(1 << 40).spawn(|| ()).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput, "{error}");
        // As for threads, the smallest there is will do.
        assert_eq!(fiber::Builder::new().stack_size(0).spawn(|| 1).unwrap().join().unwrap(), 1);
    });
    let error = Runtime::builder().stack_size(1 << 40).start().unwrap_err();
    assert!(error.to_string().contains("67108864 at most"), "{error}");
}

#[test]
fn a_stack_may_have_any_size() {
    everywhere(|| {
        let large = fiber::Builder::new().stack_size(8 << 20).spawn(|| {
            let many = [1_u8; 4 << 20];
            std::hint::black_box(&many).iter().map(|one| u64::from(*one)).sum::<u64>()
        });
        assert_eq!(large.unwrap().join().unwrap(), 4 << 20);
    });
}
