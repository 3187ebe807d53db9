//! Mutexes.

use super::super::crowd::as_std;

as_std! {
    fn one_has_it_at_a_time(crowd) {
        let total = sync::Arc::new(sync::Mutex::new(0));
        let copy = total.clone();
        crowd.all(8, move |_| {
            for _ in 0..100 {
                let mut guard = copy.lock().unwrap();
                let before = *guard;
                thread::yield_now();
                *guard = before + 1;
            }
        });
        assert_eq!(*total.lock().unwrap(), 800);
    }
}
