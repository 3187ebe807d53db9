//! Models of a watch channel: no receiver waits forever, a receiver that is notified of a change
//! sees it, and the last value is seen before the close.

use loom::sync::Arc;
use loom::thread;
use std::time::Instant;

use super::super::NotReceived;
use super::shared::WatchShared;
use super::state::{Version, VersionChange};
use crate::raw::model::Watched;
use crate::rt::Limit;
use crate::rt::model::{check, pokes_caller};

/// Makes a channel whose value counts its changes, with one sender and one receiver.
fn channel() -> (Arc<WatchShared<Watched>>, Version) {
    let shared = WatchShared::new(Watched::new());
    shared.add_receiver();
    let seen = shared.state.version();
    (Arc::new(shared), seen)
}

fn send(shared: &WatchShared<Watched>) {
    shared.modify(|value| {
        value.add();
        true
    });
}

/// Returns the value as a borrow sees it.
fn value(shared: &WatchShared<Watched>) -> u32 {
    shared.borrow(Limit::NEVER).unwrap().0.get()
}

#[test]
fn a_notified_receiver_sees_the_change() {
    check(3, || {
        let (shared, seen) = channel();
        let other = shared.clone();
        let sender = thread::spawn(move || send(&other));
        let version = shared.changed(seen, Limit::NEVER).unwrap();
        assert_eq!(value(&shared), 1);
        sender.join().unwrap();
        assert_eq!(shared.state.version(), version);
    });
}

/// What happens before a value is sent is visible, without a lock, to a receiver that has seen its
/// version.
///
/// The checker runs the changes of one word in their order, so it does not show the other purpose
/// of acquire: that the receiver locks the value after the sender did.
#[test]
fn a_receiver_of_a_version_sees_what_happened_before() {
    check(3, || {
        let (shared, seen) = channel();
        let before = Arc::new(Watched::new());
        let (other, done) = (shared.clone(), before.clone());
        let sender = thread::spawn(move || {
            done.add();
            send(&other);
        });
        if shared.state.version() != seen {
            assert_eq!((before.get(), value(&shared)), (1, 1));
        }
        sender.join().unwrap();
    });
}

/// The same for the close by the last sender.
#[test]
fn a_receiver_of_the_close_sees_what_happened_before() {
    check(3, || {
        let (shared, seen) = channel();
        shared.add_sender();
        let before = Arc::new([Watched::new(), Watched::new()]);
        let senders = [0, 1].map(|index| {
            let (shared, before) = (shared.clone(), before.clone());
            thread::spawn(move || {
                before[index].add();
                shared.drop_sender();
            })
        });
        if shared.state.change_since(seen) == VersionChange::Closed {
            assert_eq!((before[0].get(), before[1].get()), (1, 1));
        }
        senders.into_iter().for_each(|sender| sender.join().unwrap());
    });
}

/// A version that is read with the value belongs to this value, and not to the one before.
#[test]
fn a_value_that_is_borrowed_has_its_version() {
    check(3, || {
        let (shared, seen) = channel();
        let other = shared.clone();
        let sender = thread::spawn(move || send(&other));
        let (value, version) = shared.borrow(Limit::NEVER).unwrap();
        assert_eq!(value.get() == 1, version != seen);
        drop(value);
        sender.join().unwrap();
    });
}

/// Two senders change the value and are dropped. The receiver gives up once, at any moment.
#[test]
fn the_last_value_is_seen_before_the_close() {
    check(2, || {
        let (shared, mut seen) = channel();
        shared.add_sender();
        let senders = [0, 1].map(|_| {
            let shared = shared.clone();
            thread::spawn(move || {
                send(&shared);
                shared.drop_sender();
            })
        });
        if let Ok(version) = shared.changed(seen, Limit::until(Some(Instant::now()))) {
            seen = version;
        }
        let mut last = 0;
        loop {
            match shared.changed(seen, Limit::NEVER) {
                Ok(version) => (seen, last) = (version, value(&shared)),
                Err(NotReceived::Closed) => break,
                Err(_) => unreachable!("there is no limit"),
            }
        }
        assert!(last == 2 || last == 0 && value(&shared) == 2, "the first wait may have seen it");
        senders.into_iter().for_each(|sender| sender.join().unwrap());
    });
}

/// A receiver waits for the second change, and gets spurious wake-ups meanwhile.
#[test]
fn a_wait_for_a_value_returns_it() {
    check(2, || {
        let (shared, mut seen) = channel();
        let other = shared.clone();
        let sender = thread::spawn(move || (0..2).for_each(|_| send(&other)));
        let poker = thread::spawn(pokes_caller());
        let found = shared.wait_for(&mut seen, Limit::STOP, |value| value.get() == 2);
        drop(found.unwrap());
        sender.join().unwrap();
        poker.join().unwrap();
        assert_eq!(seen, shared.state.version());
    });
}

/// Two receivers wait for one change.
#[test]
fn all_receivers_are_notified_of_a_change() {
    check(2, || {
        let (shared, seen) = channel();
        let (one, two) = (shared.clone(), shared.clone());
        let receiver = thread::spawn(move || one.changed(seen, Limit::NEVER).is_ok() && value(&one) == 1);
        let sender = thread::spawn(move || send(&two));
        assert!(shared.changed(seen, Limit::NEVER).is_ok() && value(&shared) == 1);
        assert!(receiver.join().unwrap());
        sender.join().unwrap();
    });
}

#[test]
fn the_last_receiver_wakes_a_waiting_sender() {
    check(3, || {
        let (shared, _) = channel();
        shared.add_receiver();
        let receivers = [0, 1].map(|_| {
            let shared = shared.clone();
            thread::spawn(move || shared.drop_receiver())
        });
        shared.wait_for_close(Limit::NEVER).unwrap();
        assert!(!shared.has_receivers());
        receivers.into_iter().for_each(|receiver| receiver.join().unwrap());
    });
}
