//! Fiber-locals: who has which, how they begin, all methods.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use sinew::context::{Context, Key};
use sinew::fiber::{self, LocalKey};
use sinew::fiber_local;

use crate::runtimes::each;
use crate::support::{panics_with, pinned, quiet_panic, watch_test_with};

fiber_local! {
    static NUMBER: Cell<usize> = const { Cell::new(7) };
    /// With attributes, a visibility, and an initialiser that is no constant.
    pub(crate) static WORDS: RefCell<Vec<String>> = RefCell::new(vec!["first".to_owned()]);
}

fiber_local!(static LAST_WITHOUT_SEMICOLON: String = String::from("plain"));
fiber_local!(static CONST_WITHOUT_SEMICOLON: u8 = const { 3 });
fiber_local!();

#[test]
fn each_fiber_has_its_own() {
    each(|runtime, _| {
        let numbers = runtime.spawn_batch((0..100).map(|number| {
            move || {
                assert_eq!(NUMBER.get(), 7);
                NUMBER.set(number);
                for _ in 0..10 {
                    fiber::yield_now();
                    assert_eq!(NUMBER.get(), number);
                }
                NUMBER.get()
            }
        }));
        let numbers: Vec<_> = numbers.into_iter().map(|fiber| fiber.join().unwrap()).collect();
        assert_eq!(numbers, (0..100).collect::<Vec<_>>());
    });
}

#[test]
fn a_child_entered_by_its_join_has_its_own() {
    each(|runtime, _| {
        runtime.run(|| {
            NUMBER.set(1);
            let child = fiber::spawn(|| NUMBER.replace(2));
            assert_eq!(child.join().unwrap(), 7);
            assert_eq!(NUMBER.get(), 1);
        });
    });
}

#[test]
fn a_thread_has_its_own() {
    let _watchdog = watch_test_with("threads");
    NUMBER.set(1);
    assert_eq!(thread::spawn(|| NUMBER.replace(2)).join().unwrap(), 7);
    assert_eq!(fiber::spawn(|| NUMBER.replace(3)).join().unwrap(), 7);
    assert_eq!(NUMBER.get(), 1);
}

#[test]
fn a_reference_lasts_across_suspensions() {
    each(|runtime, _| {
        runtime.run(|| {
            WORDS.with(|words| {
                fiber::yield_now();
                words.borrow_mut().push("second".to_owned());
                fiber::spawn(|| WORDS.with_borrow_mut(Vec::clear)).join().unwrap();
                assert_eq!(*words.borrow(), ["first", "second"]);
            });
        });
    });
}

#[test]
fn all_methods_of_cells() {
    let _watchdog = watch_test_with("cells");
    let all = || {
        assert_eq!(NUMBER.replace(8), 7);
        assert_eq!(NUMBER.take(), 8);
        assert_eq!(NUMBER.get(), 0);
        NUMBER.update(|number| number + 9);
        assert_eq!(NUMBER.with(Cell::get), 9);
        panics_with("while it is updated", || NUMBER.update(|_| panic!("while it is updated")));
        assert_eq!(NUMBER.try_with(Cell::get), Ok(9));
        assert_eq!(WORDS.replace(vec!["second".to_owned()]), ["first"]);
        assert_eq!(WORDS.with_borrow(Vec::len), 1);
        WORDS.with_borrow_mut(|words| words.push("third".to_owned()));
        assert_eq!(WORDS.take(), ["second", "third"]);
        WORDS.set(vec![]);
        assert!(WORDS.with_borrow(Vec::is_empty));
        assert_eq!(LAST_WITHOUT_SEMICOLON.with(Clone::clone), "plain");
        assert_eq!(CONST_WITHOUT_SEMICOLON.with(|value| *value), 3);
    };
    thread::spawn(all).join().unwrap();
    sinew::run(all);
}

static MADE: AtomicUsize = AtomicUsize::new(0);

fn make() -> Cell<usize> {
    MADE.fetch_add(1, Ordering::Relaxed);
    Cell::new(0)
}

fiber_local! {
    static SET_FIRST: Cell<usize> = make();
    static SET_FIRST_TOO: RefCell<usize> = RefCell::new(make().get());
}

#[test]
fn setting_first_does_not_initialise() {
    let _watchdog = watch_test_with("setting");
    sinew::run(|| {
        SET_FIRST.set(1);
        SET_FIRST_TOO.set(2);
        assert_eq!((SET_FIRST.get(), SET_FIRST_TOO.take()), (1, 2));
    });
    assert_eq!(MADE.load(Ordering::Relaxed), 0);
}

fiber_local!(static SETS: RefCell<Sets> = RefCell::new(Sets));

/// Uses its own key when it is dropped.
struct Sets;

