//! Channels from any to all: senders that wait for the end of the receivers, and weak senders.

use super::super::crowd::in_crowds;
use super::super::support::{everywhere, pinned, refused};
use sinew::channel::broadcast::{self, RecvError, Sender, WeakSender};
use sinew::fiber;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

#[test]
fn senders_hear_that_the_receivers_are_gone() {
    in_crowds(|crowd| {
        for round in 0..20 {
            let sender = Sender::<usize>::new(2);
            let receivers: Vec<_> = (0..3).map(|_| sender.subscribe()).collect();
            assert!(!sender.closed_timeout(Duration::ZERO) && !sender.closed_deadline(Instant::now()));
            let senders: Vec<_> = (0..3)
                .map(|number| {
                    let sender = sender.clone();
                    crowd.spawn(number, move || {
                        match number {
                            0 => sender.closed(),
                            1 => assert!(sender.closed_timeout(Duration::MAX)),
                            _ => sender.closed_cancellable().unwrap(),
                        }
                        assert_eq!(sender.send(round).unwrap_err().0, round);
                    })
                })
                .collect();
            (0..round % 3).for_each(|_| fiber::yield_now());
            // They still wait: there is a receiver, and one that has not received all goes.
            sender.send(1).unwrap();
            let mut receivers = receivers.into_iter();
            let last = receivers.next();
            let leaves: Vec<_> =
                receivers.enumerate().map(|(number, one)| crowd.spawn(number, move || drop(one))).collect();
            leaves.into_iter().for_each(|leaves| leaves.join());
            assert!(senders.iter().all(|sender| !sender.is_finished()));
            drop(last);
            senders.into_iter().for_each(|sender| sender.join());
            sender.closed();
            assert!(sender.closed_timeout(Duration::ZERO) && sender.closed_deadline(Instant::now()));
            assert_eq!((sender.receiver_count(), sender.len()), (0, 0));
        }
    });
}

/// A new receiver subscribes as soon as the last one is dropped. A fiber that waited for the end is
/// woken all the same.
#[test]
fn receivers_that_come_later_keep_nobody_waiting() {
    everywhere(|| {
        let sender = Sender::<u32>::new(1);
        for _ in 0..50 {
            let receiver = sender.subscribe();
            let copy = sender.clone();
            let waits = fiber::spawn(move || copy.closed());
            fiber::yield_now();
            drop(receiver);
            let again = sender.subscribe();
            // The fiber may begin to wait only now, for the end of this receiver.
            fiber::yield_now();
            drop(again);
            waits.join().unwrap();
        }
    });
}

#[test]
fn a_wait_for_the_end_is_cancelled() {
    everywhere(|| {
        let (sender, receiver) = broadcast::channel::<u32>(1);
        let waits = fiber::spawn(move || (sender.closed_cancellable(), sender));
        fiber::yield_now();
        waits.cancel_with_reason("enough");
        let (stopped, sender) = waits.join().unwrap();
        assert_eq!(stopped.unwrap_err().reason(), Some("enough"));
        assert_eq!(sender.send(1), Ok(1));
        drop(receiver);
        sender.closed();
    });
}

#[test]
fn a_wait_inside_no_suspend_panics_and_leaves_no_trace() {
    let runtime = pinned(1);
    runtime.run(|| {
        let (sender, receiver) = broadcast::channel::<u32>(1);
        refused(|| sender.closed());
        drop(receiver);
        fiber::no_suspend(|| sender.closed());
    });
}

#[test]
fn weak_senders_count_and_keep_nothing_open() {
    let (sender, mut receiver) = broadcast::channel(4);
    let weak = sender.downgrade();
    let other = weak.clone();
    assert_eq!((sender.strong_count(), sender.weak_count()), (1, 2));
    assert_eq!((weak.strong_count(), weak.weak_count()), (1, 2));
    let strong = weak.upgrade().unwrap();
    assert!(strong.same_channel(&sender) && sender.strong_count() == 2);
    drop(sender);
    assert!(!receiver.is_closed());
    assert_eq!(strong.send(1), Ok(1));
    drop((strong, other));
    assert_eq!((weak.strong_count(), weak.weak_count()), (0, 1));
    assert!(receiver.is_closed() && weak.upgrade().is_none());
    assert_eq!((receiver.recv(), receiver.recv()), (Ok(1), Err(RecvError::Closed)));
    assert_eq!(weak.strong_count(), 0, "what failed is not counted");
    fn is_free<T: UnwindSafe + RefUnwindSafe + Send + Sync>() {}
    is_free::<WeakSender<u32>>();
    assert_eq!(format!("{weak:?}"), "WeakSender { .. }");
}

/// Upgrades meet the end of the last sender: each that succeeds sends before the receiver hears of
/// the end.
#[test]
fn an_upgrade_that_meets_the_end_is_received_or_refused() {
    in_crowds(|crowd| {
        for round in 0..20 {
            let (sender, mut receiver) = broadcast::channel(64);
            let sent = Arc::new(AtomicUsize::new(0));
            let members: Vec<_> = (0..3)
                .map(|number| {
                    let (weak, sent) = (sender.downgrade(), sent.clone());
                    crowd.spawn(number, move || {
                        for _ in 0..5 {
                            if let Some(sender) = weak.upgrade() {
                                sent.fetch_add(1, Ordering::Relaxed);
                                sender.send(number).unwrap();
                            }
                            fiber::yield_now();
                        }
                    })
                })
                .collect();
            (0..round % 4).for_each(|_| fiber::yield_now());
            drop(sender);
            let received = std::iter::from_fn(|| receiver.recv().ok()).count();
            assert_eq!(receiver.recv(), Err(RecvError::Closed));
            members.into_iter().for_each(|member| member.join());
            assert_eq!(received, sent.load(Ordering::Relaxed));
        }
    });
}
