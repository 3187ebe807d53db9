//! Blocking queues.

use super::super::crowd::in_crowds;
use super::super::support::{Random, everywhere, message, pinned, refused};
use sinew::fiber;
use sinew::sync::{BlockingQueue, Mutex, PopError, PushError, TryPopError, TryPushError};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, RefUnwindSafe, UnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

#[test]
fn all_that_is_pushed_is_popped_once_and_in_order() {
    in_crowds(|crowd| {
        for capacity in [1, 3, 1_000] {
            let (queue, left) = (Arc::new(BlockingQueue::new(capacity)), Arc::new(AtomicUsize::new(3)));
            let results = crowd.all(6, move |number| {
                if number < 3 {
                    (0..40).for_each(|value| queue.push((number, value)).unwrap());
                    if left.fetch_sub(1, Ordering::Relaxed) == 1 {
                        queue.stop();
                    }
                    return Vec::new();
                }
                let mut popped = Vec::new();
                for value in &*queue {
                    assert!(queue.len() <= capacity);
                    popped.push(value);
                }
                popped
            });
            for popped in &results {
                // Each popper sees the values of one pusher in order.
                for number in 0..3 {
                    let values = popped.iter().filter(|(from, _)| *from == number).map(|(_, value)| *value);
                    assert!(values.is_sorted());
                }
            }
            let mut all: Vec<_> = results.into_iter().flatten().collect();
            all.sort_unstable();
            assert!(all.into_iter().eq((0..3).flat_map(|number| (0..40).map(move |value| (number, value)))));
        }
    });
}

#[test]
fn a_wait_ends_at_its_time_and_gives_the_value_back() {
    in_crowds(|crowd| {
        let queue = Arc::new(BlockingQueue::new(1));
        let copy = queue.clone();
        crowd.all(3, move |number| {
            let popped = match number {
                0 => copy.pop_timeout(Duration::ZERO),
                1 => copy.pop_timeout(Duration::from_micros(200)),
                _ => copy.pop_until(Instant::now() + Duration::from_millis(1)),
            };
            assert_eq!(popped, Err(TryPopError::Empty));
        });
        queue.push_timeout(String::from("first"), Duration::ZERO).unwrap();
        let copy = queue.clone();
        crowd.all(3, move |number| {
            let value = number.to_string();
            let pushed = match number {
                0 => copy.push_timeout(value, Duration::ZERO),
                1 => copy.push_timeout(value, Duration::from_micros(200)),
                _ => copy.push_until(value, Instant::now() + Duration::from_millis(1)),
            };
            assert_eq!(pushed, Err(TryPushError::Full(number.to_string())));
        });
        let copy = queue.clone();
        let patient = crowd.spawn(1, move || copy.push_timeout(String::from("second"), Duration::MAX));
        assert_eq!(queue.pop_timeout(Duration::MAX).unwrap(), "first");
        patient.join().unwrap();
        assert_eq!(queue.pop().unwrap(), "second");
        assert_eq!(queue.try_pop(), Err(TryPopError::Empty));
    });
}

/// Pushers and poppers give up at any point of being served.
#[test]
fn giving_up_loses_no_value() {
    in_crowds(|crowd| {
        let (queue, left) = (Arc::new(BlockingQueue::new(2)), Arc::new(AtomicUsize::new(4)));
        let counts = crowd.all(8, move |number| {
            let mut random = Random::new(number as u64 + 3);
            let (mut pushed, mut popped) = (0, 0);
            if number < 4 {
                for value in 0..60_usize {
                    let time = Duration::from_micros(random.below(30));
                    let outcome = if number == 0 {
                        queue.push(value).map_err(TryPushError::from)
                    } else {
                        queue.push_timeout(value, time)
                    };
                    match outcome {
                        Ok(()) => pushed += value,
                        Err(error) => assert_eq!(error.into_inner(), value),
                    }
                }
                if left.fetch_sub(1, Ordering::Relaxed) == 1 {
                    queue.stop();
                }
            } else {
                loop {
                    let time = Duration::from_micros(random.below(30));
                    match if number == 4 {
                        queue.pop().map_err(TryPopError::from)
                    } else {
                        queue.pop_timeout(time)
                    } {
                        Ok(value) => popped += value,
                        Err(TryPopError::Empty) => fiber::yield_now(),
                        Err(TryPopError::Stopped) => {
                            assert!(queue.is_stopped());
                            break;
                        }
                    }
                }
            }
            (pushed, popped)
        });
        let (pushed, popped) = counts.into_iter().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        assert_eq!(pushed, popped);
        assert!(pushed >= 60 * 59 / 2);
    });
}

