//! The end at a deadline: the pool ends, no task begins after it, and every task that did not run
//! is discarded and counted.

use super::fairness::{spawn, stay, storm, wander};
use super::support::{
    Countdown, Fates, WORKERS, Watched, builder, occupy, on_all_workers, start_thread, wait_until,
    wait_until_all_are_gone, wait_until_all_sleep,
};
use sinew_sched::{Context, Placement, ShutdownReport, TaskRef, WorkerState};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

const SOON: Duration = Duration::from_millis(2);

/// Lets worker 0 shut its own pool down, which does not wait.
fn shut_down_from_inside(watched: &mut Watched) {
    let (handle, pool) = (watched.handle(), watched.pool.take().unwrap());
    let (sender, receiver) = mpsc::channel();
    let task = TaskRef::new(move |_| sender.send(pool.shutdown(Some(SOON))).unwrap());
    handle.submit(task, Placement::Worker(0)).unwrap();
    let report = receiver.recv().unwrap();
    assert!(!report.waited, "{report:?}");
}

/// No thread waits for the pool to end, and every worker has work at all times.
#[test]
fn a_deadline_set_by_a_worker_ends_a_busy_pool() {
    for workers in WORKERS {
        for again in [stay, wander, spawn] {
            let mut watched = Watched::new(workers);
            let (handle, stop) = (watched.handle(), Arc::new(AtomicBool::new(false)));
            let never = Countdown::new(2 * workers);
            for number in 0..2 * workers {
                let task = storm(&stop, &never, again);
                handle.submit(task, Placement::Worker(number % workers)).unwrap();
            }
            shut_down_from_inside(&mut watched);
            wait_until_all_are_gone(&handle);
            // Each task of the storm has a copy.
            wait_until(|| Arc::strong_count(&stop) == 1);
            assert_eq!(never.left(), 2 * workers);
        }
    }
}

/// No thread waits for the pool to end. One worker runs a task, which is not interrupted, and all
/// others sleep.
#[test]
fn a_deadline_set_by_a_worker_ends_a_pool_that_sleeps() {
    for workers in [2, 8, 64] {
        let mut watched = Watched::new(workers);
        let handle = watched.handle();
        let gate = occupy(&handle, workers - 1);
        shut_down_from_inside(&mut watched);
        wait_until(|| {
            handle.stats().workers[..workers - 1].iter().all(|worker| worker.state == WorkerState::Absent)
        });
        gate.count_down();
        wait_until_all_are_gone(&handle);
    }
}

/// Counts down when it is dropped.
struct OnDrop(Countdown);

impl Drop for OnDrop {
    fn drop(&mut self) {
        self.0.count_down();
    }
}

/// Each worker has tasks in every place where it can have some, and comes back when the pool is
/// over.
#[test]
fn a_report_counts_every_task_that_was_discarded() {
    for workers in WORKERS {
        for _ in 0..5 {
            let mut watched = Watched::new(workers);
            let handle = watched.handle();
            let (fates, ready, over) = (Fates::default(), Countdown::new(workers), Countdown::new(1));
            let (tasks, filled, ended) = (fates.clone(), ready.clone(), over.clone());
            on_all_workers(&handle, move |context| {
                fill(context, &tasks);
                filled.count_down();
                ended.wait();
            });
            ready.wait();
            for worker in 0..workers {
                (0..10).for_each(|_| handle.submit(fates.task(), Placement::Worker(worker)).unwrap());
            }
            handle.submit_batch((0..100).map(|_| fates.task()), Placement::Anyone).unwrap();
            let probe = OnDrop(over);
            handle.submit(TaskRef::new(move |_| drop(probe)), Placement::Anyone).unwrap();
            let report = watched.shutdown(Some(SOON));
            check_count(&report, 30 * workers + 100 + 1);
            wait_until_all_are_gone(&handle);
            wait_until(|| fates.unknown() == 0);
            assert_eq!(fates.ran(), 0);
        }
    }
}

/// All discarded tasks have to be in the report. On a busy machine, a worker may not have come back
/// in time: then the worker is reported, and the tasks that it discards later are not.
fn check_count(report: &ShutdownReport, discarded: usize) {
    assert!(!report.drained && report.waited, "{report:?}");
    if report.stuck.is_empty() {
        assert_eq!(report.discarded, discarded, "{report:?}");
    } else {
        assert!(report.discarded <= discarded, "{report:?}");
    }
}

/// Puts 20 tasks where a running task can put some.
fn fill(context: &Context<'_>, fates: &Fates) {
    for _ in 0..10 {
        context.core().push(fates.task());
        context.submit(fates.task());
    }
}

