//! Models of a oneshot channel: the value is received or returned, exactly once, and no thread
//! waits forever.

use loom::sync::Arc;
use loom::thread;
use std::time::Instant;

use super::super::NotReceived;
use super::shared::OneshotShared;
use crate::rt::Limit;
use crate::rt::model::check;

fn soon() -> Limit {
    Limit::until(Some(Instant::now()))
}

#[test]
fn a_receiver_that_gives_up_receives_the_value_later() {
    check(3, || {
        let shared = Arc::new(OneshotShared::new());
        let other = shared.clone();
        let sender = thread::spawn(move || other.send(1));
        let received = shared.receive(soon()).or_else(|_| shared.receive(Limit::NEVER));
        assert!(matches!(received, Ok(1)));
        assert!(matches!(shared.try_receive(), Err(NotReceived::Closed)));
        sender.join().unwrap().unwrap();
    });
}

#[test]
fn a_close_wakes_the_receiver() {
    check(3, || {
        let shared = Arc::new(OneshotShared::<u32>::new());
        let other = shared.clone();
        let ends = thread::spawn(move || other.close());
        assert!(matches!(shared.receive(Limit::NEVER), Err(NotReceived::Closed)));
        ends.join().unwrap();
    });
}

/// The receiver is closed while a value is sent: either the receiver or the sender has the value.
#[test]
fn a_value_is_never_in_two_places() {
    check(3, || {
        let shared = Arc::new(OneshotShared::new());
        let other = shared.clone();
        let sender = thread::spawn(move || other.send(1).is_ok());
        shared.close();
        let received = shared.try_receive().is_ok();
        assert_eq!(sender.join().unwrap(), received);
    });
}

#[test]
fn a_close_wakes_the_sender() {
    check(3, || {
        let shared = Arc::new(OneshotShared::<u32>::new());
        let other = shared.clone();
        let watches = thread::spawn(move || other.wait_for_close(Limit::NEVER).is_ok() && other.is_closed());
        shared.close();
        assert!(watches.join().unwrap());
    });
}
