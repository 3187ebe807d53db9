//! A lock that its owner may take again. std's is not stable, so that these run over ours alone.

use super::super::crowd::{in_crowds, in_threads};
use super::super::support::{Watched, everywhere, pinned, quiet_panic, refused};
use sinew::sync::ReentrantLock;
use sinew::{Runtime, fiber};
use std::cell::{Cell, RefCell};
use std::ops::ControlFlow;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The next step may run on another thread, where what this one has left behind is not its own.
#[test]
fn a_step_has_not_what_the_one_before_it_took() {
    static LOCK: ReentrantLock<u32> = ReentrantLock::new(5);
    let runtime = pinned(2);
    let steps = runtime.run(|| {
        fiber::spawn_steps(0, |step| {
            *step += 1;
            match LOCK.try_lock() {
                Some(guard) if *step == 1 => std::mem::forget((LOCK.lock(), guard)),
                guard => return ControlFlow::Break(guard.is_none()),
            }
            ControlFlow::Continue(())
        })
        .join()
    });
    assert!(steps.unwrap());
}

#[test]
fn its_owner_takes_it_again_and_nobody_else_does() {
    in_crowds(|crowd| {
        let lock = Arc::new(ReentrantLock::new(Cell::new(0)));
        let copy = lock.clone();
        crowd.all(8, move |_| {
            for _ in 0..20 {
                let outer = copy.lock();
                let before = outer.get();
                fiber::yield_now();
                let inner = copy.try_lock().unwrap();
                fiber::yield_now();
                // Guards may be dropped in any order: here, the outer one first.
                drop(outer);
                fiber::yield_now();
                inner.set(before + 1);
            }
        });
        assert_eq!(lock.lock().get(), 160);
    });
}

/// Each fiber of one worker is an owner of its own, and so is each thread.
#[test]
fn others_find_it_taken() {
    in_crowds(|crowd| {
        let lock = Arc::new(ReentrantLock::new(5));
        let outer = lock.lock();
        let inner = lock.lock();
        let copy = lock.clone();
        let is_taken = move |_: usize| {
            let for_a_while = copy.try_lock_for(Duration::from_micros(100));
            let until_now = copy.try_lock_until(Instant::now());
            copy.try_lock().is_none() && for_a_while.is_none() && until_now.is_none()
        };
        assert_eq!(crowd.all(4, is_taken.clone()), [true; 4]);
        assert_eq!(format!("{lock:?}"), "ReentrantLock { data: 5, .. }");
        let copy = lock.clone();
        let seen = crowd.spawn(0, move || format!("{copy:?}")).join();
        assert_eq!(seen, "ReentrantLock { data: <locked>, .. }");
        drop(outer);
        assert_eq!(crowd.all(2, is_taken), [true; 2]);
        let copy = lock.clone();
        let patient = crowd.spawn(1, move || *copy.try_lock_for(Duration::MAX).unwrap());
        drop(inner);
        assert_eq!(patient.join(), 5);
        assert!(lock.try_lock().is_some());
    });
}

/// It is the fiber's, wherever that goes on.
#[test]
fn it_stays_with_a_fiber_that_sleeps_and_moves() {
    everywhere(|| {
        let lock = Arc::new(ReentrantLock::new(Cell::new(0)));
        let fibers: Vec<_> = (0..16)
            .map(|_| {
                let lock = lock.clone();
                fiber::spawn(move || {
                    let outer = lock.lock();
                    let before = outer.get();
                    fiber::sleep(Duration::from_micros(50));
                    (0..3).for_each(|_| fiber::yield_now());
                    lock.lock().set(before + 1);
                })
            })
            .collect();
        fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
        assert_eq!(lock.lock().get(), 16);
    });
}

#[test]
fn its_traits_are_std_s() {
    let mut lock: ReentrantLock<u32> = ReentrantLock::from(5);
    *lock.get_mut() += 1;
    let guard = lock.lock();
    assert_eq!((format!("{guard:?}"), format!("{guard}")), ("6".to_owned(), "6".to_owned()));
    drop(guard);
    assert_eq!(lock.into_inner(), 6);
    assert_eq!(*ReentrantLock::<u32>::default().lock(), 0);
    let slice: Box<ReentrantLock<[u32]>> = Box::new(ReentrantLock::new([1, 2, 3]));
    assert_eq!(*slice.lock(), [1, 2, 3]);
    fn is_shared<T: Send + Sync>() {}
    is_shared::<ReentrantLock<Cell<u32>>>();
    fn is_unwind_safe<T: UnwindSafe + RefUnwindSafe>() {}
    is_unwind_safe::<ReentrantLock<u32>>();
}

