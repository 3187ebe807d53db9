//! The end of fiber-locals: when, where, in which order they are dropped, and what their
//! destructors may do.
//!
//! # Safety
//!
//! Trusted with a reference to a suspender that an initialiser, which takes no arguments, finds in
//! a global.
#![expect(unsafe_code, reason = "an initialiser that suspends the coroutine it runs in")]

use std::cell::{Cell, RefCell};
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use sinew::coroutine::{Coroutine, MmapStack, Suspender};
use sinew::fiber::{self, AccessError, FiberId, State};
use sinew::fiber_local;

use crate::runtimes::{Kind, each, finish, start};
use crate::support::{quiet_panic, this_program, watch_test_with};

/// The notes of the destructors of one fiber or thread, shared with the test that waits for it.
type Log = Arc<Mutex<Vec<String>>>;

/// Notes its name when it is dropped, after doing something.
struct Noted {
    name: &'static str,
    log: Log,
    first: fn(),
}

impl Drop for Noted {
    fn drop(&mut self) {
        (self.first)();
        self.log.lock().unwrap().push(self.name.to_owned());
    }
}

fiber_local! {
    static LOG: RefCell<Log> = RefCell::default();
    static ONE: RefCell<Option<Noted>> = const { RefCell::new(None) };
    static TWO: RefCell<Option<Noted>> = const { RefCell::new(None) };
    static THREE: RefCell<Option<Noted>> = const { RefCell::new(None) };
    /// Uses the others when it is made.
    static LEANS: Noted = {
        ONE.with(|_| ());
        TWO.set(Some(noted("two", || ())));
        noted("leans", || note_access("two", TWO.try_with(|_| ())))
    };
}

fn noted(name: &'static str, first: fn()) -> Noted {
    Noted { name, log: LOG.with_borrow(Arc::clone), first }
}

fn note(text: &str) {
    LOG.with_borrow(|log| log.lock().unwrap().push(text.to_owned()));
}

fn note_access(whom: &str, access: Result<(), AccessError>) {
    let is_there = if access.is_ok() { "there" } else { "gone" };
    note(&format!("{whom} is {is_there}"));
}

/// Runs `body` on a fiber of each kind of runtime, and on a thread. All that it leaves behind is
/// noted when it is joined.
fn on_all(body: fn(), expected: &[&str]) {
    each(|runtime, _| {
        let log = Log::default();
        let copy = log.clone();
        let fiber = runtime.spawn(move || {
            LOG.set(copy);
            body();
        });
        fiber.join().unwrap();
        assert_eq!(*log.lock().unwrap(), expected);
    });
    let log = Log::default();
    let copy = log.clone();
    let thread = thread::spawn(move || {
        LOG.set(copy);
        body();
    });
    thread.join().unwrap();
    assert_eq!(*log.lock().unwrap(), expected, "on a thread");
}

#[test]
fn newest_first() {
    let body = || {
        ONE.set(Some(noted("one", || ())));
        TWO.set(Some(noted("two", || ())));
        THREE.set(Some(noted("three", || ())));
        ONE.with(|_| ());
    };
    on_all(body, &["three", "two", "one"]);
}

#[test]
fn what_an_initialiser_used_outlives_its_value() {
    on_all(|| LEANS.with(|_| ()), &["two is there", "leans", "two"]);
}

#[test]
fn a_destructor_sees_which_are_gone() {
    let body = || {
        let look = || {
            note_access("one", ONE.try_with(|_| ()));
            note_access("two", TWO.try_with(|_| ()));
            note_access("three", THREE.try_with(|_| ()));
        };
        ONE.set(None);
        TWO.set(Some(noted("two", look)));
        THREE.set(Some(noted("three", || ())));
    };
    on_all(body, &["three", "one is there", "two is gone", "three is gone", "two"]);
}

#[test]
fn what_a_destructor_initialises_is_dropped_too() {
    let body = || ONE.set(Some(noted("one", || TWO.set(Some(noted("two", again))))));
    fn again() {
        note_access("one", ONE.try_with(|_| ()));
        THREE.set(Some(noted("three", || ())));
    }
    on_all(body, &["one", "one is gone", "two", "three"]);
}

#[test]
fn what_a_destructor_replaces_is_dropped() {
    on_all(
        || {
            ONE.set(Some(noted("one", || ())));
            TWO.set(Some(noted("two", || drop(ONE.replace(None)))));
        },
        &["one", "two"],
    );
}

