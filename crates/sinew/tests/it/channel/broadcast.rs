//! Channels from any to all.

use super::super::crowd::in_crowds;
use super::super::support::{Random, everywhere, message, pinned, quiet_panic, refused};
use sinew::channel::broadcast::{
    self, Receiver, RecvError, RecvTimeoutError, SendError, Sender, TryRecvError,
};
use sinew::fiber;
use std::panic::{AssertUnwindSafe, RefUnwindSafe, UnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Receives until no sender is left. Returns the messages, and how many were missed.
fn all<T: Clone>(receiver: &mut Receiver<T>) -> (Vec<T>, u64) {
    let (mut values, mut missed) = (Vec::new(), 0);
    loop {
        match receiver.recv() {
            Ok(value) => values.push(value),
            Err(RecvError::Lagged(more)) => missed += more,
            Err(RecvError::Closed) => return (values, missed),
        }
    }
}

#[test]
fn each_receives_what_all_send_in_order() {
    in_crowds(|crowd| {
        let sender = Sender::new(1_000);
        let receivers: Vec<_> = (0..4).map(|_| sender.subscribe()).collect();
        let receivers: Vec<_> = (0..4)
            .zip(receivers)
            .map(|(number, mut receiver)| crowd.spawn(number, move || all(&mut receiver)))
            .collect();
        let copy = sender.clone();
        crowd.all(4, move |number| {
            (0..50).for_each(|round| assert!(copy.send((number, round)).is_ok()));
        });
        drop(sender);
        let results: Vec<_> = receivers.into_iter().map(|receiver| receiver.join()).collect();
        for (values, missed) in &results {
            assert_eq!((values.len(), *missed, values), (200, 0, &results[0].0), "all see one order");
            for number in 0..4 {
                let rounds = values.iter().filter(|(from, _)| *from == number).map(|(_, round)| *round);
                assert!(rounds.eq(0..50));
            }
        }
    });
}

#[test]
fn whoever_is_too_slow_hears_how_many_it_has_missed() {
    let (sender, mut receiver) = broadcast::channel(3);
    assert!((0..10).all(|value| sender.send(value) == Ok(1)));
    assert_eq!((sender.len(), receiver.len()), (3, 10));
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Lagged(7)));
    assert_eq!((receiver.recv(), receiver.len()), (Ok(7), 2));
    // It is told of what it missed since then only.
    (10..13).for_each(|value| drop(sender.send(value)));
    assert_eq!(receiver.recv_timeout(Duration::ZERO), Err(RecvTimeoutError::Lagged(2)));
    assert_eq!(receiver.recv_cancellable().unwrap(), Ok(10));
    assert_eq!((receiver.recv(), receiver.try_recv()), (Ok(11), Ok(12)));
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    assert!(receiver.is_empty() && sender.is_empty());
    (0..4).for_each(|value| drop(sender.send(value)));
    drop(sender);
    assert!(receiver.is_closed());
    assert_eq!(receiver.recv_cancellable().unwrap(), Err(RecvError::Lagged(1)));
    assert_eq!(all(&mut receiver), (vec![1, 2, 3], 0));
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Closed));
    assert_eq!(receiver.recv_timeout(Duration::MAX), Err(RecvTimeoutError::Closed));
}

#[test]
fn what_is_received_and_what_is_missed_are_all() {
    in_crowds(|crowd| {
        for capacity in [1, 2, 7] {
            let (sender, receiver) = broadcast::channel(capacity);
            let receivers: Vec<_> =
                std::iter::once(receiver).chain((0..3).map(|_| sender.subscribe())).collect();
            let listen = |(number, mut receiver): (usize, Receiver<u64>)| {
                crowd.spawn(number, move || {
                    let mut random = Random::new(number as u64 + 5);
                    let (mut last, mut count) = (None, 0);
                    loop {
                        match receiver.recv() {
                            Ok(value) => {
                                assert!(last < Some(value));
                                (last, count) = (Some(value), count + 1);
                            }
                            Err(RecvError::Lagged(missed)) => count += missed,
                            Err(RecvError::Closed) => return (last, count),
                        }
                        (0..random.below(3)).for_each(|_| fiber::yield_now());
                    }
                })
            };
            let receivers: Vec<_> = receivers.into_iter().enumerate().map(listen).collect();
            for value in 0..200 {
                assert_eq!(sender.send(value), Ok(4));
                assert!(sender.len() <= capacity);
                if value % 16 == 0 {
                    fiber::yield_now();
                }
            }
            drop(sender);
            receivers.into_iter().for_each(|receiver| assert_eq!(receiver.join(), (Some(199), 200)));
        }
    });
}

