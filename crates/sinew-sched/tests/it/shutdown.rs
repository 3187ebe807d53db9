//! The end of a pool: drained, or at a deadline, with a report.

use super::support::{Countdown, WORKERS, Watched, builder, wait_until_all_are_gone};
use sinew_sched::{Placement, Refusal, TaskRef};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

#[test]
fn a_shutdown_does_what_there_is() {
    for workers in WORKERS {
        let pool = builder().workers(workers).build().unwrap();
        let done = Countdown::new(2_000);
        for number in 0..1_000 {
            pool.handle().submit(done.task(), Placement::Anyone).unwrap();
            pool.handle().submit(done.task(), Placement::Worker(number % workers)).unwrap();
        }
        let report = pool.shutdown(None);
        assert_eq!(done.left(), 0);
        assert!(report.drained && report.waited && report.stuck.is_empty(), "{report:?}");
    }
}

#[test]
fn work_in_progress_may_make_more_of_it() {
    for workers in WORKERS {
        let pool = builder().workers(workers).build().unwrap();
        let done = Countdown::new(1);
        pool.handle().submit(chain(1_000, &done), Placement::Anyone).unwrap();
        assert!(pool.shutdown(None).drained);
        assert_eq!(done.left(), 0);
    }
}

fn chain(left: usize, done: &Countdown) -> TaskRef {
    let done = done.clone();
    TaskRef::new(move |context| match left {
        0 => done.count_down(),
        _ => context.submit(chain(left - 1, &done)),
    })
}

#[test]
fn new_work_is_refused_and_handed_back() {
    let pool = builder().workers(2).build().unwrap();
    let handle = pool.handle();
    pool.shutdown(None);
    let (sender, receiver) = mpsc::channel();
    let task = TaskRef::new(move |_| sender.send(()).unwrap());
    let error = handle.submit(task, Placement::Anyone).unwrap_err();
    assert_eq!(error.refusal, Refusal::Closed);
    assert!(error.to_string().contains("shut down"), "{error}");
    assert_eq!(error.tasks.len(), 1);
    assert_eq!(receiver.try_recv(), Err(mpsc::TryRecvError::Empty), "the task is still there");
    drop(error);
    assert_eq!(receiver.try_recv(), Err(mpsc::TryRecvError::Disconnected), "and discarded with the error");
    let batch = handle.submit_batch((0..3).map(|_| TaskRef::new(|_| {})), Placement::Worker(1)).unwrap_err();
    assert_eq!(batch.tasks.len(), 3);
}

#[test]
fn a_task_rescheduled_when_it_is_over_is_discarded() {
    let pool = builder().workers(2).build().unwrap();
    let handle = pool.handle();
    pool.shutdown(None);
    for to in [Placement::Anyone, Placement::Worker(1)] {
        let (sender, receiver) = mpsc::channel();
        handle.reschedule(TaskRef::new(move |_| sender.send(()).unwrap()), to);
        assert_eq!(receiver.recv(), Err(mpsc::RecvError));
    }
}

#[test]
fn a_deadline_discards_what_has_not_begun() {
    for workers in WORKERS {
        let pool = builder().workers(workers).build().unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let begun = Countdown::new(workers);
        for worker in 0..workers {
            let (stop, begun) = (stop.clone(), begun.clone());
            let task = TaskRef::new(move |_| {
                begun.count_down();
                while !stop.load(Ordering::Relaxed) {
                    thread::yield_now();
                }
            });
            pool.handle().submit(task, Placement::Worker(worker)).unwrap();
        }
        begun.wait();
        let (sender, receiver) = mpsc::channel::<()>();
        for _ in 0..100 {
            let sender = sender.clone();
            pool.handle().submit(TaskRef::new(move |_| drop(sender)), Placement::Anyone).unwrap();
        }
        drop(sender);
        let report = pool.shutdown(Some(Duration::from_millis(1)));
        assert!(!report.drained, "{report:?}");
        assert_eq!(report.discarded, 100, "{report:?}");
        assert_eq!(report.stuck.len(), workers, "{report:?}");
        assert!(report.stuck.iter().all(|stuck| stuck.is_running), "{report:?}");
        assert_eq!(receiver.recv(), Err(mpsc::RecvError), "all 100 were discarded");
        stop.store(true, Ordering::Relaxed);
    }
}

#[test]
fn a_worker_with_begun_tasks_stays_and_is_reported() {
    let pool = builder().workers(2).build().unwrap();
    let done = Countdown::new(1);
    let copy = done.clone();
    let task = TaskRef::new(move |context| {
        context.core().own();
        copy.count_down();
    });
    pool.handle().submit(task, Placement::Worker(1)).unwrap();
    done.wait();
    let report = pool.shutdown(Some(Duration::from_millis(10)));
    assert!(!report.drained);
    let stuck: Vec<_> =
        report.stuck.iter().map(|stuck| (stuck.worker, stuck.owned, stuck.is_running)).collect();
    assert_eq!(stuck, [(1, 1, false)]);
}

#[test]
fn a_drain_waits_for_begun_tasks_that_end_in_time() {
    let watched = Watched::new(2);
    let handle = watched.handle();
    let done = Countdown::new(1);
    let copy = done.clone();
    let task = TaskRef::new(move |context| {
        context.core().own();
        copy.count_down();
    });
    handle.submit(task, Placement::Worker(1)).unwrap();
    done.wait();
    let ender = thread::spawn(move || {
        let last = TaskRef::new(|context| context.core().disown());
        handle.reschedule(last, Placement::Worker(1));
    });
    watched.finish();
    ender.join().unwrap();
}

#[test]
fn a_worker_that_shuts_its_own_pool_down_does_not_wait() {
    for workers in WORKERS {
        let pool = builder().workers(workers).build().unwrap();
        let handle = pool.handle();
        let (sender, receiver) = mpsc::channel();
        let task = TaskRef::new(move |_| sender.send(pool.shutdown(None)).unwrap());
        handle.submit(task, Placement::Anyone).unwrap();
        let report = receiver.recv().unwrap();
        assert!(!report.waited && !report.drained, "{report:?}");
        while handle.stats().workers.iter().any(|worker| worker.state != sinew_sched::WorkerState::Absent) {
            thread::yield_now();
        }
        assert_eq!(handle.stats().tasks(), 1);
    }
}

#[test]
fn dropping_a_pool_finishes_its_work_in_the_background() {
    let pool = builder().workers(2).build().unwrap();
    let done = Countdown::new(1_000);
    for _ in 0..1_000 {
        pool.handle().submit(done.task(), Placement::Anyone).unwrap();
    }
    let handle = pool.handle();
    drop(pool);
    let error = handle.submit(TaskRef::new(|_| {}), Placement::Anyone).unwrap_err();
    assert_eq!(error.refusal, Refusal::Closed);
    done.wait();
    wait_until_all_are_gone(&handle);
}
