//! Guards for a part of what a lock is around.

use super::super::crowd::in_crowds;
use super::super::support::quiet_panic;
use sinew::fiber;
use sinew::sync::{
    MappedMutexGuard, MappedRwLockReadGuard, MappedRwLockWriteGuard, Mutex, MutexGuard, RwLock,
    RwLockReadGuard, RwLockWriteGuard,
};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// What the locks of these tests are around.
type Named = (u32, Option<Vec<u32>>);

fn named() -> Named {
    (1, Some(vec![1, 2, 3]))
}

fn panics(body: impl FnOnce()) {
    assert!(catch_unwind(AssertUnwindSafe(body)).is_err());
}

#[test]
fn a_part_is_locked_with_the_whole() {
    in_crowds(|crowd| {
        let (mutex, lock) = (Arc::new(Mutex::new(named())), Arc::new(RwLock::new(named())));
        let (one, two) = (mutex.clone(), lock.clone());
        crowd.all(6, move |number| {
            for _ in 0..20 {
                *MutexGuard::map(one.lock().unwrap(), |named| &mut named.0) += 1;
                if number % 2 == 0 {
                    *RwLockWriteGuard::map(two.write().unwrap(), |named| &mut named.0) += 1;
                } else {
                    assert!(*RwLockReadGuard::map(two.read().unwrap(), |named| &named.0) >= 1);
                }
            }
        });
        assert_eq!((mutex.try_lock().unwrap().0, lock.try_write().unwrap().0), (121, 61));
    });
}

#[test]
fn a_part_of_a_part_and_of_no_size() {
    let (mutex, lock) = (Mutex::new(named()), RwLock::new(named()));
    let list = MutexGuard::filter_map(mutex.lock().unwrap(), |named| named.1.as_mut()).unwrap();
    let mut tail: MappedMutexGuard<'_, [u32]> = MappedMutexGuard::map(list, |list| &mut list[1..]);
    tail[0] = 5;
    let mut last = MappedMutexGuard::filter_map(tail, |tail| tail.last_mut()).unwrap();
    *last = 6;
    assert!(mutex.try_lock().is_err());
    assert_eq!((format!("{last:?}"), format!("{last}")), ("6".to_owned(), "6".to_owned()));
    drop(last);
    assert_eq!(mutex.lock().unwrap().1, Some(vec![1, 5, 6]));

    let list = RwLockWriteGuard::filter_map(lock.write().unwrap(), |named| named.1.as_mut()).unwrap();
    let tail: MappedRwLockWriteGuard<'_, [u32]> = MappedRwLockWriteGuard::map(list, |list| &mut list[1..]);
    let mut last = MappedRwLockWriteGuard::filter_map(tail, |tail| tail.last_mut()).unwrap();
    *last = 7;
    assert!(lock.try_read().is_err());
    assert_eq!((format!("{last:?}"), format!("{last}")), ("7".to_owned(), "7".to_owned()));
    drop(last);

    let list = RwLockReadGuard::filter_map(lock.read().unwrap(), |named| named.1.as_ref()).unwrap();
    let tail: MappedRwLockReadGuard<'_, [u32]> = MappedRwLockReadGuard::map(list, |list| &list[1..]);
    let last = MappedRwLockReadGuard::filter_map(tail, |tail| tail.last()).unwrap();
    assert!(lock.try_read().is_ok() && lock.try_write().is_err());
    assert_eq!((format!("{last:?}"), format!("{last}")), ("7".to_owned(), "7".to_owned()));
    drop(last);
    assert!(lock.try_write().is_ok());
}

#[test]
fn where_there_is_no_part_the_guard_comes_back() {
    let (mutex, lock) = (Mutex::new((1, None::<u32>)), RwLock::new((1, None::<u32>)));
    let mut guard = MutexGuard::filter_map(mutex.lock().unwrap(), |pair| pair.1.as_mut()).unwrap_err();
    guard.0 = 2;
    let one = MutexGuard::map(guard, |pair| &mut pair.0);
    assert_eq!(*MappedMutexGuard::filter_map(one, |_| None::<&mut u32>).unwrap_err(), 2);
    assert!(mutex.try_lock().is_ok());

    let mut guard = RwLockWriteGuard::filter_map(lock.write().unwrap(), |pair| pair.1.as_mut()).unwrap_err();
    guard.0 = 2;
    let one = RwLockWriteGuard::map(guard, |pair| &mut pair.0);
    assert_eq!(*MappedRwLockWriteGuard::filter_map(one, |_| None::<&mut u32>).unwrap_err(), 2);

    let guard = RwLockReadGuard::filter_map(lock.read().unwrap(), |pair| pair.1.as_ref()).unwrap_err();
    let one = RwLockReadGuard::map(guard, |pair| &pair.0);
    assert_eq!(*MappedRwLockReadGuard::filter_map(one, |_| None::<&u32>).unwrap_err(), 2);
    assert!(lock.try_write().is_ok());
}

