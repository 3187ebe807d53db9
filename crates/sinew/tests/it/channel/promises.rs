//! A receiver at a channel of capacity 0 that has met a `select` which sends: it waits for the
//! message beyond its own limits, until the operation is completed or dropped. Senders do not wait
//! in this way.

use super::super::crowd::in_crowds;
use super::super::support::{panics_with, pinned};
use super::{NOT_COMPLETED, pause};
use sinew::channel::{Receiver, RecvTimeoutError, Select, bounded};
use sinew::{fiber, select};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// All ways to receive that have a limit, which is now.
const WAYS: usize = 9;

fn receive(receiver: &Receiver<u32>, way: usize) -> Option<u32> {
    let mut set = Select::new();
    set.recv(receiver);
    let selected = match way {
        0 => return receiver.recv_timeout(Duration::ZERO).ok(),
        1 => return receiver.recv_deadline(Instant::now()).ok(),
        2 => return receiver.recv_cancellable().ok().and_then(Result::ok),
        3 => return receiver.try_recv().ok(),
        4 => return receiver.try_iter().next(),
        5 => set.select_timeout(Duration::ZERO).ok(),
        6 => set.select_deadline(Instant::now()).ok(),
        7 => set.select_cancellable().ok(),
        _ => set.try_select().ok(),
    };
    selected.and_then(|operation| operation.recv(receiver).ok())
}

/// Waits until a sender waits at the channel.
fn wait_for_sender(receiver: &Receiver<u32>) {
    let mut select = Select::new();
    select.recv(receiver);
    assert_eq!(select.ready(), 0);
}

/// The sender completes its operation when the limit of the receiver is long over.
#[test]
fn who_has_met_a_select_waits_for_its_message() {
    in_crowds(|crowd| {
        for way in 0..WAYS {
            let (sender, receiver) = bounded(0);
            let (limit, is_made) = (Arc::new(OnceLock::new()), Arc::new(AtomicBool::new(false)));
            let (its_limit, flag) = (limit.clone(), is_made.clone());
            let sends = crowd.spawn(1, move || {
                let mut select = Select::new();
                select.send(&sender);
                let operation = select.select();
                // The receiver has met this one: from here on its limit does not count.
                while its_limit.get().is_none_or(|limit| Instant::now() <= *limit) {
                    fiber::yield_now();
                }
                pause();
                flag.store(true, Ordering::Relaxed);
                operation.send(&sender, 7).unwrap();
            });
            wait_for_sender(&receiver);
            limit.set(Instant::now()).unwrap();
            assert_eq!(receive(&receiver, way), Some(7), "{way}");
            assert!(is_made.load(Ordering::Relaxed), "{way}");
            sends.join();
        }
    });
}

/// The same for one that is cancelled meanwhile.
#[test]
fn a_cancel_does_not_end_the_wait_for_a_message() {
    in_crowds(|crowd| {
        for way in [2, 7] {
            let (sender, receiver) = bounded(0);
            let waits = fiber::spawn(move || {
                let got = receive(&receiver, way);
                (got, fiber::is_cancelled())
            });
            let mut select = Select::new();
            select.send(&sender);
            let operation = select.select();
            waits.cancel();
            crowd.spawn(1, pause).join();
            operation.send(&sender, 7).unwrap();
            assert_eq!(waits.join().unwrap(), (Some(7), true), "{way}");
        }
    });
}

/// An operation that is dropped leaves the receiver as it was: its limit counts again.
#[test]
fn who_was_promised_a_message_in_vain_has_its_limit_again() {
    in_crowds(|crowd| {
        for way in [0, 1, 3, 5, 6, 8] {
            let (sender, receiver) = bounded(0);
            let drops = crowd.spawn(1, move || {
                let mut select = Select::new();
                select.send(&sender);
                panics_with(NOT_COMPLETED, || drop(select.select()));
                sender
            });
            wait_for_sender(&receiver);
            assert_eq!(receive(&receiver, way), None, "{way}");
            let sender = drops.join();
            assert_eq!(receiver.recv_timeout(Duration::ZERO), Err(RecvTimeoutError::Timeout));
            drop(sender);
        }
    });
}

/// What the documentation warns of: it waits until its runtime has ended, which counts it as
/// leaked.
#[test]
fn who_has_met_an_operation_that_is_forgotten_waits_for_ever() {
    let mut runtime = pinned(1);
    let (sender, receiver) = bounded(0);
    runtime.run(move || {
        drop(fiber::spawn(move || receive(&receiver, 1)));
        let mut select = Select::new();
        select.send(&sender);
        // The other fiber begins when this one waits, and meets it.
        std::mem::forget(select.select());
    });
    let report = runtime.take().shutdown(Some(Duration::ZERO));
    assert_eq!(report.leaked.len(), 1, "{report:?}");
}

/// A receiver that has selected, and does not come to take the message, has it.
#[test]
fn who_has_met_a_select_that_receives_goes_on() {
    in_crowds(|crowd| {
        for way in 0..4 {
            let (sender, receiver) = bounded(0);
            let (has_selected, may_complete) = (Arc::new(AtomicBool::new(false)), bounded::<()>(0));
            let flag = has_selected.clone();
            let receives = crowd.spawn(1, move || {
                let mut select = Select::new();
                select.recv(&receiver);
                let operation = select.select();
                flag.store(true, Ordering::Relaxed);
                assert!(may_complete.1.recv().is_err());
                operation.recv(&receiver)
            });
            let mut set = Select::new();
            set.send(&sender);
            assert_eq!(set.ready(), 0);
            match way {
                0 => sender.send_timeout(7, Duration::ZERO).unwrap(),
                1 => sender.send_deadline(7, Instant::now()).unwrap(),
                2 => sender.try_send(7).unwrap(),
                _ => select! { send(sender, 7) -> sent => sent.unwrap(), default => panic!("it is there") },
            }
            // It has a message, and waits for leave to take it.
            while !has_selected.load(Ordering::Relaxed) {
                fiber::yield_now();
            }
            drop(may_complete.0);
            assert_eq!(receives.join(), Ok(7));
        }
    });
}
