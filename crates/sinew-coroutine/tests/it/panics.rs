//! Panics in a body: they continue in the resumer, with their payload.

use std::panic::{self, AssertUnwindSafe};
use std::thread;

use sinew_coroutine::CoroutineState;

use crate::support::{Log, Tested, Witness, coroutine, leak_checked, panic_message};

#[test]
fn a_panic_continues_in_the_resumer_and_ends_the_coroutine() {
    leak_checked(|| {
        let log = Log::default();
        let inside = log.clone();
        let mut coroutine = coroutine(move |suspender, ()| {
            let _witness = Witness('w', inside);
            suspender.suspend(1);
            panic!("number {}", 2);
        });
        assert_eq!(coroutine.resume(()), CoroutineState::Yielded(1));
        assert_eq!(panic_message(|| coroutine.resume(())), "number 2");
        assert_eq!(log.text(), "w");
        assert!(coroutine.is_done());
        assert!(!thread::panicking());
        drop::<Tested<(), i32, ()>>(coroutine);
    });
}

#[test]
fn the_payload_is_unchanged() {
    leak_checked(|| {
        let payload = Box::new([7_u64; 4]);
        let address = payload.as_ptr().addr();
        let mut coroutine: Tested<(), (), ()> = coroutine(move |_, ()| panic::resume_unwind(payload));
        let caught = panic::catch_unwind(AssertUnwindSafe(|| coroutine.resume(()))).expect_err("it panics");
        let payload = caught.downcast::<[u64; 4]>().expect("the payload's type");
        assert_eq!((payload.as_ptr().addr(), *payload), (address, [7; 4]));
    });
}

struct Unpleasant;

impl Drop for Unpleasant {
    fn drop(&mut self) {
        panic!("do not drop me");
    }
}

#[test]
fn a_payload_that_panics_when_dropped_is_handed_over_untouched() {
    leak_checked(|| {
        let mut coroutine: Tested<(), (), ()> = coroutine(|_, ()| panic::panic_any(Unpleasant));
        let caught = panic::catch_unwind(AssertUnwindSafe(|| coroutine.resume(()))).expect_err("it panics");
        assert!(caught.is::<Unpleasant>());
        assert_eq!(panic_message(move || drop(caught)), "do not drop me");
        assert!(coroutine.is_done());
    });
}

#[test]
fn a_stack_can_be_used_again_after_a_panic() {
    leak_checked(|| {
        let mut panicking: Tested<(), (), ()> = coroutine(|_, ()| panic!("once"));
        assert_eq!(panic_message(|| panicking.resume(())), "once");
        let stack = panicking.into_stack().expect("done");
        let mut next = Tested::<u8, (), u8>::new(stack, |_, byte| byte + 1);
        assert_eq!(next.resume(1), CoroutineState::Complete(2));
    });
}

#[test]
fn a_panic_caught_inside_stays_inside() {
    leak_checked(|| {
        let mut coroutine = coroutine(|suspender, ()| {
            let message = panic_message(|| -> () {
                suspender.suspend("before");
                panic!("inside");
            });
            suspender.suspend("between");
            message
        });
        assert_eq!(coroutine.resume(()), CoroutineState::Yielded("before"));
        assert_eq!(coroutine.resume(()), CoroutineState::Yielded("between"));
        assert_eq!(coroutine.resume(()), CoroutineState::Complete("inside".to_owned()));
    });
}

#[test]
fn a_panic_crosses_nested_coroutines_one_by_one() {
    leak_checked(|| {
        let log = Log::default();
        let (middle_log, inner_log) = (log.clone(), log.clone());
        let mut outer: Tested<(), (), ()> = coroutine(move |_, ()| {
            let _witness = Witness('m', middle_log);
            let mut inner: Tested<(), (), ()> = coroutine(move |_, ()| {
                let _witness = Witness('i', inner_log);
                panic!("from the depth");
            });
            inner.resume(());
        });
        assert_eq!(panic_message(|| outer.resume(())), "from the depth");
        assert_eq!(log.text(), "im");
    });
}
