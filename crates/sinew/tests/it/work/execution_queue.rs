//! Queues whose tasks one function is given in batches.

use super::super::crowd::in_crowds;
use super::super::support::{Random, everywhere, pinned, quiet_panic, watch_test};
use sinew::sync::{Baton, Mutex};
use sinew::work::{Batch, Builder, ExecuteError, ExecutionQueue};
use sinew::{Runtime, fiber};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

/// A queue that collects its tasks, and the list of them.
fn collecting<T: Send>() -> (ExecutionQueue<T>, Arc<Mutex<Vec<T>>>) {
    let done = Arc::new(Mutex::new(Vec::new()));
    let list = done.clone();
    (ExecutionQueue::new(move |batch| list.lock().unwrap().extend(batch)), done)
}

#[test]
fn tasks_are_handed_out_once_and_in_order() {
    in_crowds(|crowd| {
        let (queue, done) = collecting();
        let queue = Arc::new(queue);
        let copy = queue.clone();
        crowd.all(6, move |number| {
            let mut random = Random::new(number as u64 + 1);
            for round in 0..100 {
                copy.execute((number, round)).unwrap();
                if random.below(8) == 0 {
                    fiber::yield_now();
                }
            }
        });
        queue.stop();
        assert_eq!(queue.join(), Ok(()));
        let done = done.lock().unwrap();
        assert_eq!(done.len(), 600);
        for number in 0..6 {
            assert!(done.iter().filter(|(from, _)| *from == number).map(|(_, round)| *round).eq(0..100));
        }
    });
}

/// The function waits in the middle of its batches: it is never called by two at once.
#[test]
fn there_is_one_consumer_at_a_time() {
    in_crowds(|crowd| {
        let (inside, sum) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (within, adds) = (inside.clone(), sum.clone());
        let queue = Arc::new(ExecutionQueue::new(move |batch| {
            assert_eq!(within.fetch_add(1, Ordering::Relaxed), 0);
            for task in batch {
                fiber::yield_now();
                adds.fetch_add(task, Ordering::Relaxed);
            }
            within.fetch_sub(1, Ordering::Relaxed);
        }));
        let copy = queue.clone();
        crowd.all(4, move |_| {
            for task in 0..30 {
                copy.execute(task).unwrap();
                fiber::yield_now();
            }
        });
        queue.stop();
        queue.join().unwrap();
        assert_eq!((sum.load(Ordering::Relaxed), inside.load(Ordering::Relaxed)), (4 * 29 * 30 / 2, 0));
    });
}

/// On one worker, so that the consumer has its turn only when it is given one.
#[test]
fn urgent_tasks_go_first_and_batches_have_an_end() {
    let runtime = pinned(1);
    runtime.run(|| {
        let (go_on, batches) = (Arc::new(Baton::new()), Arc::new(Mutex::new(Vec::new())));
        let (waits, list, has_begun) = (go_on.clone(), batches.clone(), Arc::new(Baton::new()));
        let begins = has_begun.clone();
        let queue = ExecutionQueue::new(move |batch: Batch<'_, u32>| {
            list.lock().unwrap().push(Vec::new());
            for task in batch {
                list.lock().unwrap().last_mut().unwrap().push(task);
                if task == 1 {
                    begins.post();
                    waits.wait();
                }
            }
        });
        (1..4).for_each(|task| queue.execute(task).unwrap());
        queue.execute_urgent(10).unwrap();
        has_begun.wait();
        // It has one in hand. These go before the others, but not this one, which is for the next
        // batch.
        queue.execute(4).unwrap();
        queue.execute_urgent(11).unwrap();
        queue.execute(5).unwrap();
        queue.execute_urgent(12).unwrap();
        go_on.post();
        queue.stop();
        queue.join().unwrap();
        assert_eq!(*batches.lock().unwrap(), [vec![10, 1, 11, 12, 2, 3], vec![4, 5], vec![]]);
    });
}

