//! Deferred tasks.

use super::support::{
    Countdown, Fates, WORKERS, Watched, on_all_workers, wait_until, wait_until_all_are_gone,
    wait_until_all_sleep,
};
use sinew_sched::{Handle, Placement, TaskRef};
use std::time::Duration;

/// Makes a worker defer this number of tasks.
fn defer(handle: &Handle, fates: &Fates, count: usize) {
    let (done, fates) = (Countdown::new(1), fates.clone());
    let copy = done.clone();
    let task = TaskRef::new(move |context| {
        (0..count).for_each(|_| context.defer(fates.task()));
        assert!(context.deferred() >= count);
        copy.count_down();
    });
    handle.submit(task, Placement::Anyone).unwrap();
    done.wait();
}

#[test]
fn they_do_not_run_before_they_are_taken_back_and_a_drain_waits_for_that() {
    for workers in WORKERS {
        let mut watched = Watched::new(workers);
        let (handle, fates) = (watched.handle(), Fates::default());
        defer(&handle, &fates, 100);
        wait_until_all_sleep(&handle);
        assert_eq!((fates.ran(), fates.unknown()), (0, 100));
        let sleeps = || handle.stats().workers.iter().map(|worker| worker.sleeps).collect::<Vec<_>>();
        let before = sleeps();
        let pool = watched.pool.take().unwrap();
        let drain = std::thread::spawn(move || pool.shutdown(None));
        // Each worker has seen the drain and gone back to sleep: only the deferred tasks keep the
        // pool from its end.
        let all_slept = || sleeps().iter().zip(&before).all(|(now, before)| now > before);
        wait_until(|| all_slept() || fates.discarded() != 0);
        assert_eq!((fates.ran(), fates.unknown()), (0, 100));
        let back = TaskRef::new(|context| {
            for _ in 0..150 {
                assert_eq!(context.attempt_deferred(Err), Some(false));
            }
            assert_eq!(context.deferred(), 100);
            let run = |task| {
                context.submit(task);
                Ok(())
            };
            while let Some(has_run) = context.attempt_deferred(run) {
                assert!(has_run);
            }
            assert_eq!(context.deferred(), 0);
        });
        handle.reschedule(back, Placement::Worker(workers - 1));
        let report = drain.join().unwrap();
        assert!(report.drained && report.discarded == 0, "{report:?}");
        assert_eq!((fates.ran(), fates.discarded()), (100, 0));
    }
}

#[test]
fn they_are_discarded_when_the_time_is_over() {
    for workers in WORKERS {
        let mut watched = Watched::new(workers);
        let (handle, fates) = (watched.handle(), Fates::default());
        defer(&handle, &fates, 7);
        let report = watched.shutdown(Some(Duration::from_millis(10)));
        assert!(!report.drained && report.discarded == 7 && report.stuck.is_empty(), "{report:?}");
        assert_eq!((fates.ran(), fates.discarded()), (0, 7));
    }
}

#[test]
fn those_deferred_at_the_very_end_are_discarded() {
    for workers in WORKERS {
        let mut watched = Watched::new(workers);
        let (handle, fates) = (watched.handle(), Fates::default());
        let copy = fates.clone();
        on_all_workers(&handle, move |context| {
            // Before, during and after the end.
            for _ in 0..500 {
                context.defer(copy.task());
            }
        });
        drop(watched.shutdown(Some(Duration::ZERO)));
        wait_until_all_are_gone(&handle);
        assert_eq!((fates.ran(), fates.unknown()), (0, 0));
    }
}

#[test]
fn the_first_one_has_every_worker_look_round() {
    for workers in [2, 8] {
        let watched = Watched::new(workers);
        let handle = watched.handle();
        wait_until_all_sleep(&handle);
        let sleeps = || handle.stats().workers.iter().map(|worker| worker.sleeps).collect::<Vec<_>>();
        let before = sleeps();
        let fates = Fates::default();
        defer(&handle, &fates, 1);
        wait_until(|| sleeps().iter().zip(&before).all(|(now, before)| now > before));
        let task = TaskRef::new(|context| {
            let mut meanwhile = 0;
            let tried = context.attempt_deferred(|task| {
                // A task that is being tried still counts.
                meanwhile = context.deferred();
                context.submit(task);
                Ok(())
            });
            assert_eq!((tried, meanwhile), (Some(true), 1));
        });
        handle.submit(task, Placement::Anyone).unwrap();
        wait_until(|| fates.ran() == 1);
        watched.finish();
    }
}