#[test]
fn a_closure_that_panics_gives_the_lock_back() {
    let (mutex, lock) = (Mutex::new(1), RwLock::new(1));
    let map = || drop(MutexGuard::map(mutex.lock().unwrap(), |_| -> &mut u32 { panic!("in the closure") }));
    panics(map);
    assert!(mutex.is_poisoned());
    mutex.clear_poison();
    let filter =
        || _ = MutexGuard::filter_map(mutex.lock().unwrap(), |_| -> Option<&mut u32> { panic!("in it") });
    panics(filter);
    assert!(mutex.is_poisoned());
    assert_eq!(*mutex.lock().unwrap_err().into_inner(), 1);

    panics(|| drop(RwLockReadGuard::map(lock.read().unwrap(), |_| -> &u32 { panic!("in the closure") })));
    panics(|| _ = RwLockReadGuard::filter_map(lock.read().unwrap(), |_| -> Option<&u32> { panic!("in it") }));
    assert!(!lock.is_poisoned() && lock.try_write().is_ok());

    panics(|| {
        drop(RwLockWriteGuard::map(lock.write().unwrap(), |_| -> &mut u32 { panic!("in the closure") }))
    });
    assert!(lock.is_poisoned());
    lock.clear_poison();
    panics(|| {
        _ = RwLockWriteGuard::filter_map(lock.write().unwrap(), |_| -> Option<&mut u32> { panic!("in it") })
    });
    assert!(lock.is_poisoned());
    lock.clear_poison();
    assert!(lock.try_write().is_ok());
}

/// Writers that wait get the lock after the reader that a writer became, and readers get in beside
/// it.
#[test]
fn a_writer_keeps_a_part_to_read() {
    in_crowds(|crowd| {
        let lock = Arc::new(RwLock::new(named()));
        let copy = lock.clone();
        crowd.all(6, move |number| {
            for round in 0..20 {
                let mut writer = copy.write().unwrap();
                writer.0 += 1;
                let now = writer.0;
                let one = match (number + round) % 2 {
                    0 => RwLockWriteGuard::downgrade_map(writer, |named| &named.0),
                    _ => RwLockWriteGuard::try_downgrade_map(writer, |named| Some(&named.0)).unwrap(),
                };
                fiber::yield_now();
                assert_eq!(*one, now);
                assert!(copy.try_write().is_err());
            }
        });
        assert_eq!(lock.try_write().unwrap().0, 121);
    });
    let lock = RwLock::new(named());
    let part = RwLockWriteGuard::downgrade_map(lock.write().unwrap(), |named| &named.1);
    assert!(lock.try_read().is_ok() && lock.try_write().is_err());
    drop(part);
    // Without a part, nothing is downgraded.
    let none =
        RwLockWriteGuard::try_downgrade_map(lock.write().unwrap(), |_| None::<&u32>).map(drop).unwrap_err();
    assert!(lock.try_read().is_err());
    drop(none);
    assert!(lock.try_write().is_ok());
}

/// The closure runs while the lock is held to write. A panic with the reader's guard is a reader's.
#[test]
fn a_panic_of_the_closure_that_downgrades_poisons() {
    let lock = RwLock::new(1);
    panics(|| {
        drop(RwLockWriteGuard::downgrade_map(lock.write().unwrap(), |_| -> &u32 { quiet_panic("in it") }))
    });
    assert!(lock.is_poisoned());
    lock.clear_poison();
    panics(|| {
        _ = RwLockWriteGuard::try_downgrade_map(lock.write().unwrap(), |_| -> Option<&u32> {
            quiet_panic("in it")
        })
    });
    assert!(lock.is_poisoned());
    lock.clear_poison();
    panics(|| {
        let _one = RwLockWriteGuard::downgrade_map(lock.write().unwrap(), |one| one);
        quiet_panic("with the guard");
    });
    assert!(!lock.is_poisoned() && lock.try_write().is_ok());
}

#[test]
fn a_panic_with_the_guard_of_a_part_poisons() {
    in_crowds(|crowd| {
        let (mutex, lock) = (Arc::new(Mutex::new(named())), Arc::new(RwLock::new(named())));
        let copy = mutex.clone();
        let panicked = crowd.spawn(0, move || {
            let mut one = MutexGuard::map(copy.lock().unwrap(), |named| &mut named.0);
            *one = 2;
            quiet_panic("with the guard");
        });
        assert!(panicked.try_join().is_err());
        assert!(mutex.is_poisoned());
        assert_eq!(mutex.lock().unwrap_err().into_inner().0, 2);

        let copy = lock.clone();
        let panicked = crowd.spawn(1, move || {
            let _one = RwLockReadGuard::map(copy.read().unwrap(), |named| &named.0);
            quiet_panic("with the guard");
        });
        assert!(panicked.try_join().is_err());
        assert!(!lock.is_poisoned());
        let copy = lock.clone();
        let panicked = crowd.spawn(1, move || {
            let one = RwLockWriteGuard::map(copy.write().unwrap(), |named| &mut named.0);
            let _same = MappedRwLockWriteGuard::map(one, |one| one);
            quiet_panic("with the guard");
        });
        assert!(panicked.try_join().is_err());
        assert!(lock.is_poisoned());
        assert_eq!(lock.write().unwrap_err().into_inner().0, 1);
    });
}

#[test]
fn their_traits_are_std_s() {
    fn is_sync<T: Sync>() {}
    is_sync::<MappedMutexGuard<'_, u32>>();
    is_sync::<MappedRwLockReadGuard<'_, u32>>();
    is_sync::<MappedRwLockWriteGuard<'_, u32>>();
    fn is_covariant<'a>(
        guard: MappedRwLockReadGuard<'static, &'static str>,
    ) -> MappedRwLockReadGuard<'a, &'a str> {
        guard
    }
    let _ = is_covariant;
}