impl Drop for Sets {
    fn drop(&mut self) {
        // An error at the end of the fiber; before that the new value is there, and not borrowed.
        let _ = SETS.try_with(|value| drop(value.borrow_mut()));
    }
}

#[test]
fn a_value_is_replaced_before_it_is_dropped() {
    let _watchdog = watch_test_with("setting");
    sinew::run(|| {
        SETS.with(|_| ());
        SETS.set(Sets);
    });
}

fiber_local!(static ITSELF: usize = ITSELF.with(|value| *value));

#[test]
fn an_initialiser_that_uses_its_own_value_panics() {
    each(|runtime, _| {
        runtime.run(|| {
            for _ in 0..2 {
                panics_with("a fiber-local is used by its own initialiser", || ITSELF.with(|_| ()));
            }
        });
    });
}

fiber_local! {
    static TRIES: Cell<usize> = const { Cell::new(0) };
    static SECOND_TRY: Box<usize> = {
        TRIES.set(TRIES.get() + 1);
        if TRIES.get() == 1 {
            quiet_panic("the first try fails");
        }
        Box::new(TRIES.get())
    };
}

#[test]
fn an_initialiser_that_panics_is_called_again() {
    each(|runtime, _| {
        runtime.run(|| {
            assert!(catch_unwind(|| SECOND_TRY.with(|_| ())).is_err());
            assert_eq!(SECOND_TRY.with(|value| **value), 2);
            assert_eq!(SECOND_TRY.with(|value| **value), 2);
        });
    });
}

fiber_local!(static AFTER_A_WAIT: usize = {
    fiber::yield_now();
    fiber::spawn(|| 5).join().unwrap()
});

#[test]
fn an_initialiser_may_wait() {
    each(|runtime, _| {
        let fibers = runtime.spawn_batch((0..10).map(|_| || AFTER_A_WAIT.with(|value| *value)));
        assert!(fibers.into_iter().all(|fiber| fiber.join().unwrap() == 5));
    });
}

macro_rules! many {
    ($($name:ident)*) => {
        fiber_local!($(static $name: Cell<u64> = const { Cell::new(0) };)*);
        static MANY: &[&LocalKey<Cell<u64>>] = &[$(&$name),*];
    };
}

many!(A0 A1 A2 A3 A4 A5 A6 A7 A8 A9 B0 B1 B2 B3 B4 B5 B6 B7 B8 B9 C0 C1 C2 C3 C4 C5 C6 C7 C8 C9);

#[test]
fn there_may_be_many() {
    each(|runtime, _| {
        let fibers = runtime.spawn_batch((0..20).map(|seed: u64| {
            move || {
                for (index, key) in MANY.iter().enumerate() {
                    key.set(seed * 100 + index as u64);
                }
                fiber::yield_now();
                let right = |(index, key): (usize, &&'static LocalKey<Cell<u64>>)| {
                    key.get() == seed * 100 + index as u64
                };
                MANY.iter().enumerate().all(right)
            }
        }));
        assert!(fibers.into_iter().all(|fiber| fiber.join().unwrap()));
    });
}

#[test]
fn a_panic_inside_with_leaves_the_value() {
    each(|runtime, _| {
        runtime.run(|| {
            let panics = || {
                NUMBER.with(|value| {
                    value.set(1);
                    quiet_panic("inside");
                })
            };
            assert!(catch_unwind(AssertUnwindSafe(panics)).is_err());
            assert_eq!(NUMBER.get(), 1);
        });
    });
}

/// Keys can be shared, and values need not be.
const _: () = {
    const fn is_sync<T: Sync>() {}
    is_sync::<LocalKey<std::rc::Rc<()>>>();
};

/// Uses a fiber-local when it is dropped, and says whether there was one.
struct UsesAtEnd(mpsc::Sender<bool>);

impl Drop for UsesAtEnd {
    fn drop(&mut self) {
        let _ = self.0.send(UNUSED.try_with(|_| ()).is_ok());
    }
}

fiber_local! {
    static UNUSED: String = "nobody would drop it".to_owned();
}

/// A destructor that runs after the end of the locals finds none, even if the fiber has used none.
#[test]
fn there_are_none_after_the_end_of_a_fiber_that_used_none() {
    static KEY: Key<UsesAtEnd> = Key::new();
    let (sender, receiver) = mpsc::channel();
    pinned(1).run(move || {
        let result = UsesAtEnd(sender.clone());
        // The fiber's handle is dropped before the fiber ends.
        let detached = fiber::spawn(move || {
            fiber::yield_now();
            result
        });
        drop(detached);
        // The fiber begins when the region is over, and is then the only owner of the value.
        Context::new().with(&KEY, UsesAtEnd(sender)).run(|| drop(fiber::spawn(|| ())));
    });
    assert_eq!(receiver.iter().collect::<Vec<_>>(), [false, false]);
}
