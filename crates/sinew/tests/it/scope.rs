//! Fibers that borrow.

use super::support::{Watched, everywhere, in_child, message, mute, panics_with, quiet_panic, stderr};
use sinew::{fiber, time};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

#[test]
fn a_scope_waits_for_its_fibers() {
    everywhere(|| {
        let mut numbers = vec![0; 100];
        fiber::scope(|scope| {
            for (index, number) in numbers.iter_mut().enumerate() {
                scope.spawn(move || {
                    if index % 3 == 0 {
                        fiber::yield_now();
                    }
                    *number = index;
                });
            }
        });
        assert!(numbers.iter().enumerate().all(|(index, number)| index == *number));
    });
}

#[test]
fn a_handle_tells_whether_its_fiber_has_ended() {
    everywhere(|| {
        fiber::scope(|scope| {
            let waits = scope.spawn(fiber::park);
            let was_finished = waits.is_finished();
            waits.thread().unpark();
            while !waits.is_finished() {
                fiber::yield_now();
            }
            waits.join().unwrap();
            assert!(!was_finished);
        });
    });
}

#[test]
fn a_scopes_fibers_make_more_of_them() {
    everywhere(|| {
        let count = AtomicUsize::new(0);
        fiber::scope(|scope| {
            for _ in 0..10 {
                scope.spawn(|| {
                    for _ in 0..10 {
                        scope.spawn(|| count.fetch_add(1, Ordering::Relaxed));
                    }
                });
            }
        });
        assert_eq!(count.load(Ordering::Relaxed), 100);
    });
}

#[test]
fn threads_have_scopes_too() {
    let text = String::from("borrowed");
    let ended = AtomicUsize::new(0);
    let length = fiber::scope(|scope| {
        scope.spawn(|| {
            fiber::sleep(Duration::from_millis(1));
            ended.fetch_add(text.len(), Ordering::Relaxed);
        });
        scope.spawn(|| text.len()).join().unwrap()
    });
    assert_eq!((length, ended.into_inner()), (8, 8));
}

#[test]
fn a_panic_of_the_body_comes_out_after_the_fibers_have_ended() {
    everywhere(|| {
        let ended = AtomicUsize::new(0);
        let panic = catch_unwind(AssertUnwindSafe(|| {
            fiber::scope(|scope| {
                scope.spawn(|| {
                    fiber::sleep(Duration::from_micros(200));
                    ended.fetch_add(1, Ordering::Relaxed);
                });
                quiet_panic("the body's");
            })
        }));
        assert_eq!(message(&*panic.unwrap_err()), "the body's");
        assert_eq!(ended.load(Ordering::Relaxed), 1);
    });
}

#[test]
fn a_panic_that_nobody_joined_comes_out_of_the_scope() {
    let _muted = mute("a scoped fiber panicked");
    everywhere(|| {
        for is_kept in [false, true] {
            let panic = catch_unwind(|| {
                fiber::scope(|scope| {
                    let fiber = scope.spawn(|| quiet_panic("the fiber's"));
                    while is_kept && !fiber.is_finished() {
                        fiber::yield_now();
                    }
                })
            });
            assert!(message(&*panic.unwrap_err()).contains("a scoped fiber panicked"));
        }
        let joined = fiber::scope(|scope| scope.spawn(|| quiet_panic("the fiber's")).join().is_err());
        assert!(joined);
    });
}

#[test]
fn the_panic_is_said_to_be_where_the_scope_is() {
    let output = in_child("scope::the_panic_is_said_to_be_where_the_scope_is", || {
        let scope = || fiber::scope(|scope| drop(scope.spawn(|| panic!("the fiber's"))));
        catch_unwind(scope).unwrap_err();
        let tried = || {
            fiber::try_scope(|scope| {
                scope.spawn(|| panic!("the fiber's"));
                Ok::<_, ()>(())
            })
        };
        assert!(catch_unwind(tried).is_err());
    });
    let said = stderr(&output);
    let places: Vec<_> = said.lines().filter(|line| line.contains("panicked at")).collect();
    assert_eq!(places.len(), 4, "{said}");
    assert!(places.iter().all(|place| place.contains(file!())), "{said}");
}

#[test]
fn a_scoped_fiber_may_have_a_name_and_be_refused() {
    everywhere(|| {
        let text = String::from("borrowed");
        let (name, length) = fiber::scope(|scope| {
            let builder = fiber::Builder::new().name("weft".to_owned());
            let fiber = builder.spawn_scoped(scope, || {
                fiber::yield_now();
                (fiber::current().name().map(str::to_owned), text.len())
            });
            fiber.unwrap().join().unwrap()
        });
        assert_eq!((name.as_deref(), length), (Some("weft"), 8));
    });
    let runtime = Watched::new(sinew::Runtime::builder().workers(1).max_fibers(1).start().unwrap());
    let kind = runtime.run(|| {
        // A scope waits for none that was refused.
        fiber::scope(|scope| fiber::Builder::new().spawn_scoped(scope, || ()).unwrap_err().kind())
    });
    assert_eq!(kind, std::io::ErrorKind::QuotaExceeded);
}

#[test]
fn many_fibers_of_a_scope_are_made_at_once() {
    everywhere(|| {
        let mut numbers = vec![0; 100];
        fiber::scope(|scope| {
            let fibers = scope.spawn_batch(numbers.iter_mut().enumerate().map(|(index, number)| {
                move || {
                    *number = index;
                    index
                }
            }));
            assert_eq!(fibers.len(), 100);
            assert!(fibers.into_iter().enumerate().all(|(index, fiber)| fiber.join().unwrap() == index));
        });
        assert!(numbers.iter().enumerate().all(|(index, number)| index == *number));
        time::timeout(Duration::from_secs(3_600), || {
            let deadlines: Vec<_> = fiber::scope(|scope| {
                scope
                    .spawn_batch([fiber::deadline; 2])
                    .into_iter()
                    .map(|fiber| fiber.join().unwrap())
                    .collect()
            });
            assert_eq!(deadlines, vec![fiber::deadline(); 2]);
        });
    });
}

/// None of them runs, and the scope does not wait for them.
#[test]
fn a_batch_of_a_scope_is_made_whole_or_not_at_all() {
    let runtime = Watched::new(sinew::Runtime::builder().workers(2).max_fibers(4).start().unwrap());
    let run = Arc::new(AtomicUsize::new(0));
    let count = run.clone();
    runtime.run(move || {
        panics_with("the runtime has reached its limit", || {
            fiber::scope(|scope| scope.spawn_batch([|| count.fetch_add(1, Ordering::Relaxed); 4]).len())
        });
        let bodies = (0..4).map(|number| if number < 3 { || () } else { quiet_panic("iterator") });
        assert!(
            catch_unwind(AssertUnwindSafe(|| fiber::scope(|scope| scope.spawn_batch(bodies).len()))).is_err()
        );
        assert_eq!(fiber::scope(|scope| scope.spawn_batch([|| (); 3]).len()), 3, "all have left");
    });
    assert_eq!(run.load(Ordering::Relaxed), 0);
}