#[test]
fn a_destructor_may_wait() {
    let body = || {
        let wait = || {
            fiber::yield_now();
            fiber::sleep(Duration::from_millis(1));
            fiber::spawn(|| ()).join().unwrap();
        };
        ONE.set(Some(noted("one", wait)));
        TWO.set(Some(noted("two", wait)));
    };
    on_all(body, &["two", "one"]);
}

fiber_local!(static PLAIN: Cell<u32> = const { Cell::new(1) });

#[test]
fn what_needs_no_drop_is_there_until_the_end() {
    let body = || {
        ONE.set(Some(noted("one", || note_access("plain", PLAIN.try_with(|_| ())))));
        PLAIN.set(2);
    };
    on_all(body, &["plain is there", "one"]);
}

#[test]
fn values_of_a_panicking_body_are_dropped_when_it_has_unwound() {
    each(|runtime, _| {
        let log = Log::default();
        let copy = log.clone();
        let fiber = runtime.spawn(move || {
            LOG.set(copy);
            ONE.set(Some(noted("one", || note(&format!("panicking: {}", fiber::panicking())))));
            quiet_panic("the body");
        });
        let panic = fiber.join().unwrap_err();
        assert_eq!(panic.downcast_ref(), Some(&"the body"));
        assert_eq!(*log.lock().unwrap(), ["panicking: false", "one"]);
    });
}

#[test]
fn a_destructors_panic_comes_out_of_the_join() {
    each(|runtime, _| {
        let log = Log::default();
        let copy = log.clone();
        let fiber = runtime.spawn(move || {
            LOG.set(copy);
            ONE.set(Some(noted("one", || ())));
            TWO.set(Some(noted("two", || quiet_panic("the destructor"))));
            THREE.set(Some(noted("three", || quiet_panic("the first destructor"))));
            noted("the result", || ())
        });
        let Err(panic) = fiber.join() else { panic!("a destructor has panicked") };
        assert_eq!(panic.downcast_ref(), Some(&"the first destructor"));
        assert_eq!(*log.lock().unwrap(), ["one", "the result"]);
    });
}

#[test]
fn the_bodys_panic_comes_before_a_destructors() {
    each(|runtime, _| {
        let fiber = runtime.spawn(|| {
            ONE.set(Some(noted("one", || quiet_panic("the destructor"))));
            quiet_panic("the body");
        });
        let panic = fiber.join().unwrap_err();
        assert_eq!(panic.downcast_ref(), Some(&"the body"));
    });
}

static WHERE: Mutex<Vec<(FiberId, thread::ThreadId)>> = Mutex::new(Vec::new());

#[test]
fn a_destructor_runs_in_its_fiber_and_on_its_worker() {
    fn note() {
        WHERE.lock().unwrap().push((fiber::current().id(), thread::current().id()));
    }
    let _watchdog = watch_test_with("places");
    let runtime = start(2, Kind::Pinned);
    let ids = runtime.spawn_batch((0..20).map(|_| {
        || {
            ONE.set(Some(noted("one", note)));
            fiber::yield_now();
            (fiber::current().id(), thread::current().id())
        }
    }));
    for id in ids {
        let id = id.join().unwrap();
        assert!(WHERE.lock().unwrap().contains(&id), "{id:?}");
    }
    finish(runtime);
}

static DROPPED: AtomicUsize = AtomicUsize::new(0);

struct Counted(u32);

impl Drop for Counted {
    fn drop(&mut self) {
        DROPPED.fetch_add(1, Ordering::Relaxed);
    }
}

fiber_local!(static COUNTED: Counted = Counted(42));

/// A coroutine that hands out the value of its fiber, and holds on to it.
fn holder() -> Coroutine<(), u32, u32> {
    Coroutine::new(MmapStack::new(1 << 16).unwrap(), |suspender, ()| {
        COUNTED.with(|value| {
            suspender.suspend(value.0);
            value.0
        })
    })
}

#[test]
fn a_value_in_use_outlives_its_fiber() {
    each(|runtime, kind| {
        // A coroutine stays with its thread, which a migrating fiber does not.
        if kind == Kind::Migrating {
            return;
        }
        let before = DROPPED.load(Ordering::Relaxed);
        let value = runtime.run(|| {
            let owner = fiber::spawn_local(|| {
                let mut holder = holder();
                assert_eq!(holder.resume(()).yielded(), Some(42));
                holder
            });
            let mut holder = owner.join().unwrap();
            holder.resume(()).complete()
        });
        assert_eq!(value, Some(42));
        assert_eq!(DROPPED.load(Ordering::Relaxed), before, "leaked: it was in use when its fiber ended");
    });
}

