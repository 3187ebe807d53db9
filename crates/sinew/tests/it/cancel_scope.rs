//! Cancelling the fibers of scopes.

use super::support::{everywhere, message, mute, pinned, quiet_panic};
use sinew::fiber::{self, State, Stopped};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

type Reasons = Mutex<Vec<Option<String>>>;

/// Waits until it is stopped, and says why.
fn until_stopped(reasons: &Reasons) {
    let stopped = fiber::park_cancellable().unwrap_err();
    reasons.lock().unwrap().push(stopped.reason().map(str::to_owned));
}

#[test]
fn a_cancelled_fiber_takes_those_of_its_scopes_along() {
    everywhere(|| {
        let stopped = std::sync::Arc::new(AtomicUsize::new(0));
        let count = stopped.clone();
        let parent = fiber::spawn(move || {
            let wait = || {
                fiber::park_cancellable().unwrap_err();
                count.fetch_add(1, Ordering::Relaxed);
            };
            // The parents are in joins, which do not observe it.
            fiber::scope(|scope| {
                scope.spawn(wait);
                scope.spawn(|| {
                    fiber::scope(|scope| {
                        scope.spawn(wait);
                        scope.spawn(wait).join().unwrap();
                    });
                });
            });
            fiber::is_cancelled()
        });
        fiber::yield_now();
        parent.cancel();
        assert!(parent.join().unwrap());
        assert_eq!(stopped.load(Ordering::Relaxed), 3);
    });
}

#[test]
fn the_cancel_reaches_through_many_scopes() {
    fn nest(depth: usize) -> Stopped {
        if depth == 0 {
            return fiber::park_cancellable().unwrap_err();
        }
        fiber::scope(|scope| scope.spawn(|| nest(depth - 1)).join().unwrap())
    }
    everywhere(|| {
        let outermost = fiber::spawn(|| nest(300));
        for _ in 0..5 {
            fiber::yield_now();
        }
        outermost.cancel();
        assert!(outermost.join().unwrap().is_cancelled());
    });
}

#[test]
fn a_scope_cancels_its_fibers_and_those_to_come() {
    everywhere(|| {
        let reasons = Reasons::default();
        fiber::scope(|scope| {
            scope.spawn(|| until_stopped(&reasons));
            fiber::yield_now();
            scope.cancel();
            assert!(!fiber::is_cancelled(), "the body is not");
            scope.spawn(|| until_stopped(&reasons));
            scope.token().cancel_with_reason("too late to matter");
        });
        assert_eq!(reasons.into_inner().unwrap(), [None, None]);
    });
}

#[test]
fn a_body_that_panics_cancels_the_fibers() {
    everywhere(|| {
        let reasons = Reasons::default();
        let panic = catch_unwind(AssertUnwindSafe(|| {
            fiber::scope(|scope| {
                scope.spawn(|| until_stopped(&reasons));
                quiet_panic("the body's");
            })
        }));
        assert_eq!(message(&*panic.unwrap_err()), "the body's");
        assert_eq!(reasons.into_inner().unwrap(), [Some("the body of the scope panicked".to_owned())]);
    });
}

#[test]
fn a_body_that_fails_cancels_the_fibers() {
    everywhere(|| {
        let reasons = Reasons::default();
        let result = fiber::try_scope(|scope| {
            scope.spawn(|| until_stopped(&reasons));
            scope.spawn(|| until_stopped(&reasons));
            Err::<(), _>("failed")
        });
        assert_eq!(result, Err("failed"));
        let expected = Some("the body of the scope returned an error".to_owned());
        assert_eq!(reasons.into_inner().unwrap(), [expected.clone(), expected]);
        let value = fiber::try_scope(|scope| {
            let number = scope.spawn(|| fiber::checkpoint().map(|()| 7)).join().unwrap()?;
            Ok::<_, Stopped>(number)
        });
        assert_eq!(value.unwrap(), 7);
    });
}

#[test]
fn a_fiber_that_panics_cancels_the_others() {
    let _muted = mute("a scoped fiber panicked");
    everywhere(|| {
        for is_joined in [false, true] {
            let reasons = Reasons::default();
            let result = catch_unwind(AssertUnwindSafe(|| {
                fiber::try_scope(|scope| {
                    scope.spawn(|| until_stopped(&reasons));
                    let bad = scope.spawn(|| quiet_panic("the fiber's"));
                    // The body hears of it as well.
                    until_stopped(&reasons);
                    if is_joined {
                        bad.join().unwrap_err();
                    }
                    Ok::<_, ()>(())
                })
            }));
            let expected = Some("a fiber of the scope panicked".to_owned());
            assert_eq!(reasons.into_inner().unwrap(), [expected.clone(), expected]);
            match result {
                Ok(result) => assert!(is_joined && result.is_ok()),
                Err(panic) => {
                    assert!(!is_joined && message(&*panic).contains("a scoped fiber panicked"));
                }
            }
        }
    });
}

#[test]
fn in_a_plain_scope_a_fiber_that_panics_is_alone() {
    everywhere(|| {
        fiber::scope(|scope| {
            let other = scope.spawn(|| {
                fiber::yield_now();
                fiber::is_cancelled()
            });
            scope.spawn(|| quiet_panic("the fiber's")).join().unwrap_err();
            assert!(!other.join().unwrap());
        });
    });
}

#[test]
fn threads_have_such_scopes_too() {
    // It watches over the test.
    let _watched = pinned(1);
    let reasons = Reasons::default();
    let token = fiber::CancelToken::new();
    token.run(|| {
        fiber::scope(|scope| {
            let fiber = scope.spawn(|| until_stopped(&reasons));
            while fiber.thread().state() != State::Parked {
                std::thread::yield_now();
            }
            token.cancel_with_reason("by a token around it");
        });
    });
    let failed = fiber::try_scope(|scope| {
        scope.spawn(|| until_stopped(&reasons));
        Err::<(), _>(1)
    });
    assert_eq!(failed, Err(1));
    let expected = ["by a token around it", "the body of the scope returned an error"];
    assert_eq!(reasons.into_inner().unwrap(), expected.map(|reason| Some(reason.to_owned())));
}