/// A fiber is cancelled while a value is handed to it, or taken from it.
#[test]
fn a_cancel_that_meets_the_hand_over_loses_nothing() {
    everywhere(|| {
        for round in 0..100 {
            let queue = Arc::new(BlockingQueue::new(1));
            let copy = queue.clone();
            let pops = Arc::new(fiber::spawn(move || copy.pop_cancellable()));
            (0..round % 3).for_each(|_| fiber::yield_now());
            let copy = pops.clone();
            let canceller = fiber::spawn(move || copy.cancel());
            queue.push(1).unwrap();
            canceller.join().unwrap();
            match Arc::into_inner(pops).unwrap().join().unwrap() {
                Ok(value) => assert_eq!((value, queue.len()), (Ok(1), 0)),
                Err(stopped) => assert!(stopped.is_cancelled() && queue.pop() == Ok(1)),
            }
            queue.push(2).unwrap();
            let copy = queue.clone();
            let pushes = Arc::new(fiber::spawn(move || copy.push_cancellable(3)));
            (0..round % 3).for_each(|_| fiber::yield_now());
            let copy = pushes.clone();
            let canceller = fiber::spawn(move || copy.cancel());
            assert_eq!(queue.pop(), Ok(2));
            canceller.join().unwrap();
            match Arc::into_inner(pushes).unwrap().join().unwrap() {
                Ok(pushed) => assert_eq!((pushed, queue.pop()), (Ok(()), Ok(3))),
                Err((value, stopped)) => {
                    assert!(value == 3 && stopped.is_cancelled() && queue.is_empty());
                }
            }
        }
    });
}

/// On one worker: the cancelled fiber does not run before the push, which finds it still in line
/// and passes it over.
#[test]
fn one_that_was_cancelled_is_passed_over() {
    let runtime = pinned(1);
    runtime.run(|| {
        let queue = Arc::new(BlockingQueue::new(1));
        let pops = || {
            let queue = queue.clone();
            let popper = fiber::spawn(move || queue.pop_cancellable());
            (0..5).for_each(|_| fiber::yield_now());
            popper
        };
        let (first, second) = (pops(), pops());
        first.cancel();
        queue.push(1).unwrap();
        assert!(queue.is_empty());
        assert!(first.join().unwrap().unwrap_err().is_cancelled());
        assert_eq!(second.join().unwrap().unwrap(), Ok(1));
        let alone = pops();
        alone.cancel();
        queue.push(1).unwrap();
        assert_eq!(queue.len(), 1);
        assert!(alone.join().unwrap().is_err());
        let pushes = |value| {
            let queue = queue.clone();
            let pusher = fiber::spawn(move || queue.push_cancellable(value));
            (0..5).for_each(|_| fiber::yield_now());
            pusher
        };
        let (first, second) = (pushes(2), pushes(3));
        first.cancel();
        assert_eq!((queue.pop(), queue.len()), (Ok(1), 1));
        assert_eq!(first.join().unwrap().unwrap_err().0, 2);
        assert_eq!((second.join().unwrap().unwrap(), queue.len()), (Ok(()), 1));
        let alone = pushes(4);
        alone.cancel();
        assert_eq!((queue.pop(), queue.len()), (Ok(3), 0));
        assert_eq!(alone.join().unwrap().unwrap_err().0, 4);
    });
}

#[test]
fn those_who_wait_for_room_go_on_when_there_is_more() {
    in_crowds(|crowd| {
        let queue = Arc::new(BlockingQueue::new(1));
        let pushers: Vec<_> = (0..40)
            .map(|number| {
                let queue = queue.clone();
                crowd.spawn(number, move || queue.push(number).unwrap())
            })
            .collect();
        while queue.is_empty() {
            fiber::yield_now();
        }
        (0..20).for_each(|_| fiber::yield_now());
        assert_eq!((queue.len(), queue.capacity()), (1, 1));
        queue.set_capacity(40);
        pushers.into_iter().for_each(|pusher| pusher.join());
        assert_eq!(queue.len(), 40);
        // Nothing is let in before there is less than may be.
        queue.set_capacity(2);
        for left in (2..40).rev() {
            queue.pop().unwrap();
            assert_eq!((queue.len(), queue.try_push(99).is_err()), (left, true));
        }
        queue.pop().unwrap();
        queue.try_push(99).unwrap();
        queue.set_capacity(usize::MAX);
        queue.try_push(100).unwrap();
        let values: Vec<_> = queue.try_iter().collect();
        assert_eq!((values.len(), values[1..].to_vec(), queue.len()), (3, vec![99, 100], 0));
    });
}

