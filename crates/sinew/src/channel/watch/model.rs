//! The models of a watch channel: no receiver waits for ever, a receiver that hears of a change
//! sees it, and the last value is seen before the end.

use loom::sync::Arc;
use loom::thread;
use std::time::Instant;

use super::super::NotReceived;
use super::shared::WatchShared;
use super::state::{Version, VersionChange};
use crate::raw::model::Watched;
use crate::rt::Limit;
use crate::rt::model::{check, pokes_caller};

/// A channel whose value counts its changes, with one sender and one receiver.
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

/// The value, as a borrow sees it.
fn value(shared: &WatchShared<Watched>) -> u32 {
    shared.borrow(Limit::NEVER).unwrap().0.get()
}

#[test]
fn who_hears_of_a_change_sees_it() {
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

/// Without a lock: what was done before a value is sent is seen by a receiver that knows of its
/// version.
///
/// The checker runs changes of one word in their order, so it does not show the other thing that
/// acquire is for: that the receiver locks the value after the sender did.
#[test]
fn who_looks_at_the_state_sees_what_was_done_before() {
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

/// The same for the end of the senders.
#[test]
fn who_sees_the_end_sees_what_was_done_before() {
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

/// A version that is read with the value is that of the value: it is told from the one before.
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

/// Two senders change the value and go; the receiver gives up once, at any moment.
#[test]
fn the_last_value_is_seen_before_the_end() {
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

/// A receiver waits for the second change, and is poked for nothing meanwhile.
#[test]
fn who_waits_for_a_value_gets_it() {
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
fn all_receivers_hear_of_a_change() {
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
fn the_sender_hears_that_the_receivers_are_gone() {
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
