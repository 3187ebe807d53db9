//! Channels for one value.

use super::super::crowd::in_crowds;
use super::super::support::{Random, everywhere, pinned, refused};
use sinew::channel::oneshot::{self, RecvError, RecvTimeoutError, TryRecvError};
use sinew::fiber;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, RefUnwindSafe, UnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

#[test]
fn what_is_sent_is_received() {
    in_crowds(|crowd| {
        for round in 0..40 {
            let (sender, receiver) = oneshot::channel();
            let sends = crowd.spawn(round, move || {
                (0..round % 3).for_each(|_| fiber::yield_now());
                sender.send(vec![round])
            });
            let receives = crowd.spawn(round + 1, move || receiver.recv());
            assert_eq!(receives.join(), Ok(vec![round]));
            sends.join().unwrap();
        }
    });
}

#[test]
fn answers_come_to_those_who_asked() {
    in_crowds(|crowd| {
        let (asks, questions) = sinew::sync::mpsc::channel::<(usize, oneshot::Sender<usize>)>();
        let answers = crowd.spawn(1, move || {
            questions
                .into_iter()
                .map(|(number, sender)| sender.send(number * 2))
                .filter(Result::is_ok)
                .count()
        });
        let doubled = crowd.all(8, move |number| {
            let ask = |number| {
                let (sender, receiver) = oneshot::channel();
                asks.send((number, sender)).unwrap();
                receiver.recv().unwrap()
            };
            (0..20).map(|round| ask(number * 100 + round)).collect::<Vec<_>>()
        });
        for (number, doubled) in doubled.into_iter().enumerate() {
            assert!(doubled.into_iter().eq((0..20).map(|round| (number * 100 + round) * 2)));
        }
        assert_eq!(answers.join(), 160);
    });
}

#[test]
fn the_end_of_either_side_is_told() {
    in_crowds(|crowd| {
        for round in 0..20 {
            let (sender, receiver) = oneshot::channel::<usize>();
            let waits = crowd.spawn(round, move || receiver.recv());
            (0..round % 3).for_each(|_| fiber::yield_now());
            drop(sender);
            assert_eq!(waits.join(), Err(RecvError));

            let (sender, receiver) = oneshot::channel::<usize>();
            let watches = crowd.spawn(round, move || {
                sender.closed();
                assert!(sender.is_closed() && sender.closed_timeout(Duration::MAX));
                sender.closed_cancellable().unwrap();
                sender.send(round)
            });
            (0..round % 3).for_each(|_| fiber::yield_now());
            drop(receiver);
            assert_eq!(watches.join(), Err(round));
        }
    });
}

#[test]
fn closing_keeps_what_was_sent() {
    let (sender, mut receiver) = oneshot::channel();
    assert!(!sender.is_closed() && !sender.closed_timeout(Duration::ZERO));
    sender.send(1).unwrap();
    receiver.close();
    assert_eq!(receiver.try_recv(), Ok(1));
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Closed));
    assert_eq!(receiver.recv(), Err(RecvError));
    let (sender, mut receiver) = oneshot::channel();
    receiver.close();
    receiver.close();
    assert_eq!(receiver.recv_timeout(Duration::MAX), Err(RecvTimeoutError::Closed));
    assert_eq!(receiver.recv_cancellable().unwrap(), Err(RecvError));
    assert_eq!(sender.send(1), Err(1));
}

#[test]
fn a_receiver_says_what_there_is_to_receive() {
    let (sender, mut receiver) = oneshot::channel();
    assert!(receiver.is_empty() && !receiver.is_terminated());
    assert_eq!(receiver.recv_timeout(Duration::ZERO), Err(RecvTimeoutError::Timeout));
    assert!(!receiver.is_terminated(), "it may be asked again");
    sender.send(1).unwrap();
    assert!(!receiver.is_empty() && !receiver.is_terminated());
    assert_eq!(receiver.recv_timeout(Duration::ZERO), Ok(1));
    assert!(receiver.is_empty() && receiver.is_terminated());

    let (sender, mut receiver) = oneshot::channel::<u32>();
    drop(sender);
    assert!(receiver.is_empty() && !receiver.is_terminated(), "it has not heard of the end");
    assert_eq!(receiver.recv_cancellable().unwrap(), Err(RecvError));
    assert!(receiver.is_terminated());

    // A value that was sent before the receiver was closed is still there.
    let (sender, mut receiver) = oneshot::channel();
    sender.send(1).unwrap();
    receiver.close();
    assert!(!receiver.is_empty() && !receiver.is_terminated());
    assert_eq!(receiver.try_recv(), Ok(1));
    assert!(receiver.is_empty() && receiver.is_terminated());

    let (sender, mut receiver) = oneshot::channel::<u32>();
    receiver.close();
    assert!(receiver.is_empty() && !receiver.is_terminated());
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Closed));
    assert!(receiver.is_terminated() && sender.closed_deadline(Instant::now()));
}

/// The value comes at any moment: it is there, or a receive finds it.
#[test]
fn a_receiver_that_is_not_empty_has_the_value() {
    in_crowds(|crowd| {
        for round in 0..20 {
            let (sender, mut receiver) = oneshot::channel();
            let sends = crowd.spawn(round, move || sender.send(round));
            while receiver.is_empty() {
                assert_eq!(receiver.try_recv().ok().filter(|value| *value != round), None);
                if receiver.is_terminated() {
                    break;
                }
                fiber::yield_now();
            }
            assert!(receiver.is_terminated() || receiver.try_recv() == Ok(round));
            assert!(receiver.is_terminated() && receiver.is_empty());
            sends.join().unwrap();
        }
    });
}

