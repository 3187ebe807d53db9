//! Channels for the latest value: what is seen, by whom, and the ends.

use super::super::crowd::in_crowds;
use super::super::support::{Random, everywhere, message, quiet_panic};
use sinew::channel::watch::{self, Receiver, RecvError, RecvTimeoutError, Ref, SendError, Sender};
use sinew::fiber;
use std::panic::{AssertUnwindSafe, RefUnwindSafe, UnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// The error of a channel without senders.
fn closed() -> RecvError {
    let (_, mut receiver) = watch::channel(());
    receiver.changed().unwrap_err()
}

/// Sees each change until the end: values only grow, and the last one is seen. Returns the last
/// value, and how many were seen.
fn follow(receiver: &mut Receiver<u64>) -> (u64, u64) {
    let (mut last, mut seen) = (*receiver.borrow_and_update(), 0);
    while receiver.changed().is_ok() {
        let value = receiver.borrow_and_update();
        assert!(*value >= last, "{} after {last}", *value);
        (last, seen) = (*value, seen + 1);
    }
    (last, seen)
}

#[test]
fn all_receivers_see_the_last_value() {
    in_crowds(|crowd| {
        let (sender, receiver) = watch::channel(0);
        let receivers: Vec<_> = (0..4)
            .map(|number| {
                let mut receiver = receiver.clone();
                crowd.spawn(number, move || follow(&mut receiver))
            })
            .collect();
        let copy = sender.clone();
        crowd.all(3, move |number| {
            for round in 0..50 {
                match (number + round) % 3 {
                    0 => copy.send_modify(|value| *value += 1),
                    1 => assert!(copy.send_if_modified(|value| {
                        *value += 1;
                        true
                    })),
                    _ => assert!(!copy.send_if_modified(|_| false)),
                }
                fiber::yield_now();
            }
        });
        drop(sender);
        for follower in receivers {
            let (last, seen) = follower.join();
            assert!(last == 100 && seen <= 100, "{last} {seen}");
        }
        assert_eq!(*receiver.borrow(), 100);
        assert_eq!(receiver.has_changed(), Err(closed()));
    });
}

/// A sender and a receiver alternate, so that no value is missed, whichever is faster.
#[test]
fn a_change_and_its_answer_follow_each_other() {
    in_crowds(|crowd| {
        let ((ask, mut asked), (answer, mut answered)) = (watch::channel(0), watch::channel(0));
        let answers = crowd.spawn(1, move || {
            while asked.changed().is_ok() {
                let value: u32 = *asked.borrow_and_update();
                answer.send(value * 2).unwrap();
            }
        });
        for round in 1..=100 {
            ask.send(round).unwrap();
            answered.changed().unwrap();
            assert_eq!(*answered.borrow_and_update(), round * 2);
        }
        drop(ask);
        answers.join();
        assert!(answered.changed().is_err());
    });
}

#[test]
fn what_was_seen_is_remembered_by_each() {
    let (sender, mut receiver) = watch::channel(1);
    assert_eq!((receiver.has_changed(), *receiver.borrow()), (Ok(false), 1));
    assert!(!receiver.borrow().has_changed());
    sender.send(2).unwrap();
    // To borrow is not to see.
    assert!(receiver.borrow().has_changed() && receiver.borrow().has_changed());
    assert_eq!(receiver.has_changed(), Ok(true));
    let mut copy = receiver.clone();
    assert!(receiver.borrow_and_update().has_changed() && !receiver.borrow_and_update().has_changed());
    assert_eq!((receiver.has_changed(), copy.has_changed()), (Ok(false), Ok(true)));
    assert_eq!(copy.changed(), Ok(()));
    assert_eq!(copy.has_changed(), Ok(false));
    let late = sender.subscribe();
    assert_eq!((late.has_changed(), *late.borrow()), (Ok(false), 2));
    // Equal values are changes, and several are one.
    sender.send(2).unwrap();
    sender.send(2).unwrap();
    assert_eq!(copy.changed(), Ok(()));
    assert_eq!(copy.changed_timeout(Duration::ZERO), Err(RecvTimeoutError::Timeout));
    receiver.mark_unchanged();
    assert_eq!(receiver.has_changed(), Ok(false));
    receiver.mark_changed();
    receiver.mark_changed();
    assert_eq!((receiver.has_changed(), receiver.changed()), (Ok(true), Ok(())));
    assert_eq!(receiver.has_changed(), Ok(false));
    assert!(!sender.borrow().has_changed() && *sender.borrow() == 2);
}

#[test]
fn the_last_value_is_seen_after_the_end() {
    let (sender, mut receiver) = watch::channel(1);
    sender.send(2).unwrap();
    let mut copy = receiver.clone();
    drop(sender);
    assert_eq!(receiver.has_changed(), Err(closed()));
    assert_eq!(receiver.changed(), Ok(()));
    assert!(receiver.changed().is_err());
    assert_eq!(receiver.changed_timeout(Duration::MAX), Err(RecvTimeoutError::Closed));
    assert!(receiver.changed_cancellable().unwrap().is_err());
    assert_eq!(*receiver.borrow(), 2);
    assert_eq!(*copy.wait_for(|value| *value == 2).unwrap(), 2);
    assert!(copy.wait_for(|value| *value == 1).is_err());
    receiver.mark_changed();
    assert_eq!(receiver.changed(), Ok(()));
}

#[test]
fn without_receivers_a_value_is_not_sent_but_replaced() {
    let sender = Sender::new(1);
    assert!(sender.is_closed() && sender.receiver_count() == 0);
    assert_eq!(sender.send(2), Err(SendError(2)));
    assert_eq!((sender.send_replace(3), *sender.borrow()), (1, 3));
    sender.send_modify(|value| *value += 1);
    assert!(sender.send_if_modified(|value| *value == 4));
    let receiver = sender.subscribe();
    assert_eq!((receiver.has_changed(), *receiver.borrow()), (Ok(false), 4));
    let copy = receiver.clone();
    assert_eq!((sender.receiver_count(), sender.is_closed()), (2, false));
    assert_eq!(sender.send(5), Ok(()));
    drop((receiver, copy));
    assert_eq!(sender.send(6).unwrap_err().0, 6);
    let other = sender.clone();
    assert_eq!((sender.sender_count(), other.sender_count()), (2, 2));
    drop(sender);
    assert_eq!((other.sender_count(), *other.borrow()), (1, 5));
}

#[test]
fn senders_hear_that_the_receivers_are_gone() {
    in_crowds(|crowd| {
        for round in 0..20 {
            let (sender, receiver) = watch::channel(round);
            assert!(!sender.closed_timeout(Duration::ZERO));
            let senders: Vec<_> = (0..3)
                .map(|number| {
                    let sender = sender.clone();
                    crowd.spawn(number, move || match number {
                        0 => sender.closed(),
                        1 => assert!(sender.closed_timeout(Duration::MAX)),
                        _ => sender.closed_cancellable().unwrap(),
                    })
                })
                .collect();
            let copy = receiver.clone();
            (0..round % 3).for_each(|_| fiber::yield_now());
            drop(receiver);
            assert!(senders.iter().all(|sender| !sender.is_finished()));
            crowd.spawn(round, move || drop(copy)).join();
            senders.into_iter().for_each(|sender| sender.join());
            assert!(sender.is_closed() && sender.closed_deadline(std::time::Instant::now()));
        }
    });
}

/// Receivers, senders and changes come and go: the counts are right in the end.
#[test]
fn handles_that_come_and_go_are_counted() {
    in_crowds(|crowd| {
        let (sender, receiver) = watch::channel(0_u64);
        let copy = (sender.clone(), receiver.clone());
        crowd.all(4, move |number| {
            let mut random = Random::new(number as u64 + 3);
            for _ in 0..50 {
                let (sender, mut receiver) = (copy.0.clone(), copy.1.clone());
                match random.below(4) {
                    0 => sender.send_modify(|value| *value += 1),
                    1 => drop(receiver.changed_timeout(Duration::from_micros(random.below(20)))),
                    2 => drop(sender.subscribe()),
                    _ => drop(receiver.borrow_and_update()),
                }
            }
        });
        assert_eq!((sender.sender_count(), sender.receiver_count()), (1, 1));
        drop(sender);
        assert!(receiver.has_changed().is_err());
    });
}

/// The destructor of a value that is replaced uses the channel, and waits.
#[test]
fn values_are_dropped_without_a_lock() {
    struct Uses(Option<Arc<Sender<Uses>>>, Arc<AtomicUsize>);
    impl Drop for Uses {
        fn drop(&mut self) {
            self.1.fetch_add(1, Ordering::Relaxed);
            if let Some(sender) = &self.0 {
                assert!(sender.borrow().1.load(Ordering::Relaxed) > 0);
                fiber::yield_now();
            }
        }
    }
    everywhere(|| {
        let drops = Arc::new(AtomicUsize::new(0));
        let sender = Arc::new(Sender::new(Uses(None, drops.clone())));
        let receiver = sender.subscribe();
        for _ in 0..10 {
            assert!(sender.send(Uses(Some(sender.clone()), drops.clone())).is_ok());
        }
        drop(sender.send_replace(Uses(None, drops.clone())));
        drop(receiver);
        assert_eq!((drops.load(Ordering::Relaxed), Arc::strong_count(&sender)), (11, 1));
    });
}

#[test]
fn a_closure_that_panics_breaks_nothing() {
    let (sender, mut receiver) = watch::channel(vec![1]);
    let panics = catch_unwind(AssertUnwindSafe(|| {
        sender.send_modify(|list| {
            list.push(2);
            quiet_panic("half way");
        });
    }));
    assert_eq!(message(&*panics.unwrap_err()), "half way");
    // What it has done stays, and is no change.
    assert_eq!((receiver.has_changed(), receiver.borrow().len()), (Ok(false), 2));
    sender.send(vec![]).unwrap();
    let panics = catch_unwind(AssertUnwindSafe(|| drop(receiver.wait_for(|_| quiet_panic("looking")))));
    assert_eq!(message(&*panics.unwrap_err()), "looking");
    assert_eq!(receiver.has_changed(), Ok(false), "it counts as seen");
    sender.send(vec![3]).unwrap();
    assert_eq!(*receiver.wait_for(|list| !list.is_empty()).unwrap(), [3]);
}

#[test]
fn its_traits_are_as_they_should_be() {
    fn is_free<T: UnwindSafe + RefUnwindSafe + Send + Sync>() {}
    fn is_sync<T: Sync>() {}
    is_free::<Sender<u32>>();
    is_free::<Receiver<AtomicUsize>>();
    is_sync::<Ref<'_, u32>>();
    let (sender, receiver) = watch::channel(std::rc::Rc::new(1));
    assert_eq!(format!("{sender:?} {receiver:?}"), "Sender { .. } Receiver { .. }");
    assert_eq!(format!("{:?}", receiver.borrow()), "Ref { value: 1, has_changed: false }");
    assert!(sender.same_channel(&sender.clone()) && receiver.same_channel(&sender.subscribe()));
    let other = Sender::<std::rc::Rc<u32>>::default();
    assert!(!sender.same_channel(&other) && !receiver.same_channel(&other.subscribe()));
    assert_eq!(format!("{:?}", SendError(1)), "SendError { .. }");
    assert!(SendError(1).to_string().contains("without receivers"));
    let closed = closed();
    assert_eq!(RecvTimeoutError::from(closed).to_string(), closed.to_string());
    assert_ne!(RecvTimeoutError::Timeout.to_string(), closed.to_string());
}
