//! A small value with many readers and few writers.

use super::super::crowd::in_crowds;
use super::super::support::{everywhere, pinned, quiet_panic, refused};
use sinew::fiber;
use sinew::sync::{Plain, SeqLock};
use std::fmt::Debug;
use std::num::NonZero;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Each reader sees an array whose items are all the same, and never less than before.
fn nothing_is_torn<T, const N: usize>(number: fn(u8) -> T)
where
    T: Plain + PartialOrd + Debug + Send + Sync + 'static,
{
    in_crowds(move |crowd| {
        let lock = Arc::new(SeqLock::new([number(0); N]));
        crowd.all(4, move |member| {
            let mut last = number(0);
            for round in 1..=100 {
                if member == 0 {
                    lock.set([number(round); N]);
                    fiber::yield_now();
                    continue;
                }
                let seen = if member == 1 { lock.try_read().unwrap_or([last; N]) } else { lock.read() };
                assert!(seen.iter().all(|item| *item == seen[0]) && seen[0] >= last, "{seen:?}");
                last = seen[0];
                if round % 8 == 0 {
                    fiber::yield_now();
                }
            }
        });
    });
}

#[test]
fn nothing_is_torn_that_is_many_words() {
    nothing_is_torn::<u64, 32>(u64::from);
}

#[test]
fn nothing_is_torn_that_is_words_and_bytes() {
    nothing_is_torn::<u8, 29>(|number| number);
}

#[test]
fn nothing_is_torn_that_is_bytes() {
    nothing_is_torn::<u16, 3>(u16::from);
}

#[test]
fn values_of_all_sizes_come_back() {
    fn comes_back<T: Plain + PartialEq + Debug>(values: [T; 2]) {
        let mut lock = SeqLock::new(values[0]);
        assert_eq!(lock.read(), values[0]);
        lock.set(values[1]);
        assert_eq!((lock.read(), lock.try_read()), (values[1], Some(values[1])));
        *lock.get_mut() = values[0];
        assert_eq!(*lock.write(), values[0]);
        assert_eq!(lock.into_inner(), values[0]);
    }
    comes_back([(), ()]);
    comes_back([false, true]);
    comes_back(['a', '\u{10FFFF}']);
    comes_back([1_u8, 0xFE]);
    comes_back([0x0102_u16, 0xF0E0]);
    comes_back([1.5_f32, -0.25]);
    comes_back([1_u128 << 100, u128::MAX]);
    comes_back([[1_u8, 2, 3, 4, 5, 6, 7, 8, 9], [9, 8, 7, 6, 5, 4, 3, 2, 1]]);
    comes_back([None, NonZero::new(7_u32)]);
    comes_back([[[1_u16; 3]; 5], [[0xFFFE; 3]; 5]]);
    comes_back([[0_u64; 0], []]);
}

/// A fiber that is suspended with the guard: readers have the value from before, at once, and other
/// writers wait.
#[test]
fn readers_of_a_suspended_writer_read_what_was_before() {
    everywhere(|| {
        let lock = Arc::new(SeqLock::new([1, 1]));
        let mut guard = lock.write();
        guard[0] = 2;
        let copy = lock.clone();
        let reads = fiber::spawn(move || (copy.read(), copy.try_read(), copy.try_write().is_none()));
        let copy = lock.clone();
        let writes = fiber::spawn(move || {
            let mut guard = copy.write();
            guard[0] += 1;
            *guard
        });
        assert_eq!(reads.join().unwrap(), ([1, 1], Some([1, 1]), true));
        assert!(!writes.is_finished());
        guard[1] = 2;
        assert_eq!((lock.read(), *guard), ([1, 1], [2, 2]));
        drop(guard);
        assert_eq!(writes.join().unwrap(), [3, 2]);
        assert_eq!(lock.read(), [3, 2]);
    });
}

#[test]
fn writers_take_turns() {
    in_crowds(|crowd| {
        let lock = Arc::new(SeqLock::new([0_u32; 3]));
        let copy = lock.clone();
        crowd.all(6, move |number| {
            for _ in 0..30 {
                let mut guard = copy.write();
                guard[number % 3] += 1;
                fiber::yield_now();
            }
        });
        assert_eq!(lock.read(), [60; 3]);
    });
}

#[test]
fn a_writer_that_panics_changes_nothing() {
    struct Sets(Arc<SeqLock<u32>>);
    impl Drop for Sets {
        fn drop(&mut self) {
            *self.0.write() += 10;
        }
    }
    in_crowds(|crowd| {
        let lock = Arc::new(SeqLock::new(1));
        let copy = lock.clone();
        let panicked = crowd.spawn(1, move || {
            let mut guard = copy.write();
            *guard = 2;
            quiet_panic("with the guard");
        });
        assert!(panicked.try_join().is_err());
        assert_eq!((lock.read(), *lock.try_write().unwrap()), (1, 1));
        // One that is taken and dropped while it unwinds is as good as any.
        let sets = Sets(lock.clone());
        let panicked = crowd.spawn(1, move || {
            let _sets = sets;
            quiet_panic("without a guard");
        });
        assert!(panicked.try_join().is_err());
        assert_eq!(lock.read(), 11);
    });
}

#[test]
fn a_wait_for_the_turn_ends() {
    everywhere(|| {
        let lock = Arc::new(SeqLock::new(1));
        let guard = lock.write();
        assert!(lock.try_write().is_none() && lock.try_write_for(Duration::ZERO).is_none());
        assert!(lock.try_write_for(Duration::from_micros(100)).is_none());
        assert!(lock.try_write_until(Instant::now()).is_none());
        let copy = lock.clone();
        let waits = fiber::spawn(move || copy.write_cancellable().map(|guard| *guard));
        fiber::yield_now();
        waits.cancel_with_reason("enough");
        assert_eq!(waits.join().unwrap().unwrap_err().reason(), Some("enough"));
        let copy = lock.clone();
        let patient = fiber::spawn(move || *copy.try_write_for(Duration::MAX).unwrap());
        drop(guard);
        assert_eq!(patient.join().unwrap(), 1);
        assert_eq!(*lock.write_cancellable().unwrap(), 1);
    });
}

#[test]
fn only_writers_wait_inside_no_suspend_and_that_panics() {
    let runtime = pinned(1);
    runtime.run(|| {
        let lock = SeqLock::new(1);
        let guard = lock.write();
        fiber::no_suspend(|| assert_eq!(lock.read(), 1));
        refused(|| lock.set(2));
        drop(guard);
        fiber::no_suspend(|| lock.set(3));
        assert_eq!(lock.read(), 3);
    });
}

#[test]
fn it_has_the_usual_traits() {
    let lock: SeqLock<u32> = SeqLock::from(5);
    assert_eq!(format!("{lock:?}"), "SeqLock { data: 5, .. }");
    let guard = lock.write();
    assert_eq!((format!("{guard:?}"), format!("{guard}")), ("5".to_owned(), "5".to_owned()));
    drop(guard);
    assert_eq!(SeqLock::<u32>::default().read(), 0);
    fn has_traits<T: Send + Sync + UnwindSafe + RefUnwindSafe>() {}
    has_traits::<SeqLock<[u64; 4]>>();
    static LOCK: SeqLock<[u8; 3]> = SeqLock::new([0; 3]);
    LOCK.set([1, 2, 3]);
    assert_eq!(LOCK.read(), [1, 2, 3]);
}