static SUSPENDER: AtomicPtr<Suspender<(), ()>> = AtomicPtr::new(ptr::null_mut());

fiber_local!(static LATE: Box<u32> = {
    // SAFETY: set by the one coroutine that this runs in, from a reference that it still has.
    unsafe { &*SUSPENDER.load(Ordering::Relaxed) }.suspend(());
    Box::new(42)
});

#[test]
fn a_value_may_be_made_after_its_fiber_has_ended() {
    let _watchdog = watch_test_with("a late initialiser");
    let runtime = start(1, Kind::Pinned);
    let value = runtime.run(|| {
        let owner = fiber::spawn_local(|| {
            let mut maker = Coroutine::new(MmapStack::new(1 << 16).unwrap(), |suspender, ()| {
                SUSPENDER.store(ptr::from_ref(suspender).cast_mut(), Ordering::Relaxed);
                LATE.with(|value| **value)
            });
            maker.resume(()).yielded().unwrap();
            maker
        });
        owner.join().unwrap().resume(()).complete()
    });
    assert_eq!(value, Some(42));
    finish(runtime);
}

struct AtThreadEnd;

static AT_THREAD_END: Mutex<Vec<Result<usize, AccessError>>> = Mutex::new(Vec::new());

impl Drop for AtThreadEnd {
    fn drop(&mut self) {
        // Whichever of the two is dropped first, this is the value that the thread has set, or an
        // error.
        AT_THREAD_END.lock().unwrap().push(PLAIN_OF_THREAD.try_with(Cell::get));
    }
}

fiber_local!(static PLAIN_OF_THREAD: Cell<usize> = const { Cell::new(1) });
thread_local!(static BEFORE: AtThreadEnd = const { AtThreadEnd });
thread_local!(static AFTER: AtThreadEnd = const { AtThreadEnd });

#[test]
fn destructors_of_thread_locals_find_a_value_or_an_error() {
    let used = || {
        BEFORE.with(|_| ());
        PLAIN_OF_THREAD.set(2);
        AFTER.with(|_| ());
    };
    thread::spawn(used).join().unwrap();
    // Here the first use is at the end.
    thread::spawn(|| BEFORE.with(|_| ())).join().unwrap();
    let seen = AT_THREAD_END.lock().unwrap();
    assert_eq!(seen.len(), 3);
    assert!(seen[..2].iter().all(|value| matches!(value, Ok(2) | Err(_))), "{seen:?}");
    assert!(matches!(seen[2], Ok(1) | Err(_)), "{seen:?}");
}

#[test]
fn a_fiber_that_is_abandoned_leaks_its_values() {
    let _watchdog = watch_test_with("an abandoned fiber");
    static LEAKED: AtomicUsize = AtomicUsize::new(0);
    fn count() {
        LEAKED.fetch_add(1, Ordering::Relaxed);
    }
    let runtime = start(1, Kind::Pinned);
    let stuck = runtime.spawn(|| {
        ONE.set(Some(noted("one", count)));
        loop {
            fiber::park();
        }
    });
    while stuck.thread().state() != State::Parked {
        thread::yield_now();
    }
    let report = runtime.shutdown(Some(Duration::ZERO));
    assert_eq!(report.leaked.len(), 1, "{report:?}");
    let result: fiber::Result<()> = stuck.join();
    assert!(result.unwrap_err().is::<fiber::Abandoned>());
    assert_eq!(LEAKED.load(Ordering::Relaxed), 0);
}

const CHILD: &str = "SINEW_TEST_CHILD";

#[test]
fn a_destructors_panic_on_a_thread_aborts() {
    if std::env::var_os(CHILD).is_some() {
        let thread = thread::spawn(|| ONE.set(Some(noted("one", || panic!("the destructor")))));
        let _ = thread.join();
        return;
    }
    let name = "locals_end::a_destructors_panic_on_a_thread_aborts";
    let mut child = this_program();
    let output = child.args([name, "--exact", "--nocapture"]).env(CHILD, "1").output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && output.status.code().is_none(), "{:?}: {text}", output.status);
    assert!(text.contains("the destructor"), "{text}");
}
