//! What is easily different from crossbeam-channel, and is not.

use super::as_crossbeam;
use std::time::Instant;

as_crossbeam! {
    fn what_is_received_leaves_the_channel_as_it_was(_crowd) {
        let (one, other) = (channel::at(Instant::now()), channel::at(Instant::now()));
        assert!(one.recv().is_ok() && other.recv().is_ok());
        assert_eq!((one.capacity(), one.len(), one.is_full(), one.is_empty()), (Some(1), 0, false, true));
        assert!(!one.same_channel(&other) && !one.same_channel(&channel::never()));
    }

    /// Of either way to keep messages: the last one keeps these as they come.
    fn a_place_that_is_reserved_is_no_room(_crowd) {
        for bound in [1, 3, 32] {
            let (sender, receiver) = channel::bounded(bound);
            let message = [0_u8; 2_100];
            (1..bound).for_each(|_| sender.send(message).unwrap());
            assert!(!sender.is_full() && !receiver.is_full());
            let mut select = channel::Select::new();
            select.send(&sender);
            let operation = select.select();
            assert!(sender.is_full() && receiver.is_full());
            operation.send(&sender, message).unwrap();
            assert!(sender.is_full() && receiver.is_full());
            receiver.recv().unwrap();
            assert!(!sender.is_full() && !receiver.is_full());
        }
    }
}

#[test]
fn huge_capacities_are_told() {
    for cap in [usize::MAX, usize::MAX - 1, usize::MAX / 2 + 1] {
        let (sender, receiver) = sinew::channel::bounded::<u64>(cap);
        assert_eq!((sender.capacity(), receiver.capacity()), (Some(cap), Some(cap)));
    }
}

/// As for `send_cancellable` and `select_cancellable`, which tell of the end.
#[test]
fn the_end_is_told_to_one_who_is_to_stop() {
    super::super::support::everywhere(|| {
        for bound in [0, 1] {
            let waits = sinew::fiber::spawn(move || {
                let (sender, receiver) = sinew::channel::bounded::<u8>(bound);
                while !sinew::fiber::is_cancelled() {
                    sinew::fiber::yield_now();
                }
                drop(sender);
                let mut select = sinew::channel::Select::new();
                select.recv(&receiver);
                assert!(select.select_cancellable().unwrap().recv(&receiver).is_err());
                assert!(receiver.recv_cancellable().is_ok_and(|end| end.is_err()));
            });
            waits.cancel();
            waits.join().unwrap();
        }
    });
}