#[test]
fn those_who_come_and_go_leave_nothing_behind() {
    in_crowds(|crowd| {
        let drops = Arc::new(AtomicUsize::new(0));
        let sender = Sender::new(8);
        let stays = sender.subscribe();
        let (copy, counts) = (sender.clone(), drops.clone());
        crowd.all(6, move |number| {
            let mut random = Random::new(number as u64 + 11);
            for _ in 0..40 {
                let mut receiver = copy.subscribe();
                assert!(copy.send(Arc::new(Counted(counts.clone()))).is_ok());
                for _ in 0..random.below(4) {
                    let time = Duration::from_micros(random.below(20));
                    drop(receiver.recv_timeout(time));
                }
                drop((receiver.resubscribe(), receiver));
            }
        });
        assert_eq!((sender.receiver_count(), sender.len()), (1, 8));
        drop(stays);
        assert_eq!((sender.receiver_count(), sender.len(), drops.load(Ordering::Relaxed)), (0, 0, 240));
        assert!(sender.send(Arc::new(Counted(drops))).is_err());
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
fn the_last_one_who_receives_a_value_has_it_itself() {
    #[derive(Debug)]
    struct Cloned(Arc<AtomicUsize>);
    impl Clone for Cloned {
        fn clone(&self) -> Self {
            self.0.fetch_add(1, Ordering::Relaxed);
            Self(self.0.clone())
        }
    }
    let clones = Arc::new(AtomicUsize::new(0));
    let (sender, mut one) = broadcast::channel(4);
    let mut two = sender.subscribe();
    sender.send(Cloned(clones.clone())).unwrap();
    drop((one.recv().unwrap(), two.recv().unwrap()));
    assert_eq!((clones.load(Ordering::Relaxed), Arc::strong_count(&clones)), (1, 1));
    // A message is dropped with the last receiver that has not received it.
    sender.send(Cloned(clones.clone())).unwrap();
    drop(one.recv().unwrap());
    assert_eq!((sender.len(), Arc::strong_count(&clones)), (1, 2));
    drop(two);
    assert_eq!((sender.len(), Arc::strong_count(&clones)), (0, 1));
}

/// A receiver that subscribed late has received what an earlier one has not, and is dropped.
#[test]
fn what_the_slowest_needs_is_kept() {
    let (sender, mut slow) = broadcast::channel(4);
    sender.send(1).unwrap();
    let mut late = sender.subscribe();
    sender.send(2).unwrap();
    assert_eq!((late.recv(), sender.len()), (Ok(2), 2));
    drop(late);
    assert_eq!((sender.len(), slow.len()), (2, 2));
    assert_eq!((slow.recv(), slow.recv(), sender.len()), (Ok(1), Ok(2), 0));
    let mut late = slow.resubscribe();
    assert!(late.same_channel(&slow) && sender.same_channel(&sender.clone()));
    assert!(!Sender::<u32>::new(1).same_channel(&sender));
    (3..8).for_each(|value| drop(sender.send(value)));
    // One that has missed some, and has not heard of it, goes.
    drop(slow);
    assert_eq!((late.recv(), late.recv(), sender.len()), (Err(RecvError::Lagged(1)), Ok(4), 3));
}

/// `Clone` and `Drop` of values wait, use the channel, and panic.
#[test]
fn values_are_cloned_and_dropped_without_the_lock() {
    struct Uses(Arc<Sender<Uses>>, u32);
    impl Clone for Uses {
        fn clone(&self) -> Self {
            assert!(self.0.len() <= 4);
            fiber::yield_now();
            if self.1 % 5 == 4 {
                quiet_panic("while it is cloned");
            }
            Self(self.0.clone(), self.1)
        }
    }
    impl Drop for Uses {
        fn drop(&mut self) {
            assert!(self.0.receiver_count() <= 5);
            fiber::yield_now();
        }
    }
    in_crowds(|crowd| {
        let sender = Arc::new(Sender::new(4));
        let stays = sender.subscribe();
        let copy = sender.clone();
        crowd.all(4, move |number| {
            let mut receiver = copy.subscribe();
            for round in 0..40 {
                assert!(copy.send(Uses(copy.clone(), round)).is_ok());
                let received = catch_unwind(AssertUnwindSafe(|| drop(receiver.try_recv())));
                if let Err(panic) = received {
                    assert_eq!(message(&*panic), "while it is cloned", "{number}");
                }
            }
        });
        drop(stays);
        assert_eq!((sender.len(), sender.receiver_count(), Arc::strong_count(&sender)), (0, 0, 1));
    });
}

#[test]
fn a_value_whose_drop_panics_breaks_nothing() {
    #[derive(Clone)]
    struct Panics(#[expect(dead_code, reason = "it counts")] Arc<()>);
    impl Drop for Panics {
        fn drop(&mut self) {
            assert!(std::thread::panicking(), "while it is dropped");
        }
    }
    let panics = |call: &mut dyn FnMut()| {
        assert!(catch_unwind(AssertUnwindSafe(call)).is_err());
    };
    let count = Arc::new(());
    let (sender, receiver) = broadcast::channel(2);
    (0..2).for_each(|_| assert!(sender.send(Panics(count.clone())).is_ok()));
    panics(&mut || assert!(sender.send(Panics(count.clone())).is_ok()));
    assert_eq!((sender.len(), receiver.len(), Arc::strong_count(&count)), (2, 3, 3));
    let mut receiver = Some(receiver);
    panics(&mut || drop(receiver.take()));
    assert_eq!((sender.len(), Arc::strong_count(&count)), (0, 1));
}

#[test]
fn a_wait_ends_at_its_time() {
    in_crowds(|crowd| {
        let (sender, mut receiver) = broadcast::channel(1);
        for time in [Duration::ZERO, Duration::from_micros(200)] {
            assert_eq!(receiver.recv_timeout(time), Err(RecvTimeoutError::Timeout));
        }
        assert_eq!(receiver.recv_deadline(Instant::now()), Err(RecvTimeoutError::Timeout));
        let sends = crowd.spawn(1, move || sender.send(5));
        assert_eq!(receiver.recv_timeout(Duration::MAX), Ok(5));
        assert_eq!(receiver.recv_timeout(Duration::MAX), Err(RecvTimeoutError::Closed));
        assert_eq!(sends.join(), Ok(1));
    });
}

#[test]
fn a_cancel_that_meets_a_value_loses_nothing() {
    everywhere(|| {
        for round in 0..100 {
            let (sender, mut receiver) = broadcast::channel(1);
            let receives = Arc::new(fiber::spawn(move || (receiver.recv_cancellable(), receiver)));
            (0..round % 3).for_each(|_| fiber::yield_now());
            let copy = receives.clone();
            let canceller = fiber::spawn(move || copy.cancel());
            sender.send(round).unwrap();
            canceller.join().unwrap();
            let (received, mut receiver) = Arc::into_inner(receives).unwrap().join().unwrap();
            match received {
                Ok(value) => assert_eq!((value, receiver.try_recv()), (Ok(round), Err(TryRecvError::Empty))),
                Err(stopped) => assert!(stopped.is_cancelled() && receiver.try_recv() == Ok(round)),
            }
        }
    });
}

#[test]
fn all_who_wait_hear_of_the_end() {
    in_crowds(|crowd| {
        let sender = Sender::<u32>::new(2);
        let copy = sender.clone();
        let waiters: Vec<_> = (0..20)
            .map(|number| {
                let mut receiver = sender.subscribe();
                crowd.spawn(number, move || receiver.recv())
            })
            .collect();
        fiber::yield_now();
        drop((copy, sender));
        waiters.into_iter().for_each(|waiter| assert_eq!(waiter.join(), Err(RecvError::Closed)));
    });
}

#[test]
fn a_capacity_may_be_of_any_size_but_none() {
    let none = catch_unwind(|| drop(broadcast::channel::<u32>(0))).unwrap_err();
    assert!(message(&*none).contains("capacity cannot be zero"), "{}", message(&*none));
    for capacity in [1 << 20, 1 << 40, usize::MAX] {
        let (sender, mut receiver) = broadcast::channel(capacity);
        (0..1_000_u64).for_each(|value| assert_eq!(sender.send(value), Ok(1)));
        assert!((0..1_000).all(|value| receiver.recv() == Ok(value)));
    }
    let (sender, mut receiver) = broadcast::channel(2);
    (0..3_u8).for_each(|value| drop(sender.send([value; 4_096])));
    assert_eq!(receiver.recv(), Err(RecvError::Lagged(1)));
    assert_eq!(receiver.recv(), Ok([1; 4_096]));
    let (sender, mut receiver) = broadcast::channel(usize::MAX);
    (0..100).for_each(|_| drop(sender.send(())));
    assert!((0..100).all(|_| receiver.try_recv() == Ok(())));
}

#[test]
fn a_wait_inside_no_suspend_panics_and_leaves_no_trace() {
    let runtime = pinned(1);
    runtime.run(|| {
        let (sender, mut receiver) = broadcast::channel(1);
        refused(|| receiver.recv());
        assert_eq!(fiber::no_suspend(|| sender.send(1)), Ok(1));
        assert_eq!(fiber::no_suspend(|| receiver.recv()), Ok(1));
    });
}

#[test]
fn its_traits_are_as_they_should_be() {
    fn is_free<T: UnwindSafe + RefUnwindSafe + Send + Sync>() {}
    is_free::<Sender<u32>>();
    is_free::<Receiver<AtomicUsize>>();
    let (sender, receiver) = broadcast::channel::<std::rc::Rc<u32>>(1);
    assert_eq!(format!("{sender:?} {receiver:?}"), "Sender { .. } Receiver { .. }");
    assert_eq!(format!("{:?}", SendError(1)), "SendError { .. }");
    for error in [RecvError::Closed, RecvError::Lagged(3)] {
        assert_eq!(TryRecvError::from(error).to_string(), error.to_string());
        assert_eq!(RecvTimeoutError::from(error).to_string(), error.to_string());
    }
}
