//! Tasks that a worker moves from the group's queue to its deque are in neither for a moment.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use crate::pool::{Placement, Pool};
use crate::stats::WorkerState;
use crate::strategy::Strategy;
use crate::task::TaskRef;

thread_local! {
    /// Called when this worker next moves tasks to its deque.
    static MEANWHILE: Cell<Option<Box<dyn FnOnce()>>> = const { Cell::new(None) };
}

/// Called by a worker that has taken tasks from the queue and not yet put them into its deque.
pub(in super::super) fn is_being_moved() {
    if let Some(meanwhile) = MEANWHILE.take() {
        meanwhile();
    }
}

#[derive(Clone, Default)]
struct Flag(Arc<AtomicBool>);

impl Flag {
    fn set(&self) {
        self.0.store(true, Ordering::Release);
    }

    fn is_set(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }

    fn wait(&self) {
        assert!(comes_true(|| self.is_set()));
    }
}

/// Waits until `is_so` returns true, and returns false if it never does. The time limit is no
/// measurement: it ends a test that hangs.
fn comes_true(is_so: impl Fn() -> bool) -> bool {
    let end = Instant::now() + Duration::from_secs(20);
    while !is_so() {
        if Instant::now() >= end {
            return false;
        }
        std::thread::yield_now();
    }
    true
}

/// The first worker takes two tasks, of which the first waits for the second. Before they are in
/// its deque, the second worker looks for work, finds none and goes to sleep. It must be woken,
/// because no other worker can run the second task.
#[test]
fn a_worker_that_went_to_sleep_while_tasks_were_moved_is_woken() {
    let pool = Pool::builder().strategy(Strategy::Local).workers(2).build().unwrap();
    let [is_held, may_look, is_done] = [(); 3].map(|()| Flag::default());
    let (holds, looks) = (is_held.clone(), may_look.clone());
    let hold_second = TaskRef::new(move |_| {
        holds.set();
        looks.wait();
    });
    pool.handle().submit(hold_second, Placement::Worker(1)).unwrap();
    let (handle, (tell, told)) = (pool.handle(), mpsc::channel());
    let fill_queue = TaskRef::new(move |_| {
        // No worker takes a task while both are held.
        is_held.wait();
        let done = is_done.clone();
        let first = TaskRef::new(move |_| tell.send(comes_true(|| done.is_set())).unwrap());
        let second = TaskRef::new(move |_| is_done.set());
        handle.submit_batch([first, second], Placement::Group(0)).unwrap();
        MEANWHILE.set(Some(Box::new(move || {
            may_look.set();
            let is_asleep = || handle.stats().workers[1].state == WorkerState::Sleeping;
            assert!(comes_true(is_asleep), "there is nothing to find");
        })));
    });
    pool.handle().submit(fill_queue, Placement::Worker(0)).unwrap();
    assert!(told.recv().unwrap(), "the second task waits, and a worker sleeps");
    assert!(pool.shutdown(None).drained);
}
