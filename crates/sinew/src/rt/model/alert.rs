//! Model of the alert: a worker that starts to work while the watcher goes to sleep is watched.

use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, Ordering};
use loom::thread;

use crate::rt::model::check;
use crate::rt::worker::stall::Alert;

#[test]
fn a_worker_that_goes_to_work_is_watched() {
    check(3, || {
        let (alert, works) = (Arc::new(Alert::new()), Arc::new(AtomicBool::new(false)));
        assert!(alert.raise());
        let (watched, work) = (alert.clone(), works.clone());
        let watcher = thread::spawn(move || watched.lower(|| work.load(Ordering::Relaxed)));
        works.store(true, Ordering::Relaxed);
        if alert.is_needed() {
            alert.raise();
        }
        watcher.join().expect("the watcher goes to sleep");
        assert!(alert.is_raised(), "a worker works, and the watcher sleeps");
    });
}
