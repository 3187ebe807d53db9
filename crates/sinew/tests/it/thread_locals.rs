//! What the docs of `sinew::fiber` say about thread-locals, as far as it can be shown without
//! undefined behaviour.

use std::cell::RefCell;
use std::sync::Arc;
use std::thread;

use sinew::coroutine::{Coroutine, MmapStack};
use sinew::fiber;
use sinew::sync::Event;

use super::support::{panics_with, pinned, refused};

#[test]
fn a_coroutine_in_a_thread_local_that_copies_what_it_needs_ends_with_its_thread() {
    thread_local! {
        static KEPT: RefCell<Option<Coroutine<(), (), ()>>> = const { RefCell::new(None) };
        static VALUE: String = String::from("dropped first");
    }
    struct Uses<'a>(&'a str);
    impl Drop for Uses<'_> {
        fn drop(&mut self) {
            assert_eq!(self.0, "dropped first");
        }
    }
    let ends = thread::spawn(|| {
        KEPT.with(|_| ());
        let stack = MmapStack::new(128 * 1024).unwrap();
        let mut coroutine = Coroutine::<(), (), ()>::new(stack, |suspender, ()| {
            let copy = VALUE.with(String::clone);
            let _uses = Uses(&copy);
            suspender.suspend(());
        });
        coroutine.resume(());
        KEPT.set(Some(coroutine));
    });
    ends.join().unwrap();
}

#[test]
fn an_initializer_that_waits_panics_inside_no_suspend() {
    thread_local! {
        static NAME: String = {
            fiber::yield_now();
            String::from("never made")
        };
    }
    let runtime = pinned(1);
    runtime.run(|| {
        let other = fiber::spawn(|| refused(|| NAME.with(String::len)));
        refused(|| NAME.with(String::len));
        other.join().unwrap();
    });
}

#[test]
fn a_borrow_across_a_wait_is_a_panic_in_another_fiber_and_ends() {
    thread_local! {
        static SHARED: RefCell<u32> = const { RefCell::new(0) };
    }
    let runtime = pinned(1);
    runtime.run(|| {
        let (begun, over) = (Arc::new(Event::manual()), Arc::new(Event::manual()));
        let (begins, ends) = (begun.clone(), over.clone());
        let holds = fiber::spawn(move || {
            SHARED.with_borrow_mut(|_| {
                begins.set();
                ends.wait();
            });
        });
        begun.wait();
        panics_with("already mutably borrowed", || SHARED.with_borrow(|value| *value));
        over.set();
        holds.join().unwrap();
        assert_eq!(SHARED.with_borrow(|value| *value), 0);
    });
}
