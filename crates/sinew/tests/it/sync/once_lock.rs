//! A value that is set once.

use super::super::crowd::{as_std, in_crowds};
use super::super::support::{message, mute, quiet_panic};
use sinew::fiber;
use sinew::sync::OnceLock;
use std::sync::Arc;
use std::time::Duration;

as_std! {
    fn one_of_many_makes_it(crowd) {
        let cell = sync::Arc::new(sync::OnceLock::new());
        let copy = cell.clone();
        let seen = crowd.all(8, move |number| {
            let value: &String = copy.get_or_init(|| {
                thread::yield_now();
                number.to_string()
            });
            (std::ptr::from_ref(value) as usize, value.clone())
        });
        assert!(seen.iter().all(|one| *one == seen[0]));
        assert_eq!(*cell.get().unwrap(), seen[0].1);
    }

    fn one_of_many_sets_it(crowd) {
        let cell = sync::Arc::new(sync::OnceLock::new());
        let copy = cell.clone();
        let outcomes = crowd.all(8, move |number| copy.set(number));
        let winner = outcomes.iter().position(|outcome| outcome.is_ok()).unwrap();
        assert_eq!(*cell.wait(), winner);
        for (number, outcome) in outcomes.into_iter().enumerate() {
            assert_eq!(outcome, if number == winner { Ok(()) } else { Err(number) });
        }
    }

    fn those_who_wait_see_it(crowd) {
        let cell = sync::Arc::new(sync::OnceLock::new());
        let waiters: Vec<_> = (0..6)
            .map(|number| {
                let cell = cell.clone();
                crowd.spawn(number, move || *cell.wait())
            })
            .collect();
        thread::yield_now();
        assert_eq!(cell.get(), None);
        cell.set(5).unwrap();
        assert!(waiters.into_iter().all(|waiter| waiter.join() == 5));
    }

    fn a_panic_leaves_it_without_a_value(crowd) {
        let cell = sync::Arc::new(sync::OnceLock::new());
        let copy = cell.clone();
        let waits = crowd.spawn(0, move || *copy.wait());
        let copy = cell.clone();
        let panicked = crowd.spawn(1, move || *copy.get_or_init(|| quiet_panic("while it is made")));
        assert!(panicked.try_join().is_err());
        assert_eq!(cell.get(), None);
        assert!(!waits.is_finished());
        assert_eq!(*cell.get_or_init(|| 7_u32), 7);
        assert_eq!(waits.join(), 7);
    }

    fn whoever_has_it_to_itself_may_change_it(_crowd) {
        let mut cell = sync::OnceLock::new();
        assert!(cell.get_mut().is_none() && cell.take().is_none());
        cell.set(String::from("a")).unwrap();
        assert_eq!(cell.set(String::from("b")), Err(String::from("b")));
        cell.get_mut().unwrap().push('c');
        assert_eq!(cell.take().as_deref(), Some("ac"));
        assert_eq!(cell.get(), None);
        assert_eq!(cell.get_or_init(|| String::from("d")), "d");
        assert_eq!(cell.into_inner().as_deref(), Some("d"));
        assert_eq!(sync::OnceLock::<u32>::new().into_inner(), None);
    }

    fn its_traits_are_std_s(_crowd) {
        let (empty, five) = (sync::OnceLock::<u32>::default(), sync::OnceLock::from(5));
        assert_eq!((format!("{empty:?}"), format!("{five:?}")), ("OnceLock(<uninit>)".into(), "OnceLock(5)".into()));
        assert_eq!(format!("{five:#?}"), "OnceLock(\n    5,\n)");
        assert!(empty == empty.clone() && five == five.clone() && five != empty);
        assert!(five == sync::OnceLock::from(5) && five != sync::OnceLock::from(6));
        fn is_eq<T: Eq>() {}
        is_eq::<sync::OnceLock<u32>>();
        fn has_traits<T: Send + Sync + std::panic::UnwindSafe + std::panic::RefUnwindSafe>() {}
        has_traits::<sync::OnceLock<u32>>();
        fn is_send<T: Send>() {}
        is_send::<sync::OnceLock<std::cell::Cell<u32>>>();
        static NUMBER: sync::OnceLock<u32> = sync::OnceLock::new();
        assert_eq!(*NUMBER.get_or_init(|| 3), 3);
    }

    fn it_may_outlive_what_its_value_borrows(_crowd) {
        let cell: sync::OnceLock<&str> = sync::OnceLock::new();
        let text = String::from("b");
        cell.set(&text).unwrap();
        assert_eq!(cell.get(), Some(&"b"));
    }

    fn its_value_is_dropped_with_it(_crowd) {
        let value = sync::Arc::new(());
        let cell = sync::OnceLock::new();
        cell.set(value.clone()).unwrap();
        assert!(cell.set(value.clone()).is_err());
        assert_eq!(sync::Arc::strong_count(&value), 2);
        drop(cell);
        assert_eq!(sync::Arc::strong_count(&value), 1);
    }
}

#[test]
fn an_initialiser_that_needs_the_value_panics() {
    let _muted = mute("`Once` re-entered");
    in_crowds(|crowd| {
        let cell = Arc::new(OnceLock::new());
        let copy = cell.clone();
        let panicked = crowd.spawn(1, move || *copy.get_or_init(|| *copy.get_or_init(|| 1)));
        let panic = panicked.try_join().unwrap_err();
        assert!(message(&*panic).contains("re-entered"), "{}", message(&*panic));
        let copy = cell.clone();
        let panicked = crowd.spawn(0, move || *copy.get_or_init(|| *copy.wait()));
        assert!(panicked.try_join().is_err());
        // Looking is no use of it.
        assert_eq!(*cell.get_or_init(|| cell.get().copied().unwrap_or(2)), 2);
    });
}

#[test]
fn a_wait_ends_at_its_time() {
    in_crowds(|crowd| {
        let cell = Arc::new(OnceLock::new());
        let copy = cell.clone();
        crowd.all(2, move |number| {
            assert_eq!(copy.wait_timeout([Duration::ZERO, Duration::from_micros(200)][number]), None);
        });
        let copy = cell.clone();
        let patient = crowd.spawn(1, move || copy.wait_timeout(Duration::MAX).copied());
        fiber::yield_now();
        cell.set(5).unwrap();
        assert_eq!(patient.join(), Some(5));
    });
}