#[test]
fn a_wait_ends_at_its_time_and_the_value_is_not_lost() {
    in_crowds(|crowd| {
        let (sender, mut receiver) = oneshot::channel();
        for time in [Duration::ZERO, Duration::from_micros(200)] {
            assert_eq!(receiver.recv_timeout(time), Err(RecvTimeoutError::Timeout));
        }
        assert_eq!(receiver.recv_deadline(Instant::now()), Err(RecvTimeoutError::Timeout));
        let sends = crowd.spawn(1, move || sender.send(5));
        assert_eq!(receiver.recv_timeout(Duration::MAX), Ok(5));
        sends.join().unwrap();
        // A receive times out at any point of being served, and is repeated.
        crowd.all(4, move |number| {
            let mut random = Random::new(number as u64 + 7);
            for round in 0..40 {
                let (sender, mut receiver) = oneshot::channel();
                let sends = crowd.spawn(number + 1, move || sender.send(round));
                let received = loop {
                    match receiver.recv_timeout(Duration::from_micros(random.below(30))) {
                        Err(RecvTimeoutError::Timeout) => {}
                        received => break received,
                    }
                };
                assert_eq!(received, Ok(round));
                sends.join().unwrap();
            }
        });
    });
}

#[test]
fn a_cancel_that_meets_the_value_loses_nothing() {
    everywhere(|| {
        for round in 0..100 {
            let (sender, mut receiver) = oneshot::channel();
            let receives = Arc::new(fiber::spawn(move || (receiver.recv_cancellable(), receiver)));
            (0..round % 3).for_each(|_| fiber::yield_now());
            let copy = receives.clone();
            let canceller = fiber::spawn(move || copy.cancel());
            sender.send(round).unwrap();
            canceller.join().unwrap();
            let (received, mut receiver) = Arc::into_inner(receives).unwrap().join().unwrap();
            match received {
                Ok(value) => assert_eq!((value, receiver.try_recv()), (Ok(round), Err(TryRecvError::Closed))),
                Err(stopped) => assert!(stopped.is_cancelled() && receiver.try_recv() == Ok(round)),
            }
        }
        let (sender, receiver) = oneshot::channel::<()>();
        let watches = fiber::spawn(move || sender.closed_cancellable());
        fiber::yield_now();
        watches.cancel();
        assert!(watches.join().unwrap().unwrap_err().is_cancelled());
        assert_eq!(receiver.recv(), Err(RecvError));
    });
}

struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
        // No lock is held here.
        fiber::yield_now();
    }
}

#[test]
fn each_value_is_dropped_once() {
    in_crowds(|crowd| {
        let drops = Arc::new(AtomicUsize::new(0));
        let counts = drops.clone();
        crowd.all(8, move |number| {
            for round in 0..20 {
                let (sender, mut receiver) = oneshot::channel();
                let value = Counted(counts.clone());
                let sends = crowd.spawn(number + round, move || drop(sender.send(value)));
                match round % 4 {
                    0 => drop(receiver),
                    1 => drop(receiver.recv()),
                    2 => drop((receiver.recv_timeout(Duration::from_micros(10)), receiver)),
                    _ => receiver.close(),
                }
                sends.join();
            }
        });
        assert_eq!(drops.load(Ordering::Relaxed), 160);
    });
}

#[test]
fn a_value_whose_drop_panics_breaks_nothing() {
    struct Panics(Arc<AtomicUsize>);
    impl Drop for Panics {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
            panic!("while it is dropped");
        }
    }
    let drops = Arc::new(AtomicUsize::new(0));
    let (sender, receiver) = oneshot::channel();
    assert!(sender.send(Panics(drops.clone())).is_ok());
    assert!(catch_unwind(AssertUnwindSafe(|| drop(receiver))).is_err());
    assert_eq!((drops.load(Ordering::Relaxed), Arc::strong_count(&drops)), (1, 1));
}

#[test]
fn a_wait_inside_no_suspend_panics_and_the_other_end_hears_of_it() {
    let runtime = pinned(1);
    runtime.run(|| {
        let (sender, mut receiver) = oneshot::channel::<u32>();
        refused(|| receiver.recv_timeout(Duration::MAX));
        refused(|| sender.closed());
        assert!(!sender.is_closed());
        refused(|| receiver.recv());
        sender.closed();
        let (sender, receiver) = oneshot::channel();
        fiber::no_suspend(|| sender.send(1)).unwrap();
        assert_eq!(fiber::no_suspend(|| receiver.recv()), Ok(1));
    });
}

#[test]
fn its_traits_are_as_they_should_be() {
    fn is_free<T: UnwindSafe + RefUnwindSafe + Send + Sync>() {}
    is_free::<oneshot::Sender<Cell<u32>>>();
    is_free::<oneshot::Receiver<Cell<u32>>>();
    let (sender, receiver) = oneshot::channel::<std::rc::Rc<u32>>();
    assert_eq!(format!("{sender:?} {receiver:?}"), "Sender { .. } Receiver { .. }");
    assert_eq!(TryRecvError::from(RecvError).to_string(), RecvError.to_string());
    assert_eq!(RecvTimeoutError::from(RecvError).to_string(), RecvError.to_string());
}
