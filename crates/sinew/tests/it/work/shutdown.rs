//! Queues whose runtime is shut down.

use super::super::support::{in_each, pinned, watch_test};
use super::end_while_busy;
use sinew::sync::Mutex;
use sinew::work::{Batch, ExecuteError, ExecutionQueue, WorkQueue};
use sinew::{Runtime, fiber};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

const GROUPS: &[&[usize]] = &[&[1], &[2], &[8]];

/// What a queue's function was called with: how many tasks, and whether it was the last call.
type Calls = Arc<Mutex<Vec<(usize, bool)>>>;

/// A queue in this runtime that notes its calls, and the list of them.
fn noting(runtime: &Runtime) -> (ExecutionQueue<u32>, Calls) {
    let calls = Calls::default();
    let list = calls.clone();
    let work = move |batch: Batch<'_, u32>| {
        let is_last = batch.is_stopped();
        list.lock().unwrap().push((batch.count(), is_last));
    };
    (runtime.run(move || ExecutionQueue::new(work)), calls)
}

/// The queue is idle by then, or still has them.
#[test]
fn a_shutdown_has_the_rest_done_and_the_last_call_made() {
    in_each(GROUPS, |runtime| {
        let _watch = watch_test();
        let (busy, calls) = noting(&runtime);
        let (idle, idle_calls) = noting(&runtime);
        (0..5).for_each(|task| busy.execute(task).unwrap());
        assert!(runtime.shutdown(None).drained);
        assert!(busy.is_stopped() && idle.is_stopped());
        busy.stop();
        assert_eq!((busy.join(), idle.join()), (Ok(()), Ok(())));
        let calls = calls.lock().unwrap();
        assert_eq!(calls.iter().map(|call| call.0).sum::<usize>(), 5);
        assert!(calls.iter().map(|call| call.1).eq((1..=calls.len()).map(|call| call == calls.len())));
        assert_eq!(*idle_calls.lock().unwrap(), [(0, true)]);
    });
}

/// A thread and fibers, of this runtime and of another one, wait for queues that have nothing to
/// do.
#[test]
fn a_shutdown_ends_the_wait_for_an_idle_queue() {
    let other = pinned(2);
    for is_dropped in [false, true] {
        in_each(GROUPS, |runtime| {
            let _watch = watch_test();
            let (queue, calls) = noting(&runtime);
            let queues = Arc::new((queue, runtime.run(WorkQueue::new)));
            let join = || {
                let queues = queues.clone();
                move || [queues.0.join(), queues.1.join(), queues.0.join_timeout(Duration::MAX).unwrap()]
            };
            let waits = thread::spawn(join());
            let fibers = [runtime.spawn(join()), other.spawn(join())];
            if is_dropped {
                drop(runtime);
            } else {
                assert!(runtime.shutdown(None).drained);
            }
            assert_eq!(waits.join().unwrap(), [Ok(()), Ok(()), Ok(())]);
            fibers.into_iter().for_each(|fiber| assert_eq!(fiber.join().unwrap(), [Ok(()), Ok(()), Ok(())]));
            assert!(queues.0.is_stopped() && queues.1.is_stopped());
            assert_eq!(*calls.lock().unwrap(), [(0, true)]);
        });
    }
}

/// Some bring tasks until they are refused. Which ones are still accepted is a matter of luck, but
/// none is forgotten.
#[test]
fn what_is_accepted_until_then_is_done_or_told_of() {
    in_each(GROUPS, |runtime| {
        let _watch = watch_test();
        let (queue, calls) = noting(&runtime);
        let queue = Arc::new(queue);
        let begun = Arc::new(AtomicUsize::new(0));
        let pushers: Vec<_> = (0..3)
            .map(|_| {
                let (queue, begun) = (queue.clone(), begun.clone());
                thread::spawn(move || {
                    begun.fetch_add(1, Ordering::Relaxed);
                    (0..).take_while(|task| queue.execute(*task).is_ok()).count()
                })
            })
            .collect();
        while begun.load(Ordering::Relaxed) < 3 {
            thread::yield_now();
        }
        runtime.shutdown(None);
        let accepted: usize = pushers.into_iter().map(|pusher| pusher.join().unwrap()).sum();
        let (lost, missed_last) =
            queue.join().map_or_else(|error| (error.lost(), error.missed_last_call()), |()| (0, false));
        let calls = calls.lock().unwrap();
        assert_eq!(calls.iter().filter(|call| call.1).count(), usize::from(!missed_last));
        assert_eq!(calls.iter().map(|call| call.0).sum::<usize>() + lost, accepted);
    });
}

/// Made by a fiber that is still there.
#[test]
fn one_that_is_made_too_late_is_stopped() {
    in_each(GROUPS, |runtime| {
        let _watch = watch_test();
        let late = runtime.spawn(|| {
            while fiber::try_spawn(|| ()).is_ok() {
                fiber::yield_now();
            }
            let queue = ExecutionQueue::new(|batch: Batch<'_, u32>| batch.for_each(drop));
            (WorkQueue::new(), queue)
        });
        runtime.shutdown(None);
        let (jobs, queue) = late.join().unwrap();
        assert!(jobs.is_stopped() && queue.is_stopped());
        assert_eq!(jobs.join(), Ok(()));
        assert!(queue.join().unwrap_err().missed_last_call());
    });
}

#[test]
fn after_it_nothing_is_taken_and_the_function_is_gone() {
    let _watch = watch_test();
    let runtime = Runtime::builder().workers(1).start().unwrap();
    let value = Arc::new(());
    let held = value.clone();
    let queue = runtime.run(move || ExecutionQueue::new(move |batch| drop((batch.count(), held.clone()))));
    runtime.shutdown(None);
    assert_eq!(queue.execute(5), Err(ExecuteError(5)));
    assert_eq!(queue.execute_urgent(5), Err(ExecuteError(5)));
    assert_eq!((queue.join_timeout(Duration::ZERO), Arc::strong_count(&value)), (Some(Ok(())), 1));
}

/// The fiber that was to make the last call has not begun when the runtime ends: another one keeps
/// the only worker until then. The queue is stopped before, or by the shutdown.
#[test]
fn a_last_call_that_is_never_made_is_told_of() {
    for is_stopped_before in [false, true] {
        let _watch = watch_test();
        let runtime = Runtime::builder().workers(1).start().unwrap();
        let (queue, calls) = noting(&runtime);
        let queue = Arc::new(queue);
        let copy = queue.clone();
        end_while_busy(runtime, move || {
            if is_stopped_before {
                copy.stop();
            }
        });
        let error = queue.join().unwrap_err();
        assert_eq!((error.missed_last_call(), error.lost(), error.panics()), (true, 0, 0));
        assert_eq!(error.to_string(), "the last call was not made, since the runtime was shut down");
        assert!(calls.lock().unwrap().is_empty());
    }
}