#[test]
fn an_urgent_task_alone_goes_before_the_rest_of_a_batch() {
    let runtime = pinned(1);
    runtime.run(|| {
        let (go_on, has_begun) = (Arc::new(Baton::new()), Arc::new(Baton::new()));
        let (waits, begins, done) = (go_on.clone(), has_begun.clone(), Arc::new(Mutex::new(Vec::new())));
        let list = done.clone();
        let queue = ExecutionQueue::new(move |batch: Batch<'_, u32>| {
            for task in batch {
                list.lock().unwrap().push(task);
                if task == 1 {
                    begins.post();
                    waits.wait();
                }
            }
        });
        (1..4).for_each(|task| queue.execute(task).unwrap());
        has_begun.wait();
        queue.execute_urgent(10).unwrap();
        go_on.post();
        queue.stop();
        queue.join().unwrap();
        assert_eq!(*done.lock().unwrap(), [1, 10, 2, 3]);
    });
}

#[test]
fn urgent_ones_keep_their_order_among_many() {
    in_crowds(|crowd| {
        let (queue, done) = collecting();
        let queue = Arc::new(queue);
        let copy = queue.clone();
        crowd.all(4, move |number| {
            for round in 0..60 {
                let task = (number, round % 3 == 0, round);
                if task.1 { copy.execute_urgent(task) } else { copy.execute(task) }.unwrap();
                if round % 7 == 0 {
                    fiber::yield_now();
                }
            }
        });
        queue.stop();
        queue.join().unwrap();
        let done = done.lock().unwrap();
        assert_eq!(done.len(), 240);
        for (number, is_urgent) in (0..4).flat_map(|number| [(number, false), (number, true)]) {
            let rounds =
                done.iter().filter(|task| (task.0, task.1) == (number, is_urgent)).map(|task| task.2);
            assert!(rounds.eq((0..60).filter(|round| (round % 3 == 0) == is_urgent)));
        }
    });
}

#[test]
fn the_last_call_says_so() {
    in_crowds(|crowd| {
        for many in [0, 1, 10] {
            let calls = Arc::new(Mutex::new(Vec::new()));
            let (list, held) = (calls.clone(), Arc::new(()));
            let hold = held.clone();
            let queue = Arc::new(ExecutionQueue::new(move |batch| {
                let is_last = batch.is_stopped();
                let _ = &hold;
                assert_eq!(batch.size_hint().1, None);
                list.lock().unwrap().push((is_last, batch.count()));
            }));
            let copy = queue.clone();
            crowd.all(1, move |_| (0..many).for_each(|task| copy.execute(task).unwrap()));
            let stops = queue.clone();
            crowd.all(3, move |_| stops.stop());
            queue.join().unwrap();
            let calls = calls.lock().unwrap();
            let (last, others) = calls.split_last().unwrap();
            assert_eq!((*last, others.iter().map(|call| call.1).sum::<usize>()), ((true, 0), many));
            assert!(others.iter().all(|call| !call.0 && call.1 > 0));
            // The function is gone.
            assert_eq!(Arc::strong_count(&held), 1);
            assert_eq!(queue.execute(5), Err(ExecuteError(5)));
            assert_eq!(queue.execute_urgent(5), Err(ExecuteError(5)));
        }
    });
}

#[test]
fn a_panic_loses_the_task_in_hand_and_no_other() {
    everywhere(|| {
        let (done, drops) = (Arc::new(Mutex::new(Vec::new())), Arc::new(()));
        let list = done.clone();
        let queue = ExecutionQueue::new(move |batch: Batch<'_, (u32, Arc<()>)>| {
            if batch.is_stopped() {
                quiet_panic("at the end");
            }
            for (task, _held) in batch {
                if task % 4 == 1 {
                    quiet_panic(format!("number {task}"));
                }
                list.lock().unwrap().push(task);
            }
        });
        (0..20).for_each(|task| queue.execute((task, drops.clone())).unwrap());
        queue.stop();
        let error = queue.join().unwrap_err();
        assert_eq!((error.panics(), error.message()), (6, Some("number 1")));
        assert!(error.to_string().contains("6, the first one: number 1"), "{error}");
        assert!(done.lock().unwrap().iter().copied().eq((0..20).filter(|task| task % 4 != 1)));
        assert_eq!(Arc::strong_count(&drops), 1);
    });
}

