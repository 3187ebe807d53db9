//! Pools that cannot be built, or only in part; and that nothing is left of a pool that is over.

use super::mute::mute;
use super::support::{
    Countdown, Fates, WORKERS, Watched, block_once, builder, quiet_panic, start_thread, wait_until,
};
use sinew_sched::{BuildError, Builder, Driver, FutexDriver, Placement, TaskRef};
use std::error::Error;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

/// A driver that holds a token.
struct Holder {
    _token: Arc<()>,
    futex: FutexDriver,
}

impl Driver for Holder {
    fn look(&self) -> io::Result<usize> {
        self.futex.look()
    }

    fn sleep(&self, at_most: Option<Duration>) -> io::Result<()> {
        self.futex.sleep(at_most)
    }

    fn unpark(&self) {
        self.futex.unpark();
    }

    fn is_watching(&self) -> bool {
        self.futex.is_watching()
    }
}

/// Returns settings of a pool whose hooks and drivers hold the token.
fn holding(token: &Arc<()>) -> Builder {
    let hook = || {
        let token = token.clone();
        move |_: &sinew_sched::Context<'_>| assert!(Arc::strong_count(&token) > 1)
    };
    let (copy, starts) = (token.clone(), hook());
    let builder = builder().on_start(move |context| {
        starts(context);
        Ok(())
    });
    builder.before_sleep(hook()).on_stop(hook()).driver(move |_| {
        let (_token, futex) = (copy.clone(), FutexDriver::default());
        Ok(Box::new(Holder { _token, futex }))
    })
}

/// Returns whether an error says that the user's code panicked, in its message and in its source's.
fn says_that_it_panicked(error: &BuildError) -> bool {
    error.to_string().contains("panicked") && error.source().unwrap().to_string().contains("panicked")
}

#[test]
fn a_starter_of_threads_that_panics_is_an_error() {
    for failing in [0, 1, 7] {
        let (token, started) = (Arc::new(()), AtomicUsize::new(0));
        let builder = holding(&token).workers(8).spawn_with(move |name, body| {
            assert!(started.fetch_add(1, Ordering::Relaxed) < failing, "on purpose");
            start_thread(name, body)
        });
        let error = builder.build().unwrap_err();
        assert!(matches!(error, BuildError::Thread(worker, _) if worker == failing), "{error}");
        assert!(says_that_it_panicked(&error), "{error}");
        assert_eq!(Arc::strong_count(&token), 1, "nothing is left behind");
    }
}

#[test]
fn a_maker_of_drivers_that_panics_is_an_error() {
    for failing in [0, 1, 7] {
        let token = Arc::new(());
        let copy = token.clone();
        let builder = builder().workers(8).driver(move |worker| {
            assert!(worker < failing, "on purpose");
            let (_token, futex) = (copy.clone(), FutexDriver::default());
            Ok(Box::new(Holder { _token, futex }))
        });
        let error = builder.build().unwrap_err();
        assert!(matches!(error, BuildError::Driver(worker, _) if worker == failing), "{error}");
        assert!(says_that_it_panicked(&error), "{error}");
        assert_eq!(Arc::strong_count(&token), 1, "nothing is left behind");
    }
}

/// A worker whose start hook fails would run tasks without what they need.
#[test]
fn a_start_hook_that_fails_or_panics_is_an_error() {
    for (failing, panics) in [0, 1, 7].into_iter().flat_map(|worker| [(worker, false), (worker, true)]) {
        let token = Arc::new(());
        let builder = holding(&token).workers(8).on_start(move |context| match context.worker() {
            Some(worker) if worker == failing && panics => quiet_panic("on purpose"),
            Some(worker) if worker == failing => Err(io::ErrorKind::PermissionDenied.into()),
            _ => Ok(()),
        });
        let error = builder.build().unwrap_err();
        assert!(matches!(error, BuildError::Start(worker, _) if worker == failing), "{error}");
        assert!(error.to_string().contains("the start hook must succeed"), "{error}");
        assert_eq!(says_that_it_panicked(&error), panics, "{error}");
        if !panics {
            assert_eq!(io::Error::from(error).kind(), io::ErrorKind::PermissionDenied);
        }
        assert_eq!(Arc::strong_count(&token), 1, "nothing is left behind");
    }
}