/// Workers that were left behind at the end come back: they run none of their tasks, and tasks that
/// they submit or hand over then are discarded, even if a worker waits for that inside a blocking
/// section.
#[test]
fn a_worker_that_comes_back_after_the_end_begins_nothing() {
    for workers in WORKERS {
        let starts = AtomicUsize::new(0);
        let pool = builder().workers(workers).spawn_with(move |name, body| {
            let is_spare = starts.fetch_add(1, Ordering::Relaxed) >= workers;
            if is_spare { Err(io::ErrorKind::WouldBlock.into()) } else { start_thread(name, body) }
        });
        let mut watched = Watched::with(pool.build().unwrap());
        let handle = watched.handle();
        let (fates, ready, gate) = (Fates::default(), Countdown::new(workers), Countdown::new(1));
        let (tasks, filled, opened) = (fates.clone(), ready.clone(), gate.clone());
        on_all_workers(&handle, move |context| {
            fill(context, &tasks);
            filled.count_down();
            opened.wait();
            fill(context, &tasks);
            context.yield_to_others(tasks.task());
            let (sender, receiver) = mpsc::channel::<()>();
            context.submit(TaskRef::new(move |_| sender.send(()).unwrap()));
            assert_eq!(context.block(|| receiver.recv()), Err(mpsc::RecvError));
        });
        ready.wait();
        let report = watched.shutdown(Some(SOON));
        assert_eq!(report.stuck.len(), workers, "{report:?}");
        gate.count_down();
        wait_until_all_are_gone(&handle);
        wait_until(|| fates.unknown() == 0);
        assert_eq!(fates.ran(), 0);
        let stats = handle.stats();
        assert_eq!((stats.queued, stats.tasks()), (0, workers as u64), "{stats:?}");
        assert!(stats.workers.iter().all(|worker| worker.panics == 0), "{stats:?}");
    }
}

/// The thread that ends the pool takes the tasks out of the deque of the worker, which runs on.
#[test]
fn what_a_stuck_worker_has_made_for_others_is_discarded() {
    let mut watched = Watched::new(1);
    let handle = watched.handle();
    let (fates, ready, gate) = (Fates::default(), Countdown::new(1), Countdown::new(1));
    let (tasks, filled, opened) = (fates.clone(), ready.clone(), gate.clone());
    let hog = TaskRef::new(move |context| {
        (0..10).for_each(|_| context.submit(tasks.task()));
        filled.count_down();
        opened.wait();
    });
    handle.submit(hog, Placement::Worker(0)).unwrap();
    ready.wait();
    let report = watched.shutdown(Some(SOON));
    assert_eq!((report.stuck.len(), report.discarded, fates.discarded()), (1, 10, 10), "{report:?}");
    gate.count_down();
    wait_until_all_are_gone(&handle);
}

/// The workers check the deadline before each task.
#[test]
fn a_deadline_that_is_far_away_lets_all_tasks_run() {
    for workers in WORKERS {
        let mut watched = Watched::new(workers);
        let (handle, gate, fates) = (watched.handle(), Countdown::new(1), Fates::default());
        let opened = gate.clone();
        on_all_workers(&handle, move |_| opened.wait());
        for worker in 0..workers {
            handle.submit(fates.task(), Placement::Anyone).unwrap();
            handle.submit(fates.task(), Placement::Worker(worker)).unwrap();
        }
        let opener = thread::spawn(move || {
            wait_until(|| handle.submit(TaskRef::new(|_| {}), Placement::Anyone).is_err());
            gate.count_down();
        });
        let report = watched.shutdown(Some(Duration::from_secs(3600)));
        opener.join().unwrap();
        assert!(report.drained && report.discarded == 0, "{report:?}");
        assert_eq!((fates.ran(), fates.unknown()), (2 * workers, 0));
    }
}

/// What its tasks hold must stay: the thread does not end, and its stop hook is not called.
#[test]
fn a_worker_with_begun_tasks_does_not_end() {
    let stopped: Arc<Mutex<Vec<_>>> = Arc::default();
    let copy = stopped.clone();
    let pool = builder()
        .workers(3)
        .on_stop(move |context| copy.lock().unwrap().push(context.worker()))
        .build()
        .unwrap();
    let mut watched = Watched::with(pool);
    let handle = watched.handle();
    handle.submit(TaskRef::new(|context| context.core().own()), Placement::Worker(1)).unwrap();
    wait_until(|| handle.stats().workers[1].owned == 1);
    wait_until_all_sleep(&handle);
    let report = watched.shutdown(Some(SOON));
    assert_eq!(report.stuck.iter().map(|stuck| stuck.worker).collect::<Vec<_>>(), [1]);
    let mut stopped = stopped.lock().unwrap().clone();
    stopped.sort_unstable();
    assert_eq!(stopped, [Some(0), Some(2)]);
}

