//! Locks for readers and writers, as std's.

use super::super::crowd::as_std;
use super::super::support::quiet_panic;

as_std! {
    fn a_writer_has_it_alone(crowd) {
        let pair = sync::Arc::new(sync::RwLock::new((0, 0)));
        let copy = pair.clone();
        crowd.all(8, move |number| {
            for round in 0..50 {
                if (number + round) % 4 == 0 {
                    let mut guard = copy.write().unwrap();
                    guard.0 += 1;
                    thread::yield_now();
                    guard.1 += 1;
                } else {
                    let guard = copy.read().unwrap();
                    assert_eq!(guard.0, guard.1);
                    thread::yield_now();
                    assert_eq!(guard.0, guard.1);
                }
            }
        });
        assert_eq!(*pair.read().unwrap(), (100, 100));
    }

    fn readers_have_it_together(crowd) {
        let lock = sync::Arc::new(sync::RwLock::new(7));
        let guard = lock.read().unwrap();
        let copy = lock.clone();
        assert_eq!(crowd.all(4, move |_| *copy.read().unwrap()), [7; 4]);
        drop(guard);
    }

    /// More than are woken at a time, and none leaves before all are in.
    fn all_readers_go_on_when_a_writer_has_left(crowd) {
        use sync::atomic::{AtomicUsize, Ordering};
        let shared = sync::Arc::new((sync::RwLock::new(0), AtomicUsize::new(0), AtomicUsize::new(0)));
        let mut guard = shared.0.write().unwrap();
        let reader = |number| {
            let shared = shared.clone();
            crowd.spawn(number, move || {
                let (lock, come, inside) = &*shared;
                come.fetch_add(1, Ordering::Relaxed);
                let guard = lock.read().unwrap();
                inside.fetch_add(1, Ordering::Relaxed);
                while inside.load(Ordering::Relaxed) < 40 {
                    thread::yield_now();
                }
                *guard
            })
        };
        let readers: Vec<_> = (0..40).map(reader).collect();
        while shared.1.load(Ordering::Relaxed) < 40 {
            thread::yield_now();
        }
        *guard = 1;
        drop(guard);
        readers.into_iter().for_each(|reader| assert_eq!(reader.join(), 1));
        assert!(shared.0.try_write().is_ok());
    }

    fn trying_says_whether_it_can_be_had(crowd) {
        let lock = sync::Arc::new(sync::RwLock::new(1));
        let copy = lock.clone();
        let can = move || {
            let reads = !matches!(copy.try_read(), Err(sync::TryLockError::WouldBlock));
            (reads, !matches!(copy.try_write(), Err(sync::TryLockError::WouldBlock)))
        };
        assert_eq!(crowd.spawn(0, can.clone()).join(), (true, true));
        let reader = lock.read().unwrap();
        assert_eq!(crowd.spawn(1, can.clone()).join(), (true, false));
        drop(reader);
        let writer = lock.write().unwrap();
        assert_eq!(crowd.spawn(0, can.clone()).join(), (false, false));
        let reader = sync::RwLockWriteGuard::downgrade(writer);
        assert_eq!(crowd.spawn(1, can.clone()).join(), (true, false));
        drop(reader);
        assert_eq!(crowd.spawn(0, can).join(), (true, true));
    }

    fn a_writer_s_panic_poisons(crowd) {
        let lock = sync::Arc::new(sync::RwLock::new(1));
        let copy = lock.clone();
        let panicked = crowd.spawn(1, move || {
            *copy.write().unwrap() = 2;
            let _guard = copy.write().unwrap();
            quiet_panic("with the guard");
        });
        assert!(panicked.try_join().is_err());
        assert!(lock.is_poisoned());
        assert_eq!(*lock.read().unwrap_err().into_inner(), 2);
        assert_eq!(*lock.write().unwrap_err().into_inner(), 2);
        assert!(matches!(lock.try_read(), Err(sync::TryLockError::Poisoned(_))));
        assert!(matches!(lock.try_write(), Err(sync::TryLockError::Poisoned(_))));
        assert_eq!(format!("{lock:?}"), "RwLock { data: 2, poisoned: true, .. }");
        lock.clear_poison();
        *lock.write().unwrap() = 3;
        let mut lock = sync::Arc::into_inner(lock).unwrap();
        assert_eq!(*lock.get_mut().unwrap(), 3);
        assert_eq!(lock.into_inner().unwrap(), 3);
    }

    fn a_reader_s_panic_does_not_poison(crowd) {
        let lock = sync::Arc::new(sync::RwLock::new(1));
        let (copy, downgraded) = (lock.clone(), lock.clone());
        let panicked = crowd.spawn(0, move || {
            let _guard = copy.read().unwrap();
            quiet_panic("with the guard");
        });
        assert!(panicked.try_join().is_err());
        let panicked = crowd.spawn(1, move || {
            let _guard = sync::RwLockWriteGuard::downgrade(downgraded.write().unwrap());
            quiet_panic("with the guard");
        });
        assert!(panicked.try_join().is_err());
        assert!(!lock.is_poisoned());
        *lock.write().unwrap() = 2;
    }

    fn poison_stays_with_the_value(crowd) {
        let lock = sync::Arc::new(sync::RwLock::new(String::from("left")));
        let copy = lock.clone();
        let panicked = crowd.spawn(0, move || {
            let _guard = copy.write();
            quiet_panic("with the guard");
        });
        assert!(panicked.try_join().is_err());
        let mut lock = sync::Arc::into_inner(lock).unwrap();
        assert_eq!(lock.get_mut().unwrap_err().into_inner(), "left");
        assert_eq!(lock.into_inner().unwrap_err().into_inner(), "left");
    }

    fn a_guard_taken_and_given_back_while_unwinding_does_not_poison(crowd) {
        struct Locks(sync::Arc<sync::RwLock<u32>>);
        impl Drop for Locks {
            fn drop(&mut self) {
                *self.0.write().unwrap() += 1;
            }
        }
        let lock = sync::Arc::new(sync::RwLock::new(0));
        let copy = lock.clone();
        let panicked = crowd.spawn(1, move || {
            let _locks = Locks(copy);
            quiet_panic("without a guard");
        });
        assert!(panicked.try_join().is_err());
        assert_eq!(*lock.read().unwrap(), 1);
    }

    /// Writers that wait do not come between, and readers that wait come in.
    fn a_writer_may_go_on_as_a_reader(crowd) {
        let lock = sync::Arc::new(sync::RwLock::new(1));
        let mut writer = lock.write().unwrap();
        let (copy, other) = (lock.clone(), lock.clone());
        let waits = crowd.spawn(1, move || *copy.write().unwrap() += 10);
        (0..5).for_each(|_| thread::yield_now());
        *writer = 2;
        let reader = sync::RwLockWriteGuard::downgrade(writer);
        (0..5).for_each(|_| thread::yield_now());
        assert_eq!(*reader, 2);
        drop(reader);
        waits.join();
        let writer = lock.write().unwrap();
        let reads = crowd.spawn(0, move || *other.read().unwrap());
        (0..5).for_each(|_| thread::yield_now());
        let reader = sync::RwLockWriteGuard::downgrade(writer);
        assert_eq!((reads.join(), *reader), (12, 12));
    }

    fn its_traits_are_std_s(_crowd) {
        use std::panic::{RefUnwindSafe, UnwindSafe};
        let lock: sync::RwLock<u32> = sync::RwLock::from(5);
        assert_eq!(format!("{lock:?}"), "RwLock { data: 5, poisoned: false, .. }");
        let guard = lock.write().unwrap();
        assert_eq!(format!("{lock:?}"), "RwLock { data: <locked>, poisoned: false, .. }");
        assert_eq!((format!("{guard:?}"), format!("{guard}")), ("5".to_owned(), "5".to_owned()));
        let guard = sync::RwLockWriteGuard::downgrade(guard);
        assert_eq!(format!("{lock:?}"), "RwLock { data: 5, poisoned: false, .. }");
        assert_eq!((format!("{guard:?}"), format!("{guard}")), ("5".to_owned(), "5".to_owned()));
        drop(guard);
        assert_eq!(*sync::RwLock::<u32>::default().read().unwrap(), 0);
        let slice: Box<sync::RwLock<[u32]>> = Box::new(sync::RwLock::new([1, 2, 3]));
        slice.write().unwrap()[1] = 7;
        assert_eq!(*slice.read().unwrap(), [1, 7, 3]);
        fn is_unwind_safe<T: UnwindSafe + RefUnwindSafe + Send>() {}
        fn is_shared<T: UnwindSafe + RefUnwindSafe + Sync>() {}
        is_unwind_safe::<sync::RwLock<std::cell::Cell<u32>>>();
        is_shared::<sync::RwLock<u32>>();
        is_shared::<sync::RwLockReadGuard<'_, u32>>();
        is_shared::<sync::RwLockWriteGuard<'_, u32>>();
        fn is_covariant<'a>(guard: sync::RwLockReadGuard<'static, &'static str>) -> sync::RwLockReadGuard<'a, &'a str> {
            guard
        }
        let _ = is_covariant;
    }

    fn it_may_be_a_static_item(crowd) {
        static TOTAL: sync::RwLock<usize> = sync::RwLock::new(0);
        let before = *TOTAL.read().unwrap();
        crowd.all(4, |number| *TOTAL.write().unwrap() += number);
        assert_eq!(*TOTAL.read().unwrap() - before, 6);
    }
}
