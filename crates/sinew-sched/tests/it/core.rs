//! A core without a pool, driven by the test's own loop.

use super::support::{Countdown, Fates, WORKERS, Watched, wait_until_all_are_gone};
use sinew_sched::{Core, CoreHandle, FutexDriver, Placement, Pool, TaskRef};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

#[test]
fn tasks_from_other_threads_run_on_the_cores_thread() {
    let core = Core::new(Box::new(FutexDriver::default()));
    let done = Countdown::new(4_000);
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let (handle, done) = (core.handle(), done.clone());
            thread::spawn(move || {
                (0..1_000).for_each(|_| handle.post(done.task()).expect("the core is there"))
            })
        })
        .collect();
    while done.left() > 0 {
        if core.run_ready(64) == 0 {
            core.sleep(None);
        }
    }
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

#[test]
fn ready_tasks_run_in_order_and_new_ones_after_them() {
    let core = Core::new(Box::new(FutexDriver::default()));
    let (sender, receiver) = mpsc::channel();
    for number in 0..3 {
        let sender = sender.clone();
        core.push(TaskRef::new(move |context| {
            sender.send(number).unwrap();
            let again = sender.clone();
            context.yield_to_others(TaskRef::new(move |_| again.send(number + 10).unwrap()));
            assert_eq!(context.worker(), None);
        }));
    }
    assert_eq!(core.run_ready(100), 6);
    drop(sender);
    assert_eq!(receiver.iter().collect::<Vec<_>>(), [0, 1, 2, 10, 11, 12]);
}

#[test]
fn a_batch_goes_behind_what_is_ready() {
    let core = Core::new(Box::new(FutexDriver::default()));
    let (sender, receiver) = mpsc::channel();
    let task = |number| {
        let sender = sender.clone();
        TaskRef::new(move |_| sender.send(number).unwrap())
    };
    let batch = vec![task(1), task(2), task(3)];
    core.push(TaskRef::new(move |context| context.submit_batch(batch)));
    core.push(task(0));
    assert_eq!(core.run_ready(100), 5);
    drop(sender);
    assert_eq!(receiver.iter().collect::<Vec<_>>(), [0, 1, 2, 3]);
}

#[test]
fn a_sleep_ends_with_its_time() {
    let core = Core::new(Box::new(FutexDriver::default()));
    core.sleep(Some(Duration::from_millis(1)));
    assert_eq!(core.run_ready(1), 0);
}

#[test]
fn a_core_sleeps_only_if_nothing_is_ready() {
    let core = Core::new(Box::new(FutexDriver::default()));
    core.push(TaskRef::new(|_| {}));
    core.sleep(Some(Duration::ZERO));
    assert_eq!(core.stats().sleeps, 0);
    assert_eq!(core.run_ready(1), 1);
    core.sleep(Some(Duration::ZERO));
    assert_eq!(core.stats().sleeps, 1);
}

#[test]
fn the_next_ready_task_can_be_seen() {
    let core = Core::new(Box::new(FutexDriver::default()));
    assert_eq!(core.next_ready(), None);
    core.push(TaskRef::new(|_| {}));
    let first = core.next_ready();
    assert!(first.is_some());
    core.push(TaskRef::new(|_| {}));
    assert_eq!(core.next_ready(), first, "the other one goes behind it");
    assert_eq!(core.run_ready(1), 1);
    assert!(core.next_ready().is_some_and(|second| Some(second) != first));
    assert_eq!(core.run_ready(1), 1);
    assert_eq!(core.next_ready(), None);
}

/// A task sees no worker, group or node, and its core keeps the tasks that it would exchange.
#[test]
fn a_core_without_a_pool_has_no_place_in_one() {
    let core = Core::new(Box::new(FutexDriver::default()));
    core.push(TaskRef::new(|context| {
        assert_eq!((context.worker(), context.group(), context.node()), (None, None, None));
        context.core().push(TaskRef::new(|_| {}));
        assert!(context.take_next().is_none());
        assert!(context.exchange(TaskRef::new(|_| {})).is_none());
        assert_eq!(context.core().ready(), 2);
    }));
    assert_eq!(core.run_ready(100), 3);
    assert_eq!(core.stats().panics, 0);
}

#[test]
fn what_is_left_in_a_core_is_discarded_with_it() {
    let (sender, receiver) = mpsc::channel::<()>();
    let core = Core::new(Box::new(FutexDriver::default()));
    let (first, second) = (sender.clone(), sender);
    core.push(TaskRef::new(move |_| first.send(()).unwrap()));
    core.handle().post(TaskRef::new(move |_| second.send(()).unwrap())).expect("the core is there");
    drop(core);
    assert!(receiver.recv().is_err(), "both senders are gone, and nothing was sent");
}

/// A task that has a handle of the core it is sent to, as a waker does, keeps nothing alive.
fn a_post_is_refused(handle: CoreHandle) {
    let (fates, copy) = (Fates::default(), handle.clone());
    let task = fates.task();
    let task = TaskRef::new(move |_| drop((task, copy)));
    let returned = handle.post(task).expect_err("no owner is left to run it");
    assert_eq!(fates.unknown(), 1, "it is given back");
    drop(returned);
    assert_eq!(fates.discarded(), 1);
}