/// Every other call panics, before it takes a task.
#[test]
fn a_panic_before_a_task_is_taken_loses_the_first() {
    everywhere(|| {
        let (done, drops, mut calls) = (Arc::new(Mutex::new(Vec::new())), Arc::new(()), 0);
        let list = done.clone();
        let queue = ExecutionQueue::new(move |mut batch: Batch<'_, (u32, Arc<()>)>| {
            calls += 1;
            if calls % 2 == 1 {
                quiet_panic(format!("call {calls}"));
            }
            list.lock().unwrap().extend(batch.next().map(|task| task.0));
        });
        (0..10).for_each(|task| queue.execute((task, drops.clone())).unwrap());
        queue.stop();
        let error = queue.join().unwrap_err();
        // The last call is one of them.
        assert_eq!((error.panics(), error.message(), error.lost()), (6, Some("call 1"), 5));
        assert!(done.lock().unwrap().iter().copied().eq((0..10).filter(|task| task % 2 == 1)));
        assert_eq!(Arc::strong_count(&drops), 1);
    });
}

#[test]
fn a_function_that_always_panics_has_an_end() {
    in_crowds(|crowd| {
        let always = |_: Batch<'_, usize>| quiet_panic("always");
        let queue = Arc::new(ExecutionQueue::new(always));
        let copy = queue.clone();
        crowd.all(3, move |number| (0..10).for_each(|_| copy.execute_urgent(number).unwrap()));
        queue.stop();
        let error = queue.join().unwrap_err();
        assert_eq!((error.panics(), error.lost()), (31, 30));
    });
}

/// That is the one which the function would have been given, and its destructor may panic.
#[test]
fn the_first_is_an_urgent_one_if_there_is_one() {
    struct Task(u32, bool);
    impl Drop for Task {
        fn drop(&mut self) {
            if self.1 && !std::thread::panicking() {
                quiet_panic(format!("while {} is dropped", self.0));
            }
        }
    }
    let runtime = pinned(1);
    runtime.run(|| {
        let (done, called) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Baton::new()));
        let (list, tells) = (done.clone(), called.clone());
        let queue = Arc::new_cyclic(|queue: &Weak<ExecutionQueue<Task>>| {
            let queue = queue.clone();
            ExecutionQueue::new(move |batch: Batch<'_, Task>| {
                if !tells.is_ready() {
                    queue.upgrade().unwrap().execute_urgent(Task(3, true)).unwrap();
                    tells.post();
                    quiet_panic("before it takes one");
                }
                list.lock().unwrap().extend(batch.map(|task| task.0));
            })
        });
        (1..3).for_each(|task| queue.execute(Task(task, false)).unwrap());
        called.wait();
        queue.stop();
        let error = queue.join().unwrap_err();
        assert_eq!((error.panics(), error.lost()), (2, 1));
        assert_eq!(error.to_string(), "panics in the queue's work: 2, the first one: before it takes one; tasks that were not done, nor handed out: 1");
        assert_eq!(*done.lock().unwrap(), [1, 2]);
    });
}

/// On one worker, where others have a turn only if the function's fiber gives them one.
#[test]
fn a_function_that_takes_nothing_lets_others_run() {
    let runtime = pinned(1);
    runtime.run(|| {
        let (takes, calls) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let (may_take, count) = (takes.clone(), calls.clone());
        let queue = ExecutionQueue::new(move |batch: Batch<'_, u32>| {
            count.fetch_add(1, Ordering::Relaxed);
            if may_take.load(Ordering::Relaxed) {
                batch.for_each(drop);
            }
        });
        queue.execute(1).unwrap();
        while calls.load(Ordering::Relaxed) < 10 {
            fiber::yield_now();
        }
        takes.store(true, Ordering::Relaxed);
        queue.stop();
        queue.join().unwrap();
    });
}

#[test]
fn what_is_not_taken_comes_again() {
    everywhere(|| {
        let done = Arc::new(Mutex::new(Vec::new()));
        let list = done.clone();
        let queue = ExecutionQueue::new(move |mut batch| list.lock().unwrap().extend(batch.next()));
        (0..30).for_each(|task| queue.execute(task).unwrap());
        queue.stop();
        queue.join().unwrap();
        assert!(done.lock().unwrap().iter().copied().eq(0..30));
    });
}

