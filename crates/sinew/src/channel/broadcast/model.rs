//! Models of a broadcast channel: no thread waits forever, and missed values are reported.

use loom::sync::Arc;
use loom::thread;

use super::shared::{BroadcastShared, NoValue};
use crate::rt::Limit;
use crate::rt::model::check;

/// Receives all values until all senders are gone. Returns them, and the number of missed values.
fn all(shared: &BroadcastShared<u64>, mut next: u64) -> (Vec<u64>, u64) {
    let (mut values, mut missed) = (Vec::new(), 0);
    loop {
        match shared.receive(&mut next, Limit::NEVER) {
            Ok(value) => values.push(*value),
            Err(NoValue::Lagged(more)) => missed += more,
            Err(_) => break,
        }
    }
    shared.drop_receiver(next);
    (values, missed)
}

/// A sender sends two values to a channel that stores one, and is dropped.
#[test]
fn missed_values_are_reported() {
    check(2, || {
        let shared = Arc::new(BroadcastShared::new(1));
        let next = shared.with(|kept| kept.enter());
        let other = shared.clone();
        let sender = thread::spawn(move || {
            (0..2).for_each(|value| drop(other.send(value)));
            other.drop_sender();
        });
        let (values, missed) = all(&shared, next);
        sender.join().unwrap();
        assert_eq!((values.len() as u64 + missed, values.last()), (2, Some(&1)));
        assert_eq!(shared.with(|kept| kept.len()), 0);
    });
}

/// A sender waits until two receivers are gone. Another receiver subscribes and is dropped
/// meanwhile.
#[test]
fn the_last_receiver_wakes_a_waiting_sender() {
    check(2, || {
        let shared = Arc::new(BroadcastShared::<u64>::new(1));
        let next = shared.with(|kept| (kept.enter(), kept.enter()));
        let (one, two) = (shared.clone(), shared.clone());
        let leaves = thread::spawn(move || one.drop_receiver(next.0));
        let changes = thread::spawn(move || {
            let other = two.with(|kept| kept.enter());
            two.drop_receiver(next.1);
            two.drop_receiver(other);
        });
        shared.wait_for_close(Limit::NEVER).unwrap();
        leaves.join().unwrap();
        changes.join().unwrap();
        assert_eq!(shared.with(|kept| kept.receivers), 0);
    });
}

/// There are two receivers, one of which is dropped.
#[test]
fn a_receiver_that_is_dropped_leaves_no_value_behind() {
    check(2, || {
        let shared = Arc::new(BroadcastShared::new(2));
        let (next, leaves) = shared.with(|kept| (kept.enter(), kept.enter()));
        let (one, two) = (shared.clone(), shared.clone());
        let sender = thread::spawn(move || {
            drop(one.send(7));
            one.drop_sender();
        });
        let leaver = thread::spawn(move || two.drop_receiver(leaves));
        assert_eq!(all(&shared, next), (vec![7], 0));
        sender.join().unwrap();
        leaver.join().unwrap();
        assert_eq!(shared.with(|kept| (kept.len(), kept.receivers)), (0, 0));
    });
}
