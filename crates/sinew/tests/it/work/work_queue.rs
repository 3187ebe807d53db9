//! Queues of functions.

use super::super::crowd::in_crowds;
use super::super::support::{everywhere, message, mute, pinned, quiet_panic, refused, watch_test};
use super::end_while_busy;
use sinew::context::{Context, Key};
use sinew::sync::{Baton, Mutex, mpsc};
use sinew::work::{Builder, JoinError, WorkQueue};
use sinew::{Runtime, fiber};
use std::panic::{RefUnwindSafe, UnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

#[test]
fn jobs_are_done_in_order_and_one_at_a_time() {
    in_crowds(|crowd| {
        let (queue, done) = (Arc::new(WorkQueue::new()), Arc::new(Mutex::new(Vec::new())));
        let (copy, list) = (queue.clone(), done.clone());
        let is_busy = Arc::new(AtomicBool::new(false));
        crowd.all(4, move |number| {
            for round in 0..50 {
                let (list, is_busy) = (list.clone(), is_busy.clone());
                let job = move || {
                    assert!(!is_busy.swap(true, Ordering::Relaxed));
                    if round % 8 == 0 {
                        fiber::yield_now();
                    }
                    list.lock().unwrap().push((number, round));
                    is_busy.store(false, Ordering::Relaxed);
                };
                copy.push(job).unwrap();
                if round % 16 == 0 {
                    fiber::yield_now();
                }
            }
        });
        queue.stop();
        assert_eq!(queue.join(), Ok(()));
        let done = done.lock().unwrap();
        assert_eq!(done.len(), 200);
        for number in 0..4 {
            assert!(done.iter().filter(|(from, _)| *from == number).map(|(_, round)| *round).eq(0..50));
        }
    });
}

#[test]
fn what_comes_after_the_end_comes_back() {
    in_crowds(|crowd| {
        for round in 0..20 {
            let (queue, done) = (Arc::new(WorkQueue::new()), Arc::new(AtomicUsize::new(0)));
            let (copy, counts) = (queue.clone(), done.clone());
            let accepted: usize = crowd
                .all(4, move |number| {
                    if number == 0 {
                        (0..round % 3).for_each(|_| fiber::yield_now());
                        copy.stop();
                        return 0;
                    }
                    let push = || {
                        let counts = counts.clone();
                        copy.push(move || _ = counts.fetch_add(1, Ordering::Relaxed))
                    };
                    let (accepted, refused): (Vec<_>, Vec<_>) =
                        (0..10).map(|_| push()).partition(Result::is_ok);
                    // What comes back is as it was.
                    refused.into_iter().for_each(|refused| (refused.unwrap_err().0)());
                    accepted.len()
                })
                .into_iter()
                .sum();
            queue.join().unwrap();
            assert!(queue.is_stopped() && accepted <= 30);
            assert_eq!(done.load(Ordering::Relaxed), 30);
        }
    });
}

#[test]
fn a_job_that_panics_does_not_stop_those_after_it() {
    everywhere(|| {
        let (queue, done) = (WorkQueue::new(), Arc::new(AtomicUsize::new(0)));
        for number in 0..20 {
            let done = done.clone();
            let job = move || {
                if number % 5 == 3 {
                    quiet_panic(format!("number {number}"));
                }
                done.fetch_add(1, Ordering::Relaxed);
            };
            queue.push(job).unwrap();
        }
        queue.stop();
        let error = queue.join().unwrap_err();
        assert_eq!((error.panics(), error.message(), error.lost()), (4, Some("number 3"), 0));
        assert_eq!((done.load(Ordering::Relaxed), queue.join()), (16, Err(error)));
    });
}

#[test]
fn a_drop_stops_it_and_waits_for_nothing() {
    everywhere(|| {
        let (go_on, done) = (Arc::new(Baton::new()), Arc::new(Baton::new()));
        let queue = WorkQueue::new();
        let (waits, tells) = (go_on.clone(), done.clone());
        queue.push(move || waits.wait()).unwrap();
        queue.push(move || tells.post()).unwrap();
        fiber::no_suspend(|| drop(queue));
        assert!(!done.is_ready());
        go_on.post();
        done.wait();
    });
}

#[test]
fn whoever_joins_waits_for_the_end() {
    in_crowds(|crowd| {
        let (queue, go_on) = (Arc::new(WorkQueue::new()), Arc::new(Baton::new()));
        let waits = go_on.clone();
        queue.push(move || waits.wait()).unwrap();
        assert_eq!(queue.join_timeout(Duration::from_micros(200)), None);
        queue.stop();
        assert_eq!(queue.join_timeout(Duration::ZERO), None);
        let joiners: Vec<_> = (0..6)
            .map(|number| {
                let queue = queue.clone();
                crowd.spawn(number, move || queue.join())
            })
            .collect();
        go_on.post();
        joiners.into_iter().for_each(|joiner| assert_eq!(joiner.join(), Ok(())));
        assert_eq!(queue.join_timeout(Duration::MAX), Some(Ok(())));
        queue.join_cancellable().unwrap().unwrap();
    });
}

#[test]
fn a_join_may_be_cancelled() {
    everywhere(|| {
        let queue = Arc::new(WorkQueue::new());
        let copy = queue.clone();
        let joins = fiber::spawn(move || copy.join_cancellable());
        fiber::yield_now();
        joins.cancel();
        assert!(joins.join().unwrap().unwrap_err().is_cancelled());
        queue.stop();
        queue.join().unwrap();
    });
}

#[test]
fn a_job_that_joins_its_own_queue_panics() {
    let _muted = mute("a queue's own work cannot join it");
    let runtime = pinned(1);
    runtime.run(|| {
        let queue = Arc::new(WorkQueue::new());
        let copy = queue.clone();
        queue.push(move || drop(copy.join())).unwrap();
        queue.stop();
        assert!(queue.join().unwrap_err().message().unwrap().contains("own work"));
        let open = WorkQueue::new();
        refused(|| open.join());
    });
}

/// A job pushes to its own queue, and stops it.
#[test]
fn a_job_may_use_its_own_queue() {
    everywhere(|| {
        let (queue, done) = (Arc::new(WorkQueue::new()), Arc::new(AtomicUsize::new(0)));
        let (copy, count) = (queue.clone(), done.clone());
        let job = move || {
            let inner = count.clone();
            copy.push(move || _ = inner.fetch_add(1, Ordering::Relaxed)).unwrap();
            assert_eq!(count.load(Ordering::Relaxed), 0);
            copy.stop();
            assert!(copy.push(|| ()).is_err());
        };
        queue.push(job).unwrap();
        queue.join().unwrap();
        assert_eq!(done.load(Ordering::Relaxed), 1);
    });
}

#[test]
fn jobs_have_the_context_of_who_made_the_queue() {
    static KEY: Key<u32> = Key::new();
    everywhere(|| {
        let (sender, receiver) = mpsc::channel();
        let queue = Context::current().with(&KEY, 1).run(WorkQueue::new);
        Context::current().with(&KEY, 2).run(|| {
            let sender = sender.clone();
            queue.push(move || sender.send(KEY.get().map(|value| *value)).unwrap()).unwrap();
        });
        assert_eq!(receiver.recv(), Ok(Some(1)));
        drop(queue);
    });
}

#[test]
fn its_fibers_are_as_was_said() {
    let _watch = watch_test();
    let runtime = Runtime::builder().workers(1).max_fibers(1).start().unwrap();
    let (sender, receiver) = mpsc::channel();
    let queue = runtime.run(move || {
        let queue = Builder::new().name("worker".into()).stack_size(1 << 20).work_queue();
        // As many as may be are there.
        assert!(fiber::try_spawn(|| ()).is_err());
        queue.push(move || sender.send(fiber::current().name().map(String::from)).unwrap()).unwrap();
        assert_eq!(receiver.recv().unwrap().as_deref(), Some("worker"));
        queue
    });
    // From a plain thread, into its own runtime.
    let (sender, receiver) = mpsc::channel();
    queue.push(move || sender.send(fiber::available_parallelism().unwrap().get()).unwrap()).unwrap();
    assert_eq!(receiver.recv(), Ok(1));
    let huge = catch_unwind(|| Builder::new().stack_size(usize::MAX)).unwrap_err();
    assert!(message(&*huge).contains("none is that large"));
    queue.stop();
    queue.join().unwrap();
    assert!(runtime.shutdown(None).drained);
}

#[test]
fn after_the_shutdown_of_its_runtime_it_takes_nothing() {
    let _watch = watch_test();
    let runtime = Runtime::builder().workers(1).start().unwrap();
    let (queue, idle) = runtime.run(|| (WorkQueue::new(), WorkQueue::new()));
    runtime.shutdown(None);
    let done = Arc::new(AtomicUsize::new(0));
    let count = done.clone();
    let back = queue.push(move || _ = count.fetch_add(1, Ordering::Relaxed)).unwrap_err();
    assert!(back.to_string().contains("shut down") && queue.is_stopped());
    (back.0)();
    assert_eq!((done.load(Ordering::Relaxed), queue.join()), (1, Ok(())));
    idle.stop();
    assert_eq!(idle.join(), Ok(()));
}

/// The fiber that was to do the jobs has not begun when the runtime ends: another one keeps the
/// only worker until then.
#[test]
fn jobs_that_are_discarded_are_told_of() {
    let _watch = watch_test();
    let runtime = Runtime::builder().workers(1).start().unwrap();
    let queue = Arc::new(runtime.run(WorkQueue::new));
    let value = Arc::new(());
    let (copy, held) = (queue.clone(), value.clone());
    end_while_busy(runtime, move || {
        for _ in 0..3 {
            let held = held.clone();
            copy.push(move || drop(held)).unwrap();
        }
    });
    let error = queue.join().unwrap_err();
    assert_eq!((error.lost(), error.panics()), (3, 0));
    assert!(error.to_string().contains("not done"), "{error}");
    assert_eq!((Arc::strong_count(&value), queue.push(|| ()).is_err()), (1, true));
}

#[test]
fn its_traits_are_as_they_should_be() {
    fn is_free<T: UnwindSafe + RefUnwindSafe + Send + Sync>() {}
    is_free::<WorkQueue>();
    let queue = WorkQueue::default();
    assert_eq!(format!("{queue:?}"), "WorkQueue { is_stopped: false, .. }");
    queue.stop();
    assert_eq!(format!("{:?}", queue.push(|| ()).unwrap_err()), "PushError { .. }");
    fn is_error<T: std::error::Error + Clone>() {}
    is_error::<JoinError>();
}