#[test]
fn whoever_waits_hears_that_it_is_stopped() {
    in_crowds(|crowd| {
        let (full, empty) = (Arc::new(BlockingQueue::new(1)), Arc::new(BlockingQueue::<usize>::new(1)));
        full.push(99).unwrap();
        let pushers: Vec<_> = (0..20)
            .map(|number| {
                let full = full.clone();
                crowd.spawn(number, move || full.push(number))
            })
            .collect();
        let poppers: Vec<_> = (0..20)
            .map(|number| {
                let empty = empty.clone();
                crowd.spawn(number, move || empty.pop())
            })
            .collect();
        fiber::yield_now();
        full.stop();
        empty.stop();
        for (number, pusher) in pushers.into_iter().enumerate() {
            assert_eq!(pusher.join(), Err(PushError(number)));
        }
        poppers.into_iter().for_each(|popper| assert_eq!(popper.join(), Err(PopError)));
        // What was in it may be popped.
        assert!(full.is_stopped() && full.len() == 1);
        assert_eq!(full.try_push(1), Err(TryPushError::Stopped(1)));
        assert_eq!(full.push_cancellable(1).unwrap(), Err(PushError(1)));
        full.set_capacity(10);
        assert_eq!(
            (full.pop(), full.pop(), full.try_pop()),
            (Ok(99), Err(PopError), Err(TryPopError::Stopped))
        );
        assert_eq!(full.pop_timeout(Duration::MAX), Err(TryPopError::Stopped));
        assert_eq!(full.pop_cancellable().unwrap(), Err(PopError));
        full.stop();
    });
}

/// Destructors of values wait, use the queue, and panic: no lock is held meanwhile.
#[test]
fn values_are_dropped_without_the_lock() {
    struct Waits(Arc<BlockingQueue<Waits>>, Arc<Mutex<usize>>);
    impl Drop for Waits {
        fn drop(&mut self) {
            *self.1.lock().unwrap() += usize::from(self.0.len() <= 8);
            fiber::yield_now();
        }
    }
    in_crowds(|crowd| {
        let (queue, dropped) = (Arc::new(BlockingQueue::new(2)), Arc::new(Mutex::new(0)));
        let (copy, count) = (queue.clone(), dropped.clone());
        crowd.all(4, move |number| {
            for round in 0..20 {
                let value = Waits(copy.clone(), count.clone());
                match number {
                    0 => drop(copy.push_timeout(value, Duration::from_micros(round))),
                    1 => drop(copy.try_push(value)),
                    2 => drop((copy.pop_timeout(Duration::from_micros(round)), value)),
                    _ => drop((copy.try_pop(), value)),
                }
            }
            copy.set_capacity(number + 1);
        });
        queue.stop();
        queue.iter().for_each(drop);
        assert_eq!(*dropped.lock().unwrap(), 80);
    });
}

#[test]
fn what_is_left_in_it_goes_with_it() {
    let value = Arc::new(());
    let queue = BlockingQueue::new(10);
    (0..5).for_each(|_| queue.push(value.clone()).unwrap());
    drop(queue.pop());
    assert_eq!(Arc::strong_count(&value), 5);
    drop(queue);
    assert_eq!(Arc::strong_count(&value), 1);
}

#[test]
fn no_room_at_all_is_a_panic() {
    let panics = |call: &dyn Fn()| {
        let panic = catch_unwind(AssertUnwindSafe(call)).unwrap_err();
        assert!(message(&*panic).contains("room for one value"), "{}", message(&*panic));
    };
    let queue = BlockingQueue::new(3);
    panics(&|| drop(BlockingQueue::<u32>::new(0)));
    panics(&|| queue.set_capacity(0));
    assert_eq!(queue.capacity(), 3);
    // Nothing takes no memory.
    let nothing = BlockingQueue::new(usize::MAX);
    (0..1_000).for_each(|_| nothing.push(()).unwrap());
    assert_eq!((nothing.len(), queue.try_push(1)), (1_000, Ok(())));
}

#[test]
fn a_wait_inside_no_suspend_panics_and_leaves_no_trace() {
    let runtime = pinned(1);
    runtime.run(|| {
        let queue = BlockingQueue::new(1);
        refused(|| queue.pop());
        fiber::no_suspend(|| queue.push(1).unwrap());
        refused(|| queue.push(2));
        assert_eq!(fiber::no_suspend(|| queue.pop()), Ok(1));
        assert!(queue.is_empty());
    });
}

#[test]
fn its_traits_are_as_they_should_be() {
    static QUEUE: BlockingQueue<String> = BlockingQueue::new(2);
    fn is_free<T: UnwindSafe + RefUnwindSafe + Send + Sync>() {}
    is_free::<BlockingQueue<Cell<u32>>>();
    std::thread::spawn(|| QUEUE.push(String::from("here")));
    assert_eq!(QUEUE.pop().unwrap(), "here");
    assert_eq!(format!("{QUEUE:?}"), "BlockingQueue { len: 0, capacity: 2, is_stopped: false, .. }");
    assert_eq!(format!("{:?} {:?}", PushError(1), TryPushError::Full(1)), "PushError { .. } Full(..)");
    assert_eq!(TryPopError::from(PopError).to_string(), PopError.to_string());
}
