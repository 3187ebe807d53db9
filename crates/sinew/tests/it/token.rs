//! Tokens.

use super::support::everywhere;
use sinew::fiber::{self, CancelToken, State};
use std::thread;
use std::time::Duration;

const LONG: Duration = Duration::from_secs(3_600);

#[test]
fn a_token_cancels_fibers_and_threads_inside() {
    everywhere(|| {
        let token = CancelToken::new();
        let fibers: Vec<_> = (0..50)
            .map(|number| {
                let token = token.clone();
                fiber::spawn(move || {
                    token.run(|| {
                        if number % 2 == 0 {
                            fiber::park_cancellable()
                        } else {
                            fiber::sleep_cancellable(LONG)
                        }
                    })
                })
            })
            .collect();
        let waits: [fn() -> Result<(), fiber::Stopped>; 3] = [
            || fiber::park_cancellable(),
            || fiber::sleep_cancellable(LONG),
            || {
                let error = fiber::spawn(fiber::park).join_cancellable().unwrap_err();
                error.handle.thread().unpark();
                error.handle.join().unwrap();
                Err(error.stopped)
            },
        ];
        let threads = waits.map(|wait| {
            let token = token.clone();
            thread::spawn(move || token.run(wait))
        });
        fiber::yield_now();
        token.cancel_with_reason("enough");
        for fiber in fibers {
            assert_eq!(fiber.join().unwrap().unwrap_err().reason(), Some("enough"));
        }
        for thread in threads {
            let stopped = thread.join().unwrap().unwrap_err();
            assert!(stopped.is_cancelled() && stopped.to_string().contains("its token was cancelled"));
        }
        assert!(!fiber::is_cancelled());
    });
}

#[test]
fn waiting_for_a_token() {
    everywhere(|| {
        let parent = CancelToken::new();
        let token = parent.child();
        let copies = [(); 3].map(|()| token.clone());
        let [one, two, three] = copies;
        let fiber = fiber::spawn(move || one.wait());
        let thread = thread::spawn(move || two.wait());
        assert!(!three.wait_timeout(Duration::from_micros(50)));
        fiber.cancel();
        for _ in 0..10 {
            fiber::yield_now();
        }
        assert!(!fiber.is_finished(), "it waits for the token, and for nothing else");
        parent.cancel();
        fiber.join().unwrap();
        thread.join().unwrap();
        three.wait();
        assert!(three.wait_timeout(LONG));
    });
}

#[test]
fn tokens_inside_one_another_all_count() {
    everywhere(|| {
        let (outer, inner) = (CancelToken::new(), CancelToken::new());
        for which in [&outer, &inner] {
            let (outer, inner) = (outer.child(), inner.child());
            let fiber = fiber::spawn(move || outer.run(|| inner.run(fiber::park_cancellable)));
            which.cancel();
            assert!(fiber.join().unwrap().is_err());
        }
        // One that is below the other, both ways round, and twice the same.
        let (one, two) = (CancelToken::new(), CancelToken::new());
        for (parent, is_first) in [(one, true), (two, false)] {
            let child = parent.child();
            let (first, second) = if is_first { (parent.clone(), child) } else { (child, parent.clone()) };
            let fiber =
                fiber::spawn(move || first.run(|| second.run(|| second.run(fiber::park_cancellable))));
            fiber::yield_now();
            parent.cancel();
            assert!(fiber.join().unwrap().is_err());
        }
    });
}

#[test]
fn what_is_outside_of_a_token_is_not_cancelled_by_it() {
    everywhere(|| {
        let token = CancelToken::new();
        let copy = token.clone();
        let fiber = fiber::spawn(move || {
            copy.run(|| fiber::sleep_cancellable(Duration::from_micros(10))).unwrap();
            fiber::park_cancellable()
        });
        while fiber.thread().state() != State::Parked {
            fiber::yield_now();
        }
        // It may be in the sleep still, or out of it.
        fiber::sleep(Duration::from_millis(1));
        fiber.thread().unpark();
        assert!(fiber.join().unwrap().is_ok());
        token.cancel();
        let entered = token
            .run(|| (fiber::checkpoint().is_err(), fiber::spawn(fiber::checkpoint).join().unwrap().is_ok()));
        assert_eq!(entered, (true, true), "nor are fibers that are in no scope");
    });
}

#[test]
fn parents_may_be_dropped() {
    let grandchild = {
        let parent = CancelToken::new();
        parent.child().child()
    };
    assert!(!grandchild.is_cancelled());
    grandchild.cancel();
    grandchild.cancel_with_reason("the first one stands");
    let stopped = grandchild.run(fiber::checkpoint).unwrap_err();
    assert_eq!(stopped.reason(), None);
    let many = CancelToken::new();
    let children: Vec<_> = (0..10_000).map(|_| many.child()).collect();
    many.cancel();
    assert!(children.iter().all(CancelToken::is_cancelled) && many.child().is_cancelled());
}