/// A task brings more, to its own queue.
#[test]
fn the_function_may_bring_tasks_itself() {
    everywhere(|| {
        let place = Arc::new(Mutex::new(None::<Arc<ExecutionQueue<u32>>>));
        let (inner, done) = (place.clone(), Arc::new(AtomicUsize::new(0)));
        let count = done.clone();
        let queue = Arc::new(ExecutionQueue::new(move |batch| {
            for task in batch {
                count.fetch_add(1, Ordering::Relaxed);
                let queue = inner.lock().unwrap().clone();
                match (task, queue) {
                    (0, queue) => queue.iter().for_each(|queue| queue.stop()),
                    (task, Some(queue)) => queue.execute(task - 1).unwrap(),
                    _ => {}
                }
            }
        }));
        *place.lock().unwrap() = Some(queue.clone());
        queue.execute(20).unwrap();
        queue.join().unwrap();
        *place.lock().unwrap() = None;
        assert_eq!(done.load(Ordering::Relaxed), 21);
    });
}

/// Destructors of tasks and of the function panic.
#[test]
fn destructors_that_panic_break_nothing() {
    struct Panics;
    impl Drop for Panics {
        fn drop(&mut self) {
            if !std::thread::panicking() {
                quiet_panic("while it is dropped");
            }
        }
    }
    everywhere(|| {
        let hold = Panics;
        let queue = ExecutionQueue::new(move |batch| {
            let _ = &hold;
            batch.for_each(drop);
        });
        (0..3).for_each(|_| assert!(queue.execute(Panics).is_ok()));
        queue.stop();
        assert_eq!(queue.join().unwrap_err().panics(), 4);
    });
}

#[test]
fn a_drop_has_what_is_there_done() {
    everywhere(|| {
        let (done, last) = (Arc::new(AtomicUsize::new(0)), Arc::new(Baton::new()));
        let (count, tells) = (done.clone(), last.clone());
        let queue = Builder::new().execution_queue(move |batch| {
            let is_last = batch.is_stopped();
            count.fetch_add(batch.count(), Ordering::Relaxed);
            if is_last {
                tells.post();
            }
        });
        (0..10).for_each(|task| queue.execute(task).unwrap());
        fiber::no_suspend(|| drop(queue));
        last.wait();
        assert_eq!(done.load(Ordering::Relaxed), 10);
    });
}

/// Many tasks are done at once, and many are lost at once: neither takes much of a stack.
#[test]
fn many_tasks_are_no_deep_recursion() {
    let _watch = watch_test();
    const MANY: u32 = 200_000;
    let runtime = Runtime::builder().workers(1).start().unwrap();
    let sum = Arc::new(AtomicUsize::new(0));
    let adds = sum.clone();
    let work = move |batch: Batch<'_, u32>| _ = adds.fetch_add(batch.count(), Ordering::Relaxed);
    let queue = Arc::new(runtime.run(move || ExecutionQueue::new(work)));
    (0..MANY).for_each(|task| queue.execute(task).unwrap());
    while sum.load(Ordering::Relaxed) < MANY as usize {
        fiber::yield_now();
    }
    // One keeps the only worker until the runtime has ended.
    let (copy, begun) = (queue.clone(), Arc::new(Baton::new()));
    let (has_begun, (lets_go, keeps)) = (begun.clone(), std::sync::mpsc::channel());
    let holds = runtime.spawn(move || {
        (0..MANY).for_each(|task| copy.execute(task).unwrap());
        has_begun.post();
        keeps.recv().unwrap();
    });
    begun.wait();
    runtime.shutdown(Some(Duration::ZERO));
    lets_go.send(()).unwrap();
    assert_eq!(queue.join().unwrap_err().lost(), MANY as usize);
    holds.join().unwrap();
}

#[test]
fn its_traits_are_as_they_should_be() {
    fn is_free<T: UnwindSafe + RefUnwindSafe + Send + Sync>() {}
    is_free::<ExecutionQueue<std::cell::Cell<u32>>>();
    let queue = ExecutionQueue::new(|batch: Batch<'_, u32>| {
        assert!(format!("{batch:?}").starts_with("Batch { is_stopped: "));
    });
    assert_eq!(format!("{queue:?}"), "ExecutionQueue { is_stopped: false, .. }");
    queue.stop();
    queue.join().unwrap();
    assert_eq!(format!("{:?}", queue.execute(1)), "Err(ExecuteError { .. })");
}