#[test]
fn a_core_that_is_gone_takes_nothing() {
    let core = Core::new(Box::new(FutexDriver::default()));
    let (handle, fates) = (core.handle(), Fates::default());
    let (task, copy) = (fates.task(), handle.clone());
    handle.post(TaskRef::new(move |_| drop((task, copy)))).expect("the core is there");
    drop(core);
    assert_eq!(fates.discarded(), 1);
    a_post_is_refused(handle);
}

#[test]
fn the_core_of_a_worker_that_has_ended_takes_nothing() {
    for workers in WORKERS {
        let watched = Watched::new(workers);
        let (sender, receiver) = mpsc::channel();
        for worker in 0..workers {
            let sender = sender.clone();
            let task = TaskRef::new(move |context| sender.send(context.core().handle()).unwrap());
            watched.handle().submit(task, Placement::Worker(worker)).unwrap();
        }
        let cores: Vec<_> = receiver.iter().take(workers).collect();
        watched.finish();
        cores.into_iter().for_each(a_post_is_refused);
    }
}

/// The calling thread is one of the pool's workers, and would wait for itself.
#[test]
fn a_shutdown_by_a_core_that_a_worker_drives_does_not_wait() {
    for workers in WORKERS {
        let mut watched = Watched::new(workers);
        let (handle, pool) = (watched.handle(), watched.pool.take().unwrap());
        let (sender, receiver) = mpsc::channel();
        let task = TaskRef::new(move |_| {
            let core = Core::new(Box::new(FutexDriver::default()));
            core.push(TaskRef::new(move |_| {
                let is_current = pool.handle().is_current();
                sender.send((is_current, pool.shutdown(None))).unwrap();
            }));
            core.run_ready(1);
        });
        handle.submit(task, Placement::Anyone).unwrap();
        let (is_current, report) = receiver.recv().unwrap();
        assert!(is_current && !report.waited, "{report:?}");
        wait_until_all_are_gone(&handle);
        assert_eq!(handle.stats().tasks(), 1);
    }
}

#[test]
fn a_core_can_be_driven_by_a_worker_of_a_pool() {
    let pool = Pool::builder().workers(1).build().unwrap();
    let (sender, receiver) = mpsc::channel();
    let handle = pool.handle();
    let task = TaskRef::new(move |outer| {
        let core = Core::new(Box::new(FutexDriver::default()));
        let inner = sender.clone();
        core.push(TaskRef::new(move |context| inner.send(context.worker()).unwrap()));
        core.run_ready(10);
        // The thread's context is the worker's again.
        assert!(handle.is_current());
        sender.send(outer.worker()).unwrap();
    });
    pool.handle().submit(task, Placement::Anyone).unwrap();
    assert_eq!(receiver.iter().collect::<Vec<_>>(), [None, Some(0)]);
    assert!(pool.shutdown(None).drained);
}

#[test]
fn tasks_that_panic_are_over_and_the_next_ones_run() {
    let core = Core::new(Box::new(FutexDriver::default()));
    let done = Countdown::new(2);
    core.push(TaskRef::new(|_| panic!("on purpose")));
    core.push(done.task());
    core.push(TaskRef::new(|_| panic!("on purpose")));
    core.push(done.task());
    assert_eq!(core.run_ready(100), 4);
    assert_eq!(done.left(), 0);
}

#[test]
fn a_task_may_drive_its_own_core_and_then_panic() {
    let core = Core::new(Box::new(FutexDriver::default()));
    let done = Countdown::new(2);
    let inner = done.clone();
    core.push(TaskRef::new(move |context| {
        context.core().push(inner.task());
        context.core().push(TaskRef::new(|_| panic!("on purpose")));
        assert_eq!(context.core().run_ready(100), 2);
        panic!("on purpose");
    }));
    assert_eq!(core.run_ready(100), 1);
    core.push(done.task());
    assert_eq!(core.run_ready(100), 1);
    assert_eq!(done.left(), 0);
}

#[test]
fn a_core_counts_what_it_does() {
    let core = Core::new(Box::new(FutexDriver::default()));
    core.push(TaskRef::new(|context| {
        context.core().push(TaskRef::new(|_| {}));
        assert_eq!(context.core().run_ready(1), 1);
    }));
    core.push(TaskRef::new(|_| panic!("on purpose")));
    // The task that ran inside the first is not counted here.
    assert_eq!(core.run_ready(100), 2);
    let stats = core.stats();
    assert_eq!((stats.tasks, stats.panics), (3, 1));
    core.disown();
    assert_eq!(core.stats().owned, -1);
}

#[test]
fn a_task_too_many_that_ended_holds_no_drain_up() {
    for workers in WORKERS {
        let watched = Watched::new(workers);
        let task = TaskRef::new(|context| context.core().disown());
        watched.handle().submit(task, Placement::Anyone).unwrap();
        watched.finish();
    }
}
