//! A value that is made when it is first needed.

use super::super::crowd::{as_std, in_crowds};
use super::super::support::{message, mute, quiet_panic};
use sinew::fiber;
use sinew::sync::LazyLock;
use std::sync::Arc;
use std::time::Duration;

/// In the message of the panic of a use after an initialiser has panicked.
const POISONED: &str = "LazyLock instance has previously been poisoned";

as_std! {
    fn it_is_made_once_and_when_it_is_needed(crowd) {
        let calls = sync::Arc::new(sync::atomic::AtomicUsize::new(0));
        let count = calls.clone();
        let lazy = sync::Arc::new(sync::LazyLock::new(move || {
            thread::yield_now();
            count.fetch_add(1, sync::atomic::Ordering::Relaxed) + 5
        }));
        assert_eq!(sync::LazyLock::get(&lazy), None);
        assert_eq!(calls.load(sync::atomic::Ordering::Relaxed), 0);
        let copy = lazy.clone();
        assert_eq!(crowd.all(8, move |number| if number % 2 == 0 { **copy } else { *sync::LazyLock::force(&copy) }), [5; 8]);
        assert_eq!(sync::LazyLock::get(&lazy), Some(&5));
        assert_eq!(calls.load(sync::atomic::Ordering::Relaxed), 1);
    }

    fn whoever_has_it_to_itself_may_change_it(_crowd) {
        let mut lazy = sync::LazyLock::new(|| 5);
        assert_eq!(sync::LazyLock::get_mut(&mut lazy), None);
        *sync::LazyLock::force_mut(&mut lazy) += 1;
        *lazy += 1;
        assert_eq!(sync::LazyLock::get_mut(&mut lazy).copied(), Some(7));
        assert_eq!(*lazy, 7);
        let mut made = sync::LazyLock::new(|| 1);
        assert_eq!(*made, 1);
        *made += 1;
        assert_eq!(*sync::LazyLock::force_mut(&mut made), 2);
    }

    fn a_panic_poisons_it(crowd) {
        let _muted = mute(POISONED);
        let lazy = sync::Arc::new(sync::LazyLock::<u32>::new(|| quiet_panic("while it is made")));
        for number in 0..3 {
            let copy = lazy.clone();
            let panic = crowd.spawn(number, move || **copy).try_join().unwrap_err();
            let expected = ["while it is made", POISONED][number.min(1)];
            assert!(message(&*panic).contains(expected), "{}", message(&*panic));
        }
        assert_eq!(sync::LazyLock::get(&lazy), None);
        assert_eq!(format!("{lazy:?}"), "LazyLock(<uninit>)");
        let mut lazy = sync::Arc::into_inner(lazy).unwrap();
        assert_eq!(sync::LazyLock::get_mut(&mut lazy), None);
        let panic = crowd.spawn(0, move || *sync::LazyLock::force_mut(&mut lazy)).try_join().unwrap_err();
        assert!(message(&*panic).contains(POISONED));
    }

    fn a_panic_of_whoever_has_it_to_itself_poisons_it(crowd) {
        let _muted = mute(POISONED);
        let lazy = sync::LazyLock::<u32>::new(|| quiet_panic("while it is made"));
        let lazy = sync::Arc::new(sync::Mutex::new(lazy));
        let copy = lazy.clone();
        let panicked = crowd.spawn(1, move || *sync::LazyLock::force_mut(&mut copy.lock().unwrap()));
        assert!(panicked.try_join().is_err());
        let panicked = crowd.spawn(1, move || {
            let lazy = lazy.lock().unwrap_err().into_inner();
            **lazy
        });
        let panic = panicked.try_join().unwrap_err();
        assert!(message(&*panic).contains(POISONED));
    }

    fn its_traits_are_std_s(crowd) {
        static NUMBER: sync::LazyLock<u32> = sync::LazyLock::new(|| 3);
        assert_eq!(crowd.all(2, |_| *NUMBER), [3, 3]);
        let lazy: sync::LazyLock<u32> = Default::default();
        assert_eq!(format!("{lazy:?}"), "LazyLock(<uninit>)");
        assert_eq!(*lazy, 0);
        assert_eq!(format!("{lazy:?}"), "LazyLock(0)");
        fn has_traits<T: Send + Sync + std::panic::UnwindSafe + std::panic::RefUnwindSafe>(_: &T) {}
        has_traits(&lazy);
        // An initialiser need not be shared.
        let cell = std::cell::Cell::new(5);
        let once = sync::LazyLock::new(move || cell.get());
        fn is_sync<T: Sync>(_: &T) {}
        is_sync(&once);
        assert_eq!(*once, 5);
    }

    fn what_is_in_it_is_dropped_once(_crowd) {
        let value = sync::Arc::new(());
        let copy = value.clone();
        let unused = sync::LazyLock::new(move || copy);
        let copy = value.clone();
        let used = sync::LazyLock::new(move || copy);
        let _: &() = &used;
        assert_eq!(sync::Arc::strong_count(&value), 3);
        drop((unused, used));
        assert_eq!(sync::Arc::strong_count(&value), 1);
    }
}

#[test]
fn a_value_that_is_there_needs_no_initialiser() {
    let mut lazy: LazyLock<String> = String::from("made").into();
    assert_eq!(LazyLock::get(&lazy).map(String::as_str), Some("made"));
    assert_eq!((lazy.len(), LazyLock::force(&lazy).as_str()), (4, "made"));
    LazyLock::force_mut(&mut lazy).push('!');
    assert_eq!(*lazy, "made!");
    // Dropped once.
    let shared = Arc::new(());
    drop::<LazyLock<_>>(shared.clone().into());
    assert_eq!(Arc::strong_count(&shared), 1);
}

#[test]
fn an_initialiser_may_suspend_and_others_wait() {
    in_crowds(|crowd| {
        let lazy = Arc::new(LazyLock::new(|| {
            fiber::sleep(Duration::from_micros(200));
            5
        }));
        assert_eq!(crowd.all(6, move |_| **lazy), [5; 6]);
    });
}

#[test]
fn an_initialiser_that_needs_the_value_panics() {
    static LOOP: LazyLock<u32> = LazyLock::new(|| *LOOP + 1);
    let _muted = (mute("`Once` re-entered"), mute(POISONED));
    in_crowds(|crowd| {
        let panic = crowd.spawn(1, || *LOOP).try_join().unwrap_err();
        let text = message(&*panic);
        assert!(text.contains("re-entered") || text.contains("previously been poisoned"), "{text}");
    });
}