/// All hooks have been called when a pool is built.
#[test]
fn a_pool_is_built_when_all_workers_have_begun() {
    for workers in WORKERS {
        let begun = Arc::new(AtomicUsize::new(0));
        let count = begun.clone();
        let builder = builder().workers(workers).on_start(move |_| {
            thread::yield_now();
            count.fetch_add(1, Ordering::Relaxed);
            Ok(())
        });
        let watched = Watched::with(builder.build().unwrap());
        assert_eq!(begun.load(Ordering::Relaxed), workers);
        watched.finish();
    }
}

/// The spare worker ends, and the worker that blocks is back before its tasks are run.
#[test]
fn a_spare_worker_whose_start_hook_fails_runs_nothing() {
    for workers in WORKERS {
        let builder = builder().workers(workers).on_start(move |context| match context.worker() {
            Some(worker) if worker >= workers => Err(io::ErrorKind::PermissionDenied.into()),
            _ => Ok(()),
        });
        let watched = Watched::with(builder.build().unwrap());
        let (handle, (sender, receiver)) = (watched.handle(), mpsc::channel());
        let task = TaskRef::new({
            let (handle, sender) = (handle.clone(), sender.clone());
            move |context| {
                let sends = TaskRef::new(move |context| sender.send(context.worker()).unwrap());
                context.submit(sends);
                context.block(|| wait_until(|| handle.stats().spares_failed == 1));
            }
        });
        drop(sender);
        handle.submit(task, Placement::Worker(0)).unwrap();
        assert!(receiver.recv().unwrap().is_some_and(|worker| worker < workers));
        watched.finish();
    }
}

#[test]
fn a_spare_worker_whose_start_hook_succeeds_is_no_failure() {
    let watched = Watched::with(builder().workers(1).on_start(|_| Ok(())).build().unwrap());
    block_once(&watched.handle());
    let stats = watched.pool().stats();
    assert_eq!((stats.workers.len(), stats.spares_failed), (2, 0), "{stats:?}");
    watched.finish();
}

#[test]
fn a_builder_tells_its_settings() {
    let builder = builder().groups([2, 3]).nodes([0, 5]).name("weft").queue_capacity(77);
    let text = format!("{builder:?}");
    for setting in ["groups: Some([2, 3])", "nodes: [0, 5]", "name: \"weft\"", "queue: 77"] {
        assert!(text.contains(setting), "{setting} in {text}");
    }
}

#[test]
fn a_name_that_no_thread_can_have_is_an_error() {
    let started = Arc::new(AtomicUsize::new(0));
    let count = started.clone();
    let builder = builder().name("we\0ft").spawn_with(move |name, body| {
        count.fetch_add(1, Ordering::Relaxed);
        start_thread(name, body)
    });
    let error = builder.build().unwrap_err();
    assert!(matches!(&error, BuildError::Name(name) if name == "we\0ft"), "{error}");
    assert_eq!(io::Error::from(error).kind(), io::ErrorKind::InvalidInput);
    assert_eq!(started.load(Ordering::Relaxed), 0);
}

/// A worker needs a thread of its own.
#[test]
fn a_worker_inside_another_pools_task_is_an_error() {
    let _muted = mute("this one is a worker already");
    for workers in WORKERS {
        let watched = Watched::new(2);
        let (handle, token, (sender, receiver)) = (watched.handle(), Arc::new(()), mpsc::channel());
        let builder = holding(&token).workers(workers).spawn_with(|_, body| {
            body();
            Ok(())
        });
        let copy = handle.clone();
        let task = TaskRef::new(move |context| {
            let error = builder.build().unwrap_err();
            let is_as_before = copy.is_current() && context.worker() == Some(1);
            sender.send((error, is_as_before)).unwrap();
        });
        handle.submit(task, Placement::Worker(1)).unwrap();
        let (error, is_as_before) = receiver.recv().unwrap();
        assert!(matches!(error, BuildError::Thread(0, _)), "{error}");
        assert!(says_that_it_panicked(&error), "{error}");
        assert!(is_as_before, "the task's own worker is what it was");
        assert_eq!(Arc::strong_count(&token), 1, "nothing is left behind");
        block_once(&handle);
        watched.finish();
    }
}

