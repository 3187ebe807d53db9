//! Mutexes.

use super::super::crowd::{as_std, in_crowds, in_threads};
use super::super::support::{everywhere, pinned, quiet_panic, refused};
use sinew::fiber;
use sinew::sync::{Condvar, Mutex};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, TryLockError};
use std::time::{Duration, Instant};

as_std! {
    fn one_has_it_at_a_time(crowd) {
        let total = sync::Arc::new(sync::Mutex::new(0));
        let copy = total.clone();
        crowd.all(8, move |_| {
            for _ in 0..50 {
                let mut guard = copy.lock().unwrap();
                let before = *guard;
                thread::yield_now();
                *guard = before + 1;
            }
        });
        assert_eq!(*total.lock().unwrap(), 400);
    }

    fn trying_says_whether_somebody_has_it(crowd) {
        let mutex = sync::Arc::new(sync::Mutex::new(1));
        let guard = mutex.lock().unwrap();
        let copy = mutex.clone();
        let is_busy = move || matches!(copy.try_lock(), Err(sync::TryLockError::WouldBlock));
        assert!(crowd.spawn(1, is_busy.clone()).join());
        drop(guard);
        assert!(!crowd.spawn(0, is_busy).join());
        assert_eq!(*mutex.try_lock().unwrap(), 1);
    }

    fn a_panic_with_the_guard_poisons(crowd) {
        let mutex = sync::Arc::new(sync::Mutex::new(1));
        let copy = mutex.clone();
        let panicked = crowd.spawn(1, move || {
            let mut guard = copy.lock().unwrap();
            *guard = 2;
            quiet_panic("with the guard");
        });
        assert!(panicked.try_join().is_err());
        assert!(mutex.is_poisoned());
        assert_eq!(*mutex.lock().unwrap_err().into_inner(), 2);
        assert!(matches!(mutex.try_lock(), Err(sync::TryLockError::Poisoned(_))));
        assert!(format!("{mutex:?}").contains("data: 2, poisoned: true"), "{mutex:?}");
        mutex.clear_poison();
        *mutex.lock().unwrap() = 3;
        let mut mutex = sync::Arc::into_inner(mutex).unwrap();
        assert_eq!(*mutex.get_mut().unwrap(), 3);
        assert_eq!(mutex.into_inner().unwrap(), 3);
    }

    fn poison_stays_with_the_value(crowd) {
        let mutex = sync::Arc::new(sync::Mutex::new(String::from("left")));
        let copy = mutex.clone();
        let panicked = crowd.spawn(0, move || {
            let _guard = copy.lock();
            quiet_panic("with the guard");
        });
        assert!(panicked.try_join().is_err());
        let mut mutex = sync::Arc::into_inner(mutex).unwrap();
        assert_eq!(mutex.get_mut().unwrap_err().into_inner(), "left");
        assert_eq!(mutex.into_inner().unwrap_err().into_inner(), "left");
    }

    fn a_guard_taken_and_given_back_while_unwinding_does_not_poison(crowd) {
        struct Locks(sync::Arc<sync::Mutex<u32>>);
        impl Drop for Locks {
            fn drop(&mut self) {
                *self.0.lock().unwrap() += 1;
            }
        }
        let mutex = sync::Arc::new(sync::Mutex::new(0));
        let copy = mutex.clone();
        let panicked = crowd.spawn(1, move || {
            let _locks = Locks(copy);
            quiet_panic("without a guard");
        });
        assert!(panicked.try_join().is_err());
        assert_eq!(*mutex.lock().unwrap(), 1);
    }

    fn its_traits_are_std_s(_crowd) {
        let mutex: sync::Mutex<u32> = sync::Mutex::from(5);
        assert_eq!(format!("{mutex:?}"), "Mutex { data: 5, poisoned: false, .. }");
        let guard = mutex.lock().unwrap();
        assert_eq!(format!("{mutex:?}"), r#"Mutex { data: "<locked>", poisoned: false, .. }"#);
        assert_eq!((format!("{guard:?}"), format!("{guard}")), ("5".to_owned(), "5".to_owned()));
        drop(guard);
        assert_eq!(*sync::Mutex::<u32>::default().lock().unwrap(), 0);
        let slice: Box<sync::Mutex<[u32]>> = Box::new(sync::Mutex::new([1, 2, 3]));
        slice.lock().unwrap()[1] = 7;
        assert_eq!(*slice.lock().unwrap(), [1, 7, 3]);
        fn is_unwind_safe<T: std::panic::UnwindSafe + std::panic::RefUnwindSafe + Send + Sync>() {}
        is_unwind_safe::<sync::Mutex<std::cell::Cell<u32>>>();
    }

    fn it_may_be_a_static_item(crowd) {
        static TOTAL: sync::Mutex<usize> = sync::Mutex::new(0);
        let before = *TOTAL.lock().unwrap();
        crowd.all(4, |number| *TOTAL.lock().unwrap() += number);
        assert_eq!(*TOTAL.lock().unwrap() - before, 6);
    }
}

#[test]
fn a_wait_ends_at_its_time() {
    in_crowds(|crowd| {
        let mutex = Arc::new(Mutex::new(1));
        let guard = mutex.lock().unwrap();
        let copy = mutex.clone();
        crowd.all(4, move |number| {
            let outcome = match number {
                0 => copy.try_lock_for(Duration::ZERO),
                1 => copy.try_lock_for(Duration::from_micros(200)),
                2 => copy.try_lock_until(Instant::now()),
                _ => copy.try_lock_until(Instant::now() + Duration::from_millis(1)),
            };
            assert!(matches!(outcome, Err(TryLockError::WouldBlock)));
        });
        let copy = mutex.clone();
        let patient = crowd.spawn(1, move || *copy.try_lock_for(Duration::MAX).unwrap());
        drop(guard);
        assert_eq!(patient.join(), 1);
        // Waiters that gave up leave nothing behind.
        assert_eq!(*mutex.try_lock().unwrap(), 1);
    });
}

/// Some waiters give up, at any point of being woken or of being handed the mutex. The waiters that
/// do not give up must get it.
#[test]
fn giving_up_loses_no_wake_up() {
    in_crowds(|crowd| {
        let (mutex, taken) = (Arc::new(Mutex::new(0_usize)), Arc::new(AtomicUsize::new(0)));
        let (copy, count) = (mutex.clone(), taken.clone());
        crowd.all(8, move |number| {
            for round in 0..60_u64 {
                let time = Duration::from_micros(round * 7 % 30);
                let guard = if number < 4 { copy.lock().ok() } else { copy.try_lock_for(time).ok() };
                let Some(mut guard) = guard else { continue };
                fiber::yield_now();
                *guard += 1;
                count.fetch_add(1, Ordering::Relaxed);
            }
        });
        assert_eq!(*mutex.try_lock().unwrap(), taken.load(Ordering::Relaxed));
        assert!(taken.load(Ordering::Relaxed) >= 240, "those who wait for ever come to their end");
    });
}

#[test]
fn cancellation_ends_a_wait_that_can_say_so() {
    everywhere(|| {
        let mutex = Arc::new(Mutex::new(1));
        let guard = mutex.lock().unwrap();
        let copy = mutex.clone();
        let waits = fiber::spawn(move || copy.lock_cancellable().map(|guard| *guard.unwrap()));
        fiber::yield_now();
        waits.cancel_with_reason("enough");
        assert_eq!(waits.join().unwrap().unwrap_err().reason(), Some("enough"));
        let copy = mutex.clone();
        let deaf = fiber::spawn(move || *copy.lock().unwrap());
        deaf.cancel();
        drop(guard);
        assert_eq!(deaf.join().unwrap(), 1);
    });
}

/// A fiber is cancelled while it is woken or handed the mutex: it gets the mutex, or another waiter
/// does.
#[test]
fn a_cancel_that_meets_the_hand_over_loses_nothing() {
    everywhere(|| {
        let mutex = Arc::new(Mutex::new(0));
        for round in 0..100 {
            let guard = mutex.lock().unwrap();
            let waiter = || {
                let mutex = mutex.clone();
                fiber::spawn(move || match mutex.lock_cancellable() {
                    Ok(guard) => *guard.unwrap() += 1,
                    Err(stopped) => assert!(stopped.is_cancelled()),
                })
            };
            let (first, others) = (Arc::new(waiter()), [waiter(), waiter()]);
            (0..round % 3).for_each(|_| fiber::yield_now());
            let copy = first.clone();
            let canceller = fiber::spawn(move || copy.cancel());
            drop(guard);
            canceller.join().unwrap();
            Arc::into_inner(first).unwrap().join().unwrap();
            others.into_iter().for_each(|waiter| waiter.join().unwrap());
            assert!(mutex.try_lock().is_ok());
        }
        assert!(*mutex.lock().unwrap() >= 200);
    });
}

/// A waiter is woken, and cancelled before it has run. Another fiber has the mutex again by then,
/// so the waiter stops. The other waiters must not rely on it to wake them.
#[test]
fn one_that_is_stopped_awake_leaves_its_turn_to_others() {
    let runtime = pinned(1);
    runtime.run(|| {
        let mutex = Arc::new(Mutex::new(0));
        let guard = mutex.lock().unwrap();
        let (copy, other) = (mutex.clone(), mutex.clone());
        // Each runs at once, until it waits.
        let builder = || fiber::Builder::new().launch(fiber::Launch::Dispatch);
        let first = builder().spawn(move || copy.lock_cancellable().is_ok()).unwrap();
        let other = builder().spawn(move || drop(other.lock().unwrap())).unwrap();
        drop(guard);
        let guard = mutex.try_lock().unwrap();
        first.cancel();
        assert!(!first.join().unwrap(), "it is stopped, since the mutex is not to be had");
        drop(guard);
        other.join().unwrap();
        assert!(mutex.try_lock().is_ok());
    });
}

/// Cancels that do not count inside the shield interrupt the waits again and again, also those of
/// fibers that have waited for long. No waiter is forgotten.
#[test]
fn waits_that_are_left_for_nothing_lock_nobody_out() {
    everywhere(|| {
        let (mutex, token) = (Arc::new(Mutex::new(0)), fiber::CancelToken::new());
        let adders: Vec<_> = (0..5)
            .map(|number| {
                let (mutex, token) = (mutex.clone(), token.clone());
                fiber::spawn(move || {
                    for round in 0..20 {
                        let lock = || mutex.lock_cancellable().map(Result::unwrap);
                        let mut guard = fiber::shield(|| token.run(lock)).unwrap();
                        *guard += 1;
                        if (number + round) % 7 == 0 {
                            fiber::sleep(Duration::from_micros(600));
                        } else {
                            fiber::yield_now();
                        }
                    }
                })
            })
            .collect();
        while !adders.iter().all(fiber::JoinHandle::is_finished) {
            adders.iter().for_each(fiber::JoinHandle::cancel);
            drop(mutex.try_lock());
            fiber::yield_now();
        }
        assert_eq!(*mutex.try_lock().unwrap(), 100);
        adders.into_iter().for_each(|adder| adder.join().unwrap());
    });
}

/// Others take the mutex again and again, without ever leaving it free for long: the one who waits
/// gets it all the same.
#[test]
fn nobody_starves() {
    in_crowds(|crowd| {
        let (mutex, over) = (Arc::new(Mutex::new(())), Arc::new(AtomicBool::new(false)));
        let hogs: Vec<_> = (0..3)
            .map(|number| {
                let (mutex, over) = (mutex.clone(), over.clone());
                crowd.spawn(number, move || {
                    while !over.load(Ordering::Relaxed) {
                        let guard = mutex.lock().unwrap();
                        fiber::yield_now();
                        drop(guard);
                    }
                })
            })
            .collect();
        let modest = (0..3).map(|number| {
            let mutex = mutex.clone();
            crowd.spawn(number, move || (0..5).for_each(|_| drop(mutex.lock().unwrap())))
        });
        modest.collect::<Vec<_>>().into_iter().for_each(|member| member.join());
        over.store(true, Ordering::Relaxed);
        hogs.into_iter().for_each(|hog| hog.join());
    });
}

#[test]
fn a_fiber_keeps_its_guard_across_suspensions() {
    everywhere(|| {
        let mutex = Arc::new(Mutex::new(0));
        let copy = mutex.clone();
        let sleeper = fiber::spawn(move || {
            let mut guard = copy.lock().unwrap();
            fiber::sleep(Duration::from_micros(100));
            *guard = 1;
        });
        while !sleeper.is_finished() && mutex.try_lock().is_ok() {
            fiber::yield_now();
        }
        assert_eq!(*mutex.lock().unwrap(), 1);
        sleeper.join().unwrap();
    });
}

/// A fiber waits for a lock while it unwinds, which another one has that must run on the same
/// worker.
#[test]
fn a_lock_may_be_waited_for_while_unwinding() {
    struct Locks(Arc<Mutex<u32>>);
    impl Drop for Locks {
        fn drop(&mut self) {
            *self.0.lock().unwrap() += 1;
        }
    }
    everywhere(|| {
        let mutex = Arc::new(Mutex::new(0));
        let (copy, locks) = (mutex.clone(), Locks(mutex.clone()));
        let holder = fiber::Builder::new().launch(fiber::Launch::Dispatch).spawn(move || {
            let mut guard = copy.lock().unwrap();
            fiber::sleep(Duration::from_micros(100));
            *guard += 1;
        });
        let panicked = fiber::spawn(move || {
            let _locks = locks;
            quiet_panic("while it unwinds, it waits");
        });
        assert!(panicked.join().is_err());
        holder.unwrap().join().unwrap();
        // The holder, which ran meanwhile, has not panicked: the mutex is not poisoned.
        assert_eq!(*mutex.lock().unwrap(), 2);
    });
}

#[test]
fn a_wait_inside_no_suspend_panics_and_leaves_no_trace() {
    let runtime = pinned(1);
    runtime.run(|| {
        let mutex = Arc::new(Mutex::new(0));
        let guard = mutex.lock().unwrap();
        let copy = mutex.clone();
        let waits = fiber::spawn(move || {
            refused(|| drop(copy.lock()));
            fiber::no_suspend(|| assert!(copy.try_lock().is_err()));
        });
        waits.join().unwrap();
        drop(guard);
        fiber::no_suspend(|| *mutex.lock().unwrap() = 1);
        assert_eq!(*mutex.try_lock().unwrap(), 1);
    });
}

/// Destructors of thread-locals run when the thread's own block may be gone.
#[test]
fn a_thread_may_wait_for_it_while_it_ends() {
    struct Locks(Arc<(Mutex<bool>, Condvar)>);
    impl Drop for Locks {
        fn drop(&mut self) {
            let (mutex, condvar) = &*self.0;
            let guard = condvar.wait_while(mutex.lock().unwrap(), |is_set| !*is_set).unwrap();
            drop(guard);
        }
    }
    thread_local! { static LOCKS: std::cell::RefCell<Option<Locks>> = const { std::cell::RefCell::new(None) }; }
    in_threads(|_| {
        let pair = Arc::new((Mutex::new(false), Condvar::new()));
        let copy = pair.clone();
        let ends = std::thread::spawn(move || LOCKS.set(Some(Locks(copy))));
        *pair.0.lock().unwrap() = true;
        pair.1.notify_all();
        ends.join().unwrap();
    });
}
