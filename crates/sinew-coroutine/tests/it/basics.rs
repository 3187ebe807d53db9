//! Values in and out, the done state, reused stacks, and moving to another thread.
//!
//! # Safety
//!
//! Moves one coroutine between threads, with the promise that it holds only numbers.
#![expect(unsafe_code, reason = "moving a coroutine is unsafe")]

use std::fmt::Debug;

use sinew_coroutine::{Coroutine, CoroutineState, MmapStack, ResumeError};

use crate::support::{SIZE, allocations, coroutine, in_child, leak_checked, panic_message, stderr};

#[test]
fn values_travel_both_ways() {
    leak_checked(|| {
        let mut adder = coroutine(|suspender, first: u64| {
            let mut sum = first;
            for _ in 0..3 {
                sum += suspender.suspend(sum);
            }
            format!("sum {sum}")
        });
        assert!(!adder.is_done());
        assert_eq!(adder.resume(1), CoroutineState::Yielded(1));
        assert_eq!(adder.resume(10), CoroutineState::Yielded(11));
        assert_eq!(adder.resume(100), CoroutineState::Yielded(111));
        assert!(!adder.is_done());
        assert_eq!(adder.resume(1000), CoroutineState::Complete("sum 1111".to_owned()));
        assert!(adder.is_done());
    });
}

/// Sends a value in, yields it, sends it in again, and returns it.
fn round_trip<T: Clone + PartialEq + Debug + 'static>(value: &T) {
    leak_checked(|| {
        let mut echo = coroutine(|suspender, first: T| suspender.suspend(first));
        assert_eq!(echo.resume(value.clone()), CoroutineState::Yielded(value.clone()));
        assert_eq!(echo.resume(value.clone()), CoroutineState::Complete(value.clone()));
    });
}

#[derive(Clone, Debug, PartialEq)]
#[repr(align(128))]
struct Overaligned(u8);

#[test]
fn values_of_every_shape_arrive_whole() {
    round_trip(&());
    round_trip(&0_usize);
    round_trip(&7_u8);
    round_trip(&(1_u8, 2_u32));
    round_trip(&(1_u8, 2_u16, 3_u8));
    round_trip(&[1_u8, 2, 3]);
    round_trip(&Box::new(5));
    round_trip(&None::<Box<u8>>);
    round_trip(&1.5_f64);
    round_trip(&u128::MAX);
    round_trip(&"text".to_owned());
    round_trip(&[9_u64; 100]);
    round_trip(&Overaligned(3));
}

#[test]
fn nothing_is_allocated_by_a_switch() {
    let mut counter = coroutine(|suspender, ()| {
        for number in 0.. {
            suspender.suspend([number; 16]);
        }
    });
    assert!(allocations(|| drop(Box::new(1))) > 0, "allocations are counted");
    let count = allocations(|| {
        for number in 0..1000 {
            assert_eq!(counter.resume(()), CoroutineState::Yielded([number; 16]));
        }
    });
    assert_eq!(count, 0);
}

#[test]
fn a_coroutine_on_an_existing_stack_allocates_nothing() {
    let mut stack = Some(MmapStack::new(SIZE).expect("a stack"));
    let count = allocations(|| {
        for number in 0..1000 {
            let mut short = Coroutine::<_, (), _, _>::new(stack.take().expect("in hand"), |_, n: u64| n + 1);
            assert_eq!(short.resume(number), CoroutineState::Complete(number + 1));
            stack = short.into_stack().ok();
        }
    });
    assert_eq!(count, 0);
}

#[test]
fn a_done_coroutine_refuses_and_gives_the_value_back() {
    leak_checked(|| {
        let mut short = coroutine::<String, (), _>(|_, text| text.len());
        assert_eq!(short.resume("four".into()), CoroutineState::Complete(4));
        assert_eq!(short.try_resume("again".into()), Err(ResumeError("again".into())));
        let message = panic_message(|| short.resume("again".into()));
        assert_eq!(message, "the coroutine is done and cannot be resumed: check `is_done` first");
        assert!(short.is_done());
    });
}

#[test]
fn a_running_coroutine_cannot_be_reached_to_resume_it() {
    use std::cell::RefCell;
    use std::rc::Rc;
    leak_checked(|| {
        // The exclusive borrow of `resume` prevents this; a `RefCell` turns it into a check at run
        // time.
        let shared: Rc<RefCell<Option<crate::support::Tested<(), (), bool>>>> = Rc::default();
        let inner = Rc::downgrade(&shared);
        let body = move |_: &_, ()| inner.upgrade().expect("alive").try_borrow_mut().is_err();
        *shared.borrow_mut() = Some(coroutine(body));
        let mut slot = shared.borrow_mut();
        assert_eq!(slot.as_mut().expect("made").resume(()), CoroutineState::Complete(true));
    });
}

#[test]
fn a_stack_can_be_used_again_once_its_coroutine_is_done() {
    leak_checked(|| {
        let mut stack = crate::support::Counted::new();
        for number in 0..100 {
            let mut short = Coroutine::<_, (), _, _>::new(stack, |_, n: u64| n + 1);
            short = short.into_stack().err().expect("not started, so not done");
            assert_eq!(short.resume(number), CoroutineState::Complete(number + 1));
            stack = short.into_stack().expect("done");
        }
    });
}

#[cfg(not(any(sinew_asan, sinew_tsan)))]
#[test]
fn the_size_of_a_coroutine_is_its_stack_and_two_words() {
    assert_eq!(
        size_of::<Coroutine<String, String, String>>(),
        size_of::<MmapStack>() + 2 * size_of::<usize>()
    );
}

#[test]
fn a_movable_coroutine_continues_on_another_thread() {
    let stack = MmapStack::new(SIZE).expect("a stack");
    let counter = Coroutine::<u32, u32, (), _>::new(stack, |suspender, mut number| {
        loop {
            number = suspender.suspend(number + 1);
        }
    });
    // SAFETY: the body holds a number and uses no thread-local.
    let mut counter = unsafe { counter.into_movable() };
    for round in 0..10 {
        counter = std::thread::spawn(move || {
            assert_eq!(counter.resume(round), CoroutineState::Yielded(round + 1));
            counter
        })
        .join()
        .expect("the thread ends");
    }
    assert!(!counter.into_inner().is_done());
}

#[test]
fn a_coroutine_that_only_yields_is_an_iterator() {
    leak_checked(|| {
        let mut squares = coroutine(|suspender, ()| (1..4).for_each(|n| suspender.suspend(n * n)));
        assert_eq!(squares.by_ref().collect::<Vec<_>>(), [1, 4, 9]);
        assert_eq!(squares.next(), None);
    });
}

#[test]
fn a_state_returns_its_value() {
    assert_eq!(CoroutineState::<_, ()>::Yielded(1).yielded(), Some(1));
    assert_eq!(CoroutineState::<_, ()>::Yielded(1).complete(), None);
    assert_eq!(CoroutineState::<(), _>::Complete(2).complete(), Some(2));
    assert_eq!(CoroutineState::<(), _>::Complete(2).yielded(), None);
}

#[test]
fn a_panic_on_misuse_names_the_line_of_the_caller() {
    let output = in_child("basics::a_panic_on_misuse_names_the_line_of_the_caller", || {
        let mut short = coroutine::<(), (), ()>(|_, ()| {});
        short.resume(());
        short.resume(());
    });
    assert!(stderr(&output).contains("tests/it/basics.rs"), "{}", stderr(&output));
}