#[test]
fn a_panic_gives_it_back_without_poison() {
    in_crowds(|crowd| {
        let lock = Arc::new(ReentrantLock::new(Cell::new(0)));
        let copy = lock.clone();
        let panicked = crowd.spawn(1, move || {
            let (outer, _inner) = (copy.lock(), copy.lock());
            outer.set(1);
            quiet_panic("with two guards");
        });
        assert!(panicked.try_join().is_err());
        assert_eq!(lock.try_lock().unwrap().get(), 1);
    });
}

#[test]
fn cancellation_ends_a_wait_that_can_say_so() {
    everywhere(|| {
        let lock = Arc::new(ReentrantLock::new(1));
        let guard = lock.lock();
        let copy = lock.clone();
        let waits = fiber::spawn(move || copy.lock_cancellable().map(|guard| *guard));
        fiber::yield_now();
        waits.cancel_with_reason("enough");
        assert_eq!(waits.join().unwrap().unwrap_err().reason(), Some("enough"));
        // It is its owner's all the same.
        assert_eq!(*lock.lock_cancellable().unwrap(), 1);
        let copy = lock.clone();
        let deaf = fiber::spawn(move || *copy.lock());
        deaf.cancel();
        drop(guard);
        assert_eq!(deaf.join().unwrap(), 1);
    });
}

#[test]
fn a_wait_inside_no_suspend_panics_and_leaves_no_trace() {
    let runtime = pinned(1);
    runtime.run(|| {
        let lock = Arc::new(ReentrantLock::new(()));
        let guard = lock.lock();
        // Taking it again is no wait.
        fiber::no_suspend(|| drop(lock.lock()));
        let copy = lock.clone();
        let waits = fiber::spawn(move || {
            refused(|| drop(copy.lock()));
        });
        waits.join().unwrap();
        drop(guard);
        assert!(lock.try_lock().is_some());
    });
}

/// What follows a fiber is not the fiber: it finds the lock taken.
#[test]
fn what_follows_a_fiber_does_not_have_its_lock() {
    static LOCK: ReentrantLock<()> = ReentrantLock::new(());
    static FOUND: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];
    let tries = || {
        // Twice, since it may have it itself.
        let has_it = LOCK.try_lock().is_some_and(|_guard| LOCK.try_lock().is_some());
        FOUND[usize::from(has_it)].fetch_add(1, Ordering::Relaxed);
    };
    let runtime = Runtime::builder().workers(1).on_suspend(tries).on_resume(tries).start().unwrap();
    Watched::new(runtime).run(|| {
        let free = FOUND[1].load(Ordering::Relaxed);
        assert!(free > 0);
        let guard = LOCK.lock();
        (0..5).for_each(|_| fiber::yield_now());
        drop(guard);
        assert_eq!(FOUND[1].load(Ordering::Relaxed), free);
        assert!(FOUND[0].load(Ordering::Relaxed) >= 10);
    });
}

/// A thread is the same one until it has ended: also in the destructors of its thread-locals.
#[test]
fn it_stays_with_a_thread_that_ends() {
    struct Locks(Arc<ReentrantLock<Cell<u32>>>);
    impl Drop for Locks {
        fn drop(&mut self) {
            let outer = self.0.lock();
            let inner = self.0.try_lock().expect("it is the same thread");
            inner.set(outer.get() + 1);
        }
    }
    thread_local! { static LOCKS: RefCell<Vec<Locks>> = const { RefCell::new(Vec::new()) }; }
    in_threads(|_| {
        let lock = Arc::new(ReentrantLock::new(Cell::new(0)));
        let copy = lock.clone();
        // The first use is before sinew's own thread-locals are made, so that they are dropped
        // first.
        let ends = std::thread::spawn(move || {
            LOCKS.with_borrow_mut(|locks| locks.push(Locks(copy.clone())));
            drop(copy.lock());
        });
        ends.join().unwrap();
        assert_eq!(lock.lock().get(), 1);
    });
}

/// The number of a thread that has ended with the lock is not used again: no new fiber or thread
/// owns the lock.
#[test]
fn a_guard_that_is_forgotten_leaves_it_to_nobody() {
    in_crowds(|crowd| {
        let lock = Arc::new(ReentrantLock::new(()));
        let copy = lock.clone();
        crowd.spawn(1, move || std::mem::forget(copy.lock())).join();
        let copy = lock.clone();
        assert!(crowd.all(8, move |_| copy.try_lock().is_none()).into_iter().all(|is_taken| is_taken));
        assert!(lock.try_lock().is_none());
    });
}