#[test]
fn what_is_submitted_to_threads_that_never_come_is_discarded_and_reported() {
    for workers in WORKERS {
        let pool = builder().workers(workers).spawn_with(|_, body| {
            drop(body);
            Ok(())
        });
        let mut watched = Watched::with(pool.build().unwrap());
        let fates = Fates::default();
        for worker in 0..workers {
            watched.handle().submit(fates.task(), Placement::Anyone).unwrap();
            watched.handle().submit(fates.task(), Placement::Worker(worker)).unwrap();
        }
        let report = watched.shutdown(None);
        assert!(!report.drained && report.waited && report.stuck.is_empty(), "{report:?}");
        assert_eq!(report.discarded, 2 * workers);
        assert_eq!((fates.ran(), fates.discarded()), (0, 2 * workers));
    }
}

/// Any worker runs the tasks for a worker whose thread did not start.
#[test]
fn one_thread_that_comes_does_the_work_of_all() {
    for workers in WORKERS {
        let pool = builder()
            .workers(workers)
            .spawn_with(move |name, body| if name == "sinew-0" { start_thread(name, body) } else { Ok(()) });
        let watched = Watched::with(pool.build().unwrap());
        let done = Countdown::new(2 * workers);
        for worker in 0..workers {
            watched.handle().submit(done.task(), Placement::Anyone).unwrap();
            watched.handle().submit(done.task(), Placement::Worker(worker)).unwrap();
        }
        done.wait();
        watched.finish();
    }
}

/// What a thread runs.
type Body = Box<dyn FnOnce() + Send>;

/// The user's function drops the threads' bodies only when the pool waits for them.
#[test]
fn threads_that_are_given_up_during_a_drain_end_it() {
    for workers in WORKERS {
        let bodies: Arc<Mutex<Vec<Body>>> = Arc::default();
        let copy = bodies.clone();
        let pool = builder().workers(workers).spawn_with(move |_, body| {
            copy.lock().unwrap().push(body);
            Ok(())
        });
        let mut watched = Watched::with(pool.build().unwrap());
        let (handle, fates) = (watched.handle(), Fates::default());
        for worker in 0..workers {
            handle.submit(fates.task(), Placement::Anyone).unwrap();
            handle.submit(fates.task(), Placement::Worker(worker)).unwrap();
        }
        let giver = thread::spawn(move || {
            wait_until(|| handle.submit(TaskRef::new(|_| {}), Placement::Anyone).is_err());
            bodies.lock().unwrap().clear();
        });
        let report = watched.shutdown(None);
        giver.join().unwrap();
        assert!(!report.drained && report.stuck.is_empty(), "{report:?}");
        assert_eq!(fates.discarded(), 2 * workers);
    }
}

/// When a shutdown has returned, no thread holds anything of the pool.
#[test]
fn nothing_of_a_pool_outlives_its_last_handle() {
    for workers in WORKERS {
        let token = Arc::new(());
        let watched = Watched::with(holding(&token).workers(workers).build().unwrap());
        let (handle, done) = (watched.handle(), Countdown::new(100));
        handle.submit_batch((0..100).map(|_| done.task()), Placement::Anyone).unwrap();
        // Also a spare worker: it stays for a moment, in case a worker blocks again.
        block_once(&handle);
        watched.finish();
        assert_eq!(done.left(), 0);
        assert_ne!(Arc::strong_count(&token), 1, "there is a handle");
        drop(handle);
        assert_eq!(Arc::strong_count(&token), 1);
    }
}
