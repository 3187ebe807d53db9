//! Dropping a coroutine: not started, suspended, or with a body that resists.

use std::cell::Cell;
use std::mem;
use std::panic::{self, AssertUnwindSafe};
use std::rc::Rc;
use std::thread;

use sinew_coroutine::{CoroutineState, Suspender};

use crate::support::{
    Log, Tested, Witness, coroutine, in_child, leak_checked, leaking, panic_message, stderr,
};

/// Returns a suspended coroutine with the witness `a` in a frame below a frame with the witness
/// `b`.
fn suspended(log: &Log) -> Tested<(), (), ()> {
    fn inner(suspender: &Suspender<(), ()>, log: Log) {
        let _witness = Witness('b', log);
        suspender.suspend(());
    }
    let inside = log.clone();
    let mut coroutine = coroutine(move |suspender, ()| {
        let _witness = Witness('a', inside.clone());
        inner(suspender, inside);
    });
    assert_eq!(coroutine.resume(()), CoroutineState::Yielded(()));
    coroutine
}

#[test]
fn a_coroutine_that_never_ran_drops_its_closure() {
    leak_checked(|| {
        let log = Log::default();
        let witness = Witness('c', log.clone());
        drop(coroutine::<(), (), _>(move |_, ()| drop(witness)));
        assert_eq!(log.text(), "c");
    });
}

#[test]
fn a_closure_that_panics_when_dropped_panics_out_of_the_drop() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("boom");
        }
    }
    leak_checked(|| {
        let bomb = Bomb;
        let coroutine = coroutine::<(), (), _>(move |_, ()| drop(bomb));
        assert_eq!(panic_message(|| drop(coroutine)), "boom");
    });
}

#[test]
fn a_suspended_coroutine_is_unwound_innermost_first() {
    leak_checked(|| {
        let log = Log::default();
        drop(suspended(&log));
        assert_eq!(log.text(), "ba");
        assert!(!thread::panicking());
    });
}