/// However the pool ends, and wherever the hook puts its tasks.
#[test]
fn what_stop_hooks_submit_is_discarded_and_reported() {
    for workers in WORKERS {
        for leave in [stay, wander, spawn] {
            for at_most in [None, Some(Duration::ZERO)] {
                let fates = Fates::default();
                let tasks = fates.clone();
                let pool = builder()
                    .workers(workers)
                    .on_stop(move |context| (0..10).for_each(|_| leave(context, tasks.task())));
                let mut watched = Watched::with(pool.build().unwrap());
                let handle = watched.handle();
                wait_until_all_sleep(&handle);
                let report = watched.shutdown(at_most);
                check_count(&report, 10 * workers);
                wait_until_all_are_gone(&handle);
                wait_until(|| fates.unknown() == 0);
                assert_eq!((fates.ran(), fates.discarded()), (0, 10 * workers));
            }
        }
    }
}

/// The deadline passes while tasks begin and end.
#[test]
fn nothing_begins_when_a_shutdown_has_returned() {
    for workers in WORKERS {
        for _ in 0..5 {
            let mut watched = Watched::new(workers);
            let handle = watched.handle();
            let is_over = Arc::new(AtomicBool::new(false));
            let late = Arc::new(AtomicUsize::new(0));
            (0..2 * workers).for_each(|_| {
                handle.submit(note_late(&is_over, &late), Placement::Anyone).unwrap();
            });
            let report = watched.shutdown(Some(Duration::from_micros(500)));
            is_over.store(true, Ordering::SeqCst);
            check_count(&report, 2 * workers);
            wait_until_all_are_gone(&handle);
            // Each task has a copy.
            wait_until(|| Arc::strong_count(&late) == 1);
            // A worker that was left behind may have been about to begin one.
            assert!(late.load(Ordering::SeqCst) <= report.stuck.len(), "{late:?}: {report:?}");
        }
    }
}

/// Returns a task that runs again and again, and counts the runs after the pool is over.
fn note_late(is_over: &Arc<AtomicBool>, late: &Arc<AtomicUsize>) -> TaskRef {
    let (is_over, late) = (is_over.clone(), late.clone());
    TaskRef::new(move |context| {
        late.fetch_add(is_over.load(Ordering::SeqCst).into(), Ordering::SeqCst);
        context.yield_to_others(note_late(&is_over, &late));
    })
}

#[test]
fn a_stop_hook_that_never_returns_does_not_hold_a_deadline_up() {
    let stop = Arc::new(AtomicBool::new(false));
    let copy = stop.clone();
    let builder = builder().workers(2).on_stop(move |_| {
        while !copy.load(Ordering::Relaxed) {
            thread::yield_now();
        }
    });
    let report = builder.build().unwrap().shutdown(Some(Duration::from_secs(3600)));
    assert!(!report.drained && report.waited, "{report:?}");
    assert_eq!(report.stuck.len(), 2, "{report:?}");
    stop.store(true, Ordering::Relaxed);
}

#[test]
fn a_hook_before_sleep_that_never_returns_does_not_hold_a_deadline_up() {
    let (stop, begun) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let (copy, at_it) = (stop.clone(), begun.clone());
    let builder = builder().workers(2).before_sleep(move |_| {
        at_it.fetch_add(1, Ordering::Relaxed);
        while !copy.load(Ordering::Relaxed) {
            thread::yield_now();
        }
    });
    let mut watched = Watched::with(builder.build().unwrap());
    wait_until(|| begun.load(Ordering::Relaxed) == 2);
    let report = watched.shutdown(Some(SOON));
    assert!(!report.drained && report.waited, "{report:?}");
    assert_eq!(report.stuck.len(), 2, "{report:?}");
    stop.store(true, Ordering::Relaxed);
}

/// A worker that was left behind blocks after the end: no spare worker stands in for it.
#[test]
fn no_spare_worker_starts_after_the_end() {
    let starts = Arc::new(AtomicUsize::new(0));
    let copy = starts.clone();
    let spawn = move |name, body| {
        copy.fetch_add(1, Ordering::SeqCst);
        start_thread(name, body)
    };
    let mut watched = Watched::with(builder().workers(1).spawn_with(spawn).build().unwrap());
    let handle = watched.handle();
    let (begun, gate) = (Countdown::new(1), Countdown::new(1));
    let (flag, opened) = (begun.clone(), gate.clone());
    let hog = TaskRef::new(move |context| {
        flag.count_down();
        opened.wait();
        context.block(|| {});
    });
    handle.submit(hog, Placement::Anyone).unwrap();
    begun.wait();
    assert_eq!(watched.shutdown(Some(SOON)).stuck.len(), 1);
    gate.count_down();
    wait_until_all_are_gone(&handle);
    assert_eq!(starts.load(Ordering::SeqCst), 1);
}
