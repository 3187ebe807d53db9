//! Rows that say *breaks*: what another fiber of the worker finds. What would be undefined
//! behaviour is not done here: the tests show what leads there.

use std::cell::RefCell;
use std::panic::catch_unwind;
use std::sync::{Mutex, OnceLock};

use sinew::fiber;

use super::Claim::Breaks;
use super::Row;
use super::support::{one_worker, quietly};

pub(crate) const ROWS: &[Row] = &[
    ("a lock of std or `parking_lot` held across a wait", Breaks, a_lock_is_held),
    ("`LazyLock`, `once_cell`, initializer waits", Breaks, an_initializer_waits),
    ("`parking_lot::ReentrantMutex` held across a wait", Breaks, a_neighbour_gets_in),
    ("`RefCell` in a `thread_local!`, borrowed across a wait", Breaks, a_neighbour_finds_it_borrowed),
    ("a wait inside the initializer of a `thread_local!`", Breaks, an_initializer_runs_twice),
    ("`scoped_tls`, a wait inside `set`", Breaks, a_neighbour_sees_the_value),
    ("`block_on` of `tokio`, a wait of sinew inside", Breaks, a_neighbour_cannot_start_one),
    (
        "spans of `tracing` entered across a wait, without the feature `tracing`",
        Breaks,
        a_neighbour_is_inside_the_span,
    ),
];

/// What a fiber of the same worker returns while this one waits for it.
fn neighbour<T: Send + 'static>(body: impl FnOnce() -> T + Send + 'static) -> T {
    fiber::spawn(body).join().unwrap()
}

/// The neighbour would block the only thread that could release the lock.
fn a_lock_is_held() {
    static STD: Mutex<()> = Mutex::new(());
    static OTHER: parking_lot::Mutex<()> = parking_lot::Mutex::new(());
    one_worker().run(|| {
        let _both = (STD.lock().unwrap(), OTHER.lock());
        assert!(neighbour(|| STD.try_lock().is_err() && OTHER.try_lock().is_none()));
    });
}

/// The neighbour finds the value in the making: to force it would block the thread.
fn an_initializer_waits() {
    static VALUE: OnceLock<u32> = OnceLock::new();
    static OTHER: once_cell::sync::OnceCell<u32> = once_cell::sync::OnceCell::new();
    static IN_SINEW: sinew::sync::LazyLock<u32> = sinew::sync::LazyLock::new(|| neighbour(|| 3));
    one_worker().run(|| {
        assert_eq!(*VALUE.get_or_init(|| neighbour(|| u32::from(VALUE.get().is_none()))), 1);
        assert_eq!(*OTHER.get_or_init(|| neighbour(|| u32::from(OTHER.get().is_none()))), 1);
        assert_eq!(*IN_SINEW, 3);
    });
}

fn a_neighbour_gets_in() {
    static LOCK: parking_lot::ReentrantMutex<()> = parking_lot::ReentrantMutex::new(());
    static OURS: sinew::sync::ReentrantLock<()> = sinew::sync::ReentrantLock::new(());
    one_worker().run(|| {
        let _both = (LOCK.lock(), OURS.lock());
        assert!(neighbour(|| LOCK.try_lock().is_some()), "the neighbour was kept out");
        assert!(neighbour(|| OURS.try_lock().is_none()), "the neighbour got in");
    });
}

fn a_neighbour_finds_it_borrowed() {
    thread_local! {
        static CACHE: RefCell<u32> = const { RefCell::new(0) };
    }
    quietly(|| {
        one_worker().run(|| {
            let has_panicked = CACHE.with_borrow_mut(|_| {
                fiber::spawn(|| CACHE.with_borrow_mut(|cache| *cache += 1)).join().is_err()
            });
            assert!(has_panicked);
        });
    });
}

/// Where a wait is a panic, the initializer is found out.
fn an_initializer_runs_twice() {
    thread_local! {
        static NAME: u32 = neighbour(|| 1);
    }
    sinew::fiber_local! {
        static OURS: u32 = neighbour(|| 2);
    }
    quietly(|| {
        one_worker().run(|| {
            assert!(catch_unwind(|| fiber::no_suspend(|| NAME.with(|name| *name))).is_err());
            assert_eq!(OURS.with(|number| *number), 2);
        });
    });
}

fn a_neighbour_sees_the_value() {
    scoped_tls::scoped_thread_local!(static CONFIG: u32);
    one_worker().run(|| {
        let seen = CONFIG.set(&7, || neighbour(|| CONFIG.is_set()));
        assert!(seen);
        assert!(!CONFIG.is_set());
    });
}

fn a_neighbour_cannot_start_one() {
    fn block_on<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
    }
    quietly(|| {
        one_worker().run(|| {
            let end = block_on(async { fiber::spawn(|| block_on(async {})).join() });
            let panic = end.unwrap_err();
            let message = panic.downcast_ref::<&str>().copied();
            let message = message.or(panic.downcast_ref::<String>().map(String::as_str)).unwrap();
            assert!(message.contains("Cannot start a runtime from within a runtime"), "{message}");
        });
    });
}

fn a_neighbour_is_inside_the_span() {
    fn current() -> Option<&'static str> {
        tracing::Span::current().metadata().map(tracing::Metadata::name)
    }
    // For the process: `with_default` would be for one thread.
    tracing::subscriber::set_global_default(tracing_subscriber::registry()).unwrap();
    one_worker().run(|| {
        let _entered = tracing::info_span!("mine").entered();
        assert_eq!(neighbour(current), Some("mine"));
    });
}
