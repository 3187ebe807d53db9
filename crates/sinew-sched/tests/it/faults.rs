//! Bad input, and calls that fail: an error that says what to do, or a defined outcome.

use super::support::{Countdown, Nasty, WORKERS, Watched, quiet_panic};
use sinew_sched::{BuildError, Placement, Pool, Refusal, TaskRef, WorkerState};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

#[test]
fn a_pool_has_1_to_64_workers() {
    for count in [0, 65, usize::MAX] {
        let error = Pool::builder().workers(count).build().unwrap_err();
        assert!(matches!(error, BuildError::Workers(given) if given == count));
        assert!(error.to_string().contains("1 to 64"), "{error}");
        assert_eq!(io::Error::from(error).kind(), io::ErrorKind::InvalidInput);
    }
}

#[test]
fn a_queue_has_a_capacity_that_can_be() {
    for capacity in [0, usize::MAX] {
        let error = Pool::builder().queue_capacity(capacity).build().unwrap_err();
        assert!(matches!(error, BuildError::QueueCapacity(given) if given == capacity));
    }
}

#[test]
fn threads_that_fail_half_way_leave_none_behind() {
    for failing in [0, 1, 5] {
        let (started, ended) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (count, copy) = (started.clone(), ended.clone());
        let error = Pool::builder()
            .workers(8)
            .spawn_with(move |name, body| {
                if count.load(Ordering::Relaxed) == failing {
                    return Err(io::ErrorKind::WouldBlock.into());
                }
                count.fetch_add(1, Ordering::Relaxed);
                let ended = copy.clone();
                thread::Builder::new().name(name).spawn(move || {
                    body();
                    ended.fetch_add(1, Ordering::Relaxed);
                })?;
                Ok(())
            })
            .build()
            .unwrap_err();
        assert!(matches!(error, BuildError::Thread(worker, _) if worker == failing), "{error}");
        // The pool is done with them; the rest of their end is the spawner's.
        while ended.load(Ordering::Relaxed) < failing {
            thread::yield_now();
        }
    }
}

#[test]
fn a_driver_that_is_not_to_be_had_is_an_error() {
    let error = Pool::builder()
        .workers(4)
        .driver(|worker| match worker {
            2 => Err(io::Error::from_raw_os_error(24)),
            _ => Ok(Box::new(sinew_sched::FutexDriver::default())),
        })
        .build()
        .unwrap_err();
    assert!(matches!(error, BuildError::Driver(2, _)), "{error}");
}

#[test]
fn a_worker_that_there_is_not_is_an_error() {
    let watched = Watched::new(2);
    let error = watched.handle().submit(TaskRef::new(|_| {}), Placement::Worker(2)).unwrap_err();
    assert_eq!(error.refusal, Refusal::NoSuchWorker(2));
    assert!(error.to_string().contains("no worker 2"), "{error}");
    watched.finish();
}

#[test]
fn a_task_that_panics_is_counted_and_harms_no_other() {
    for workers in WORKERS {
        let watched = Watched::new(workers);
        let done = Countdown::new(20);
        for number in 0..40 {
            let done = done.clone();
            let task = TaskRef::new(move |_| match number % 4 {
                0 => quiet_panic("on purpose"),
                1 => quiet_panic(Nasty),
                _ => done.count_down(),
            });
            watched.handle().submit(task, Placement::Anyone).unwrap();
        }
        done.wait();
        let handle = watched.handle();
        watched.finish();
        let panics: u64 = handle.stats().workers.iter().map(|worker| worker.panics).sum();
        assert_eq!(panics, 20);
    }
}

#[test]
fn a_task_that_panics_when_it_is_discarded_harms_no_other() {
    let pool = Pool::builder().workers(1).build().unwrap();
    let handle = pool.handle();
    pool.shutdown(None);
    for to in [Placement::Anyone, Placement::Worker(0)] {
        let nasty = Nasty;
        handle.reschedule(TaskRef::new(move |_| drop(nasty)), to);
    }
}

#[test]
fn hooks_that_panic_are_counted_and_stop_no_worker() {
    let pool = Pool::builder()
        .workers(2)
        .before_sleep(|_| quiet_panic("on purpose"))
        .on_stop(|_| quiet_panic("on purpose"))
        .build()
        .unwrap();
    let watched = Watched::with(pool);
    let done = Countdown::new(10);
    for _ in 0..10 {
        watched.handle().submit(done.task(), Placement::Anyone).unwrap();
    }
    done.wait();
    let handle = watched.handle();
    watched.finish();
    assert!(handle.stats().workers.iter().all(|worker| worker.panics >= 1));
}

#[test]
fn a_worker_blocked_for_ever_leaves_the_others_at_work() {
    let pool = Pool::builder().workers(2).build().unwrap();
    let watched = Watched::with(pool);
    let handle = watched.handle();
    handle
        .submit(TaskRef::new(|_| thread::park_timeout(std::time::Duration::MAX)), Placement::Worker(0))
        .unwrap();
    while handle.stats().workers[0].state != WorkerState::Running {
        thread::yield_now();
    }
    let done = Countdown::new(1_000);
    for _ in 0..1_000 {
        handle.submit(done.task(), Placement::Anyone).unwrap();
    }
    done.wait();
    let mut watched = watched;
    let report = watched.pool.take().unwrap().shutdown(Some(std::time::Duration::from_millis(1)));
    assert_eq!(report.stuck.iter().map(|stuck| stuck.worker).collect::<Vec<_>>(), [0]);
}

/// A value that is counted, and whose destructor panics.
struct Bomb(Arc<AtomicUsize>);

impl Bomb {
    fn new(alive: &Arc<AtomicUsize>) -> Self {
        alive.fetch_add(1, Ordering::Relaxed);
        Self(alive.clone())
    }
}

impl Drop for Bomb {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
        quiet_panic("on purpose");
    }
}

/// All functions that a pool is given, with destructors that panic, whether the pool is started or
/// not.
#[test]
fn functions_whose_destructors_panic_are_all_dropped() {
    for is_started in [false, true] {
        let alive = Arc::new(AtomicUsize::new(0));
        let bombs = [(); 7].map(|()| Bomb::new(&alive));
        let [start, stop, stay, sleep, busy, driver, spawner] = bombs;
        let builder = Pool::builder()
            .workers(2)
            .on_start(move |_| {
                let _ = &start;
                Ok(())
            })
            .on_stop(move |_| _ = &stop)
            .on_stay(move |_| _ = &stay)
            .before_sleep(move |_| _ = &sleep)
            .on_work(move || _ = &busy)
            .driver(move |_| {
                let _ = &driver;
                Ok(Box::<sinew_sched::FutexDriver>::default())
            })
            .spawn_with(move |name, body| {
                let _ = &spawner;
                thread::Builder::new().name(name).spawn(body).map(drop)
            });
        assert_eq!(alive.load(Ordering::Relaxed), 7);
        match is_started {
            false => drop(builder),
            true => Watched::with(builder.build().unwrap()).finish(),
        }
        // The last thread that has them may be the one that reports a test that hangs.
        super::support::wait_until(|| alive.load(Ordering::Relaxed) == 0);
    }
}
