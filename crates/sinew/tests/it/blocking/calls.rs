//! What a call is given, and what comes back.

use super::super::support::{everywhere, in_child, pinned, refused, stderr, watch_test};
use sinew::context::{Context, Key};
use sinew::{blocking, fiber};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

static NUMBER: Key<u32> = Key::new();

fn number() -> Option<u32> {
    NUMBER.get().map(|number| *number)
}

#[test]
fn a_call_borrows_and_returns() {
    fn check() {
        let here = thread::current().id();
        let (mut list, text) = (vec![1], String::from("warp"));
        for number in 2..20 {
            let (id, length) = blocking(|| {
                list.push(number);
                (thread::current().id(), text.len())
            });
            assert!(length == 4 && (!fiber::is_fiber() || id != here));
        }
        assert_eq!(list, Vec::from_iter(1..20));
        // One that has no size, and one that has much.
        blocking(|| ());
        assert_eq!(blocking(|| [7_u8; 10_000])[9_999], 7);
    }
    everywhere(|| fiber::spawn_batch([check; 20]).into_iter().for_each(|fiber| fiber.join().unwrap()));
    check();
}

#[test]
fn a_panic_goes_on_in_the_caller() {
    fn check() {
        let mut count = 0;
        for round in 0..5 {
            let panic = catch_unwind(AssertUnwindSafe(|| {
                blocking(|| {
                    count += 1;
                    std::panic::resume_unwind(Box::new(round))
                })
            }));
            assert_eq!(panic.unwrap_err().downcast_ref(), Some(&round));
        }
        assert_eq!((count, blocking(|| 3)), (5, 3));
    }
    everywhere(check);
    check();
}

#[test]
fn a_panic_is_told_once() {
    let output = in_child("blocking::calls::a_panic_is_told_once", || {
        let result = pinned(1).spawn(|| blocking(|| panic!("told by a thread"))).join();
        assert!(result.is_err());
    });
    let text = stderr(&output);
    assert!(output.status.success(), "{text}");
    assert_eq!(text.matches("told by a thread").count(), 1, "{text}");
}

#[test]
fn the_context_is_the_callers() {
    fn check() {
        for round in 0..10 {
            assert_eq!(blocking(number), None);
            let context = Context::new().with(&NUMBER, round);
            context.run(|| {
                assert_eq!((blocking(number), number()), (Some(round), Some(round)));
                let spawned = blocking::spawn(number);
                assert_eq!(spawned.join().unwrap(), Some(round));
                assert_eq!(blocking::blocking_cancellable(number).unwrap(), Some(round));
            });
        }
    }
    everywhere(check);
    check();
}

#[test]
fn what_is_in_force_for_the_caller_ends_nothing_inside() {
    everywhere(|| {
        let fiber = fiber::spawn(|| {
            fiber::park_cancellable().unwrap_err();
            (blocking(fiber::is_cancelled), blocking(|| fiber::checkpoint().is_ok()))
        });
        fiber.cancel();
        assert_eq!(fiber.join().unwrap(), (false, true));
    });
}

#[test]
fn a_call_inside_a_call_is_made_there() {
    everywhere(|| {
        let (outer, inner) = blocking(|| (thread::current().id(), blocking(|| thread::current().id())));
        assert_eq!(outer, inner);
        assert!(!blocking(fiber::is_fiber));
        // What waits there blocks the thread, and fibers can be made.
        assert_eq!(blocking(|| fiber::spawn(|| 6).join().unwrap()), 6);
        let in_place = blocking(|| sinew::block_in_place(|| thread::current().id()));
        assert_ne!(in_place, thread::current().id());
    });
}

#[test]
fn a_plain_thread_makes_its_calls_itself() {
    let _watch = watch_test();
    let here = thread::current().id();
    assert_eq!(blocking(|| thread::current().id()), here);
    assert_eq!(blocking::blocking_cancellable(|| thread::current().id()).unwrap(), here);
    assert_eq!(sinew::block_in_place(|| thread::current().id()), here);
}

#[test]
fn inside_no_suspend_nothing_is_called() {
    everywhere(|| {
        let calls = AtomicUsize::new(0);
        let call = || calls.fetch_add(1, Ordering::Relaxed);
        refused(|| blocking(call));
        refused(|| blocking::blocking_cancellable(|| unreachable!()).map(|(): ()| ()));
        assert_eq!(calls.load(Ordering::Relaxed), 0);
        blocking(call);
        // In place nothing waits.
        fiber::no_suspend(|| sinew::block_in_place(call));
        assert_eq!(calls.load(Ordering::Relaxed), 2);
    });
}

#[test]
fn a_destructor_may_block_while_its_fiber_unwinds() {
    struct Calls;
    impl Drop for Calls {
        fn drop(&mut self) {
            assert_eq!(blocking(|| 6), 6);
        }
    }
    everywhere(|| {
        let panic = catch_unwind(|| {
            let _calls = Calls;
            std::panic::resume_unwind(Box::new(()));
        });
        assert!(panic.is_err());
    });
}

#[test]
fn a_call_that_is_not_waited_for_is_joined_later() {
    fn check() {
        let calls: Vec<_> = (0..20).map(|number| blocking::spawn(move || number * 2)).collect();
        for (number, call) in calls.into_iter().enumerate() {
            assert_eq!(call.join().unwrap(), number * 2);
        }
        let panic = blocking::spawn(|| std::panic::resume_unwind(Box::new(5))).join();
        assert_eq!(panic.map(|()| 0).unwrap_err().downcast_ref(), Some(&5));
    }
    everywhere(check);
    check();
}

/// A detached call that blocks holds no worker.
#[test]
fn the_body_of_a_detached_call_runs_on_a_plain_thread() {
    fn check() {
        let call = || (fiber::is_fiber(), thread::current().id());
        let calls: Vec<_> = (0..5).map(|_| blocking::spawn(call)).collect();
        for call in calls {
            let (is_fiber, thread) = call.join().unwrap();
            assert!(!is_fiber && thread != thread::current().id());
        }
    }
    everywhere(check);
    check();
}
