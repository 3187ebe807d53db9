//! Cancellation: who hears of it, and what becomes of messages that are on their way then.

use super::super::support::{Random, everywhere, pinned, refused};
use super::pause;
use sinew::channel::{Select, SendCancellableError, bounded, never, unbounded};
use sinew::fiber;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

#[test]
fn plain_waits_do_not_hear_of_it() {
    everywhere(|| {
        for bound in [0, 1] {
            let (sender, receiver) = bounded(bound);
            let (copy, from) = (sender.clone(), receiver.clone());
            let receives = fiber::spawn(move || {
                let first = from.recv();
                let second = from.recv_timeout(Duration::MAX);
                let third = sinew::select! { recv(from) -> got => got };
                (first, second, third)
            });
            receives.cancel();
            pause();
            (0..3).for_each(|number| sender.send(number).unwrap());
            assert_eq!(receives.join().unwrap(), (Ok(0), Ok(1), Ok(2)));
            let sends = fiber::spawn(move || {
                copy.send(1).unwrap();
                copy.send_timeout(2, Duration::MAX).unwrap();
                sinew::select! { send(copy, 3) -> sent => sent.unwrap() }
            });
            sends.cancel();
            pause();
            assert!((1..=3).all(|number| receiver.recv() == Ok(number)));
            sends.join().unwrap();
        }
    });
}

#[test]
fn waits_that_can_say_so_end_by_it() {
    everywhere(|| {
        for bound in [0, 1] {
            let (sender, receiver) = bounded(bound);
            let copy = receiver.clone();
            let waits = fiber::spawn(move || copy.recv_cancellable());
            pause();
            waits.cancel_with_reason("enough");
            assert_eq!(waits.join().unwrap().unwrap_err().reason(), Some("enough"));
            let copy = receiver.clone();
            let waits = fiber::spawn(move || {
                let nothing = never::<u8>();
                let mut select = Select::new();
                assert_eq!((select.recv(&copy), select.recv(&nothing)), (0, 1));
                select.select_cancellable().map(|_| ()).unwrap_err().is_cancelled()
            });
            pause();
            waits.cancel();
            assert!(waits.join().unwrap());
            (0..bound).for_each(|number| sender.send(number).unwrap());
            let copy = sender.clone();
            let waits = fiber::spawn(move || copy.send_cancellable(7));
            pause();
            waits.cancel();
            let error = waits.join().unwrap().unwrap_err();
            assert!(error.source().is_some(), "{error:?}: {error}");
            assert!(error.is_stopped() && !error.is_disconnected());
            assert!(matches!(error, SendCancellableError::Stopped(7, stopped) if stopped.is_cancelled()));
            assert_eq!(receiver.try_iter().count(), bound);
        }
    });
}

/// A fiber that is already cancelled still completes operations that need not wait.
#[test]
fn what_can_be_done_at_once_is_done() {
    everywhere(|| {
        let waits = fiber::spawn(|| {
            let (sender, receiver) = unbounded();
            while !fiber::is_cancelled() {
                fiber::yield_now();
            }
            sender.send_cancellable(1).unwrap();
            assert_eq!(receiver.recv_cancellable().unwrap(), Ok(1));
            let mut select = Select::new();
            select.send(&sender);
            select.select_cancellable().unwrap().send(&sender, 2).unwrap();
            drop(select);
            let mut select = Select::new();
            select.recv(&receiver);
            assert_eq!(select.select_cancellable().unwrap().recv(&receiver), Ok(2));
            assert!(select.select_cancellable().is_err() && receiver.recv_cancellable().is_err());
        });
        waits.cancel();
        waits.join().unwrap();
    });
}

/// Both sides are cancelled while they hand over: each message is received once, or comes back to
/// its sender.
#[test]
fn a_cancel_that_meets_the_hand_over_loses_nothing() {
    everywhere(|| {
        let mut random = Random::new(5);
        for bound in [0, 1] {
            for round in 0..40 {
                let (sender, receiver) = bounded(bound);
                (0..bound).for_each(|_| sender.send(100).unwrap());
                let (by_select, copy) = (round % 2 == 0, receiver.clone());
                let receives = Arc::new(fiber::spawn(move || {
                    let mut got = Vec::new();
                    for _ in 0..2 {
                        let mut select = Select::new();
                        select.recv(&copy);
                        match by_select {
                            true => select
                                .select_cancellable()
                                .into_iter()
                                .for_each(|it| got.extend(it.recv(&copy))),
                            false => copy.recv_cancellable().into_iter().for_each(|one| got.extend(one)),
                        }
                    }
                    got
                }));
                let sends = Arc::new(fiber::spawn(move || sender.send_cancellable(round).is_ok()));
                (0..random.below(4)).for_each(|_| fiber::yield_now());
                let cancels =
                    [receives.clone(), receives.clone()].map(|copy| fiber::spawn(move || copy.cancel()));
                if round % 3 == 0 {
                    sends.cancel();
                }
                cancels.into_iter().for_each(|one| one.join().unwrap());
                let mut all = Arc::into_inner(receives).unwrap().join().unwrap();
                let last = Arc::new(fiber::spawn(move || receiver.iter().collect::<Vec<_>>()));
                let is_sent = Arc::into_inner(sends).unwrap().join().unwrap();
                all.extend(Arc::into_inner(last).unwrap().join().unwrap());
                let mut expected = vec![100; bound];
                expected.extend(is_sent.then_some(round));
                assert_eq!(all, expected);
            }
        }
    });
}

#[test]
fn a_wait_inside_no_suspend_panics_and_leaves_no_trace() {
    pinned(1).run(|| {
        for bound in [0, 1] {
            let (sender, receiver) = bounded(bound);
            refused(|| receiver.recv());
            refused(|| sinew::select! { recv(receiver) -> _ => {} });
            (0..bound).for_each(|_| sender.send(1).unwrap());
            refused(|| sender.send(2));
            refused(|| sinew::select! { send(sender, 3) -> _ => {} });
            assert_eq!(receiver.try_iter().count(), bound);
            let (copy, waits) = (receiver.clone(), fiber::spawn(move || sender.send(4)));
            assert_eq!(copy.recv(), Ok(4));
            waits.join().unwrap().unwrap();
        }
    });
}
