//! Drivers that panic: the panic is counted, and the pool continues.

use super::support::{Countdown, WORKERS, Watched, builder, wait_until_all_sleep};
use sinew_sched::{Core, Driver, FutexDriver, Placement};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// The calls that panic, once each.
#[derive(Default)]
struct Faults {
    look: AtomicBool,
    sleep: AtomicBool,
    unpark: AtomicBool,
}

impl Faults {
    fn all() -> Arc<Self> {
        let armed = || AtomicBool::new(true);
        Arc::new(Self { look: armed(), sleep: armed(), unpark: armed() })
    }
}

fn panic_once(is_armed: &AtomicBool) {
    if is_armed.swap(false, Ordering::Relaxed) {
        // Without the panic hook, which would report each panic.
        std::panic::resume_unwind(Box::new("on purpose"));
    }
}

struct Clumsy {
    faults: Arc<Faults>,
    futex: FutexDriver,
}

impl Clumsy {
    fn boxed(faults: &Arc<Faults>) -> Box<dyn Driver> {
        Box::new(Self { faults: faults.clone(), futex: FutexDriver::default() })
    }
}

impl Driver for Clumsy {
    fn look(&self) -> io::Result<usize> {
        panic_once(&self.faults.look);
        Ok(0)
    }

    fn sleep(&self, at_most: Option<Duration>) -> io::Result<()> {
        panic_once(&self.faults.sleep);
        self.futex.sleep(at_most)
    }

    fn unpark(&self) {
        self.futex.unpark();
        panic_once(&self.faults.unpark);
    }

    fn is_watching(&self) -> bool {
        true
    }
}

#[test]
fn a_driver_that_panics_is_counted_and_loses_no_task() {
    for workers in WORKERS {
        let faults: Vec<_> = (0..workers).map(|_| Faults::all()).collect();
        let make = move |worker: usize| -> io::Result<Box<dyn Driver>> { Ok(Clumsy::boxed(&faults[worker])) };
        let watched = Watched::with(builder().workers(workers).driver(make).build().unwrap());
        let handle = watched.handle();
        for _ in 0..3 {
            wait_until_all_sleep(&handle);
            // The thread that wakes a worker is not affected.
            let done = Countdown::new(2 * workers);
            for worker in 0..workers {
                handle.submit(done.task(), Placement::Worker(worker)).unwrap();
                handle.submit(done.task(), Placement::Anyone).unwrap();
            }
            done.wait();
        }
        watched.finish();
        // Not every worker searches, and polls its driver for that.
        let errors: Vec<_> = handle.stats().workers.iter().map(|worker| worker.driver_errors).collect();
        assert!(errors.iter().all(|errors| (2..=3).contains(errors)), "{errors:?}");
        assert!(errors.contains(&3), "{errors:?}");
        assert!(handle.stats().workers.iter().all(|worker| worker.panics == 0));
    }
}

#[test]
fn a_core_sleeps_again_when_its_driver_has_panicked() {
    let core = Core::new(Clumsy::boxed(&Faults::all()));
    (0..3).for_each(|_| core.sleep(Some(Duration::from_millis(1))));
    let (handle, done) = (core.handle(), Countdown::new(2));
    let copy = done.clone();
    let sender = thread::spawn(move || {
        (0..2).for_each(|_| handle.post(copy.task()).expect("the core is there"));
    });
    while !sender.is_finished() {
        core.sleep(Some(Duration::from_millis(1)));
        core.run_ready(10);
    }
    sender.join().expect("the sender of a task does not see the panic of a driver");
    core.run_ready(10);
    assert_eq!(done.left(), 0);
}