#[test]
fn unwinding_for_a_drop_does_not_call_the_panic_hook() {
    let output = in_child("dropping::unwinding_for_a_drop_does_not_call_the_panic_hook", || {
        panic::set_hook(Box::new(|_| std::process::exit(1)));
        drop(suspended(&Log::default()));
    });
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn a_deep_stack_is_unwound() {
    fn dive(suspender: &Suspender<(), ()>, depth: usize, log: &Log) {
        let _witness = Witness('.', log.clone());
        if depth == 0 {
            suspender.suspend(());
        } else {
            dive(suspender, depth - 1, log);
        }
    }
    leak_checked(|| {
        let log = Log::default();
        let inside = log.clone();
        let mut deep = coroutine(move |suspender, ()| dive(suspender, 99, &inside));
        deep.resume(());
        drop(deep);
        assert_eq!(log.text().len(), 100);
    });
}

#[test]
fn a_drop_while_the_owner_panics_unwinds_too() {
    leak_checked(|| {
        let log = Log::default();
        let coroutine = suspended(&log);
        let message = panic_message(move || {
            let _owned = coroutine;
            panic!("the owner's");
        });
        assert_eq!((message.as_str(), log.text().as_str()), ("the owner's", "ba"));
        assert!(!thread::panicking());
    });
}

/// Returns a coroutine whose body catches the unwinding of its drop, and then runs `after`.
fn swallowing(after: impl FnOnce(&Suspender<(), ()>) + 'static) -> Tested<(), (), ()> {
    let mut coroutine = coroutine(move |suspender, ()| {
        let caught = panic::catch_unwind(AssertUnwindSafe(|| suspender.suspend(())));
        assert!(caught.is_err(), "only a drop continues here");
        after(suspender);
    });
    coroutine.resume(());
    coroutine
}

#[test]
fn a_body_that_catches_the_unwinding_and_returns_ends() {
    leak_checked(|| drop(swallowing(|_| {})));
}

#[test]
fn a_body_that_resumes_the_unwinding_ends() {
    leak_checked(|| {
        let mut coroutine = coroutine(|suspender, ()| {
            let caught = panic::catch_unwind(AssertUnwindSafe(|| suspender.suspend(())));
            panic::resume_unwind(caught.expect_err("only a drop continues here"));
        });
        coroutine.resume(());
        drop::<Tested<(), (), ()>>(coroutine);
    });
}

#[test]
fn a_body_that_catches_the_unwinding_and_panics_panics_out_of_the_drop() {
    leak_checked(|| {
        let coroutine = swallowing(|_| panic!("its own"));
        assert_eq!(panic_message(|| drop(coroutine)), "its own");
    });
}

struct Unpleasant;

impl Drop for Unpleasant {
    fn drop(&mut self) {
        panic!("a payload that panics when dropped");
    }
}

#[test]
fn a_second_panic_while_the_owner_panics_is_dropped_even_if_that_panics() {
    leak_checked(|| {
        let log = Log::default();
        let witness = Witness('w', log.clone());
        let coroutine = swallowing(move |_| {
            let _witness = witness;
            panic::panic_any(Unpleasant);
        });
        let message = panic_message(move || {
            let _owned = coroutine;
            panic!("the owner's");
        });
        assert_eq!((message.as_str(), log.text().as_str()), ("the owner's", "w"));
        assert!(!thread::panicking());
    });
}

#[test]
fn a_body_that_catches_the_unwinding_and_suspends_again_is_leaked() {
    let name = "dropping::a_body_that_catches_the_unwinding_and_suspends_again_is_leaked";
    let output = in_child(name, || {
        let log = Log::default();
        leaking(1, || {
            let witness = Witness('w', log.clone());
            drop(swallowing(move |suspender| {
                let _kept = witness;
                suspender.suspend(());
            }));
        });
        assert_eq!(log.text(), "", "the frames are still there, so nothing on them may be dropped");
        assert!(!thread::panicking());
    });
    assert!(output.status.success(), "{output:?}");
    assert!(stderr(&output).contains("its stack is leaked"), "{output:?}");
}

#[test]
fn a_leaked_coroutine_cannot_be_suspended_again_through_its_handle() {
    let name = "dropping::a_leaked_coroutine_cannot_be_suspended_again_through_its_handle";
    let output = in_child(name, || {
        let smuggled = Rc::new(Cell::new(std::ptr::null()));
        let inside = smuggled.clone();
        drop(swallowing(move |suspender| {
            inside.set(suspender);
            suspender.suspend(());
        }));
        let message = panic_message(|| crate::nesting::suspend_through(smuggled.get()));
        assert!(message.contains("is not running"), "{message}");
    });
    assert!(output.status.success(), "{output:?}");
}

/// Drops the coroutine while the owner unwinds from a panic.
fn drop_in_panic(coroutine: Tested<(), (), ()>) {
    let message = panic_message(move || {
        let _owned = coroutine;
        panic!("the owner's");
    });
    assert_eq!(message, "the owner's");
    assert!(!thread::panicking());
}

#[test]
fn while_the_owner_panics_a_body_that_suspends_again_gets_a_panic_once() {
    leak_checked(|| drop_in_panic(swallowing(|suspender| suspender.suspend(()))));
}

#[test]
fn while_the_owner_panics_a_body_that_suspends_twice_is_leaked() {
    let name = "dropping::while_the_owner_panics_a_body_that_suspends_twice_is_leaked";
    let output = in_child(name, || {
        let insist = |suspender: &Suspender<(), ()>| {
            let told = panic_message(|| suspender.suspend(()));
            assert!(told.contains("while it was being dropped"), "{told}");
            suspender.suspend(());
        };
        leaking(1, || drop_in_panic(swallowing(insist)));
    });
    assert!(output.status.success(), "{output:?}");
    assert!(stderr(&output).contains("its stack is leaked"), "{output:?}");
}

/// Suspends its coroutine when it is dropped.
struct Suspends(*const Suspender<(), ()>, Log);

impl Suspends {
    fn suspend(&self) {
        crate::nesting::suspend_through(self.0);
    }
}

impl Drop for Suspends {
    fn drop(&mut self) {
        let caught = panic::catch_unwind(AssertUnwindSafe(|| self.suspend()));
        self.1.push(if caught.is_err() { 'e' } else { 'o' });
    }
}

#[test]
fn a_destructor_that_suspends_during_a_drop_gets_a_panic_it_can_catch() {
    leak_checked(|| {
        let log = Log::default();
        let inside = log.clone();
        let mut coroutine = coroutine(move |suspender, ()| {
            let _suspends = Suspends(suspender, inside);
            suspender.suspend(());
        });
        coroutine.resume(());
        drop::<Tested<(), (), ()>>(coroutine);
        assert_eq!(log.text(), "e");
        assert!(!thread::panicking());
    });
}

#[test]
fn a_destructor_may_suspend_during_an_ordinary_panic() {
    leak_checked(|| {
        let log = Log::default();
        let inside = log.clone();
        let mut coroutine = coroutine(move |suspender: &Suspender<(), ()>, ()| {
            let _suspends = Suspends(suspender, inside);
            panic!("the body's");
        });
        assert_eq!(coroutine.resume(()), CoroutineState::Yielded(()));
        assert!(thread::panicking(), "std counts panics per thread, as the documentation warns");
        let message = panic_message(|| coroutine.resume(()));
        assert_eq!((message.as_str(), log.text().as_str()), ("the body's", "o"));
        assert!(!thread::panicking());
        drop::<Tested<(), (), ()>>(coroutine);
    });
}

#[test]
fn a_forgotten_coroutine_stays_as_it_is() {
    let log = Log::default();
    leaking(1, || mem::forget(suspended(&log)));
    assert_eq!(log.text(), "");
}
