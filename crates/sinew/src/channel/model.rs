//! Models of channels: no message is lost, duplicated or out of order, and no thread waits forever.

use loom::sync::Arc;
use loom::thread;
use std::time::Instant;

use super::{Channel, NotReceived};
use crate::rt::Limit;
use crate::rt::model::check;

fn soon() -> Limit {
    Limit::until(Some(Instant::now()))
}

/// Receives all messages until all senders are gone.
fn all(channel: &Channel<u32>) -> Vec<u32> {
    std::iter::from_fn(|| channel.receive(Limit::NEVER).ok()).collect()
}

/// One sender sends two messages and is dropped. Both messages are received in order.
fn two_pass(preemptions: usize, make: fn() -> Channel<u32>) {
    check(preemptions, move || {
        let channel = Arc::new(make());
        let other = channel.clone();
        let sender = thread::spawn(move || {
            for message in [1, 2] {
                other.send(message, Limit::NEVER).unwrap();
            }
            other.drop_sender();
        });
        assert_eq!(all(&channel), [1, 2]);
        sender.join().unwrap();
        channel.drop_receiver();
    });
}

#[test]
fn messages_pass_a_ring() {
    two_pass(3, || Channel::bounded(1));
}

#[test]
fn messages_pass_blocks() {
    two_pass(3, Channel::unbounded);
}

#[test]
fn messages_pass_a_rendezvous() {
    two_pass(3, || Channel::bounded(0));
}

/// Two senders send one message each. One receiver receives both.
fn two_send(preemptions: usize, make: fn() -> Channel<u32>) {
    check(preemptions, move || {
        let channel = Arc::new(make());
        channel.add_sender();
        let senders = [1, 2].map(|message| {
            let channel = channel.clone();
            thread::spawn(move || {
                channel.send(message, Limit::NEVER).unwrap();
                channel.drop_sender();
            })
        });
        let mut all = all(&channel);
        all.sort_unstable();
        assert_eq!(all, [1, 2]);
        senders.into_iter().for_each(|sender| sender.join().unwrap());
    });
}

#[test]
fn two_send_by_a_ring() {
    two_send(2, || Channel::bounded(1));
}

#[test]
fn two_send_by_blocks() {
    two_send(2, Channel::unbounded);
}

#[test]
fn two_send_by_a_rendezvous() {
    two_send(2, || Channel::bounded(0));
}

/// Two senders wait for room while there is no spare memory for their messages. Both are let in.
#[test]
fn two_wait_for_room_in_blocks() {
    check(2, || {
        let channel = Arc::new(Channel::in_blocks(Some(1)));
        // The next message is the last one of a block.
        channel.send(0, Limit::NEVER).unwrap();
        channel.receive(Limit::NEVER).unwrap();
        channel.send(0, Limit::NEVER).unwrap();
        channel.add_sender();
        let senders = [1, 2].map(|message| {
            let channel = channel.clone();
            thread::spawn(move || {
                channel.send(message, Limit::NEVER).unwrap();
                channel.drop_sender();
            })
        });
        assert_eq!(all(&channel).into_iter().sum::<u32>(), 3);
        senders.into_iter().for_each(|sender| sender.join().unwrap());
    });
}

/// Two receivers, one of which gives up. The message is received by one of them.
fn one_gives_up(preemptions: usize, make: fn() -> Channel<u32>) {
    check(preemptions, move || {
        let channel = Arc::new(make());
        let (hasty, patient) = (channel.clone(), channel.clone());
        let hasty = thread::spawn(move || hasty.receive(soon()).ok());
        let patient = thread::spawn(move || patient.receive(Limit::NEVER).ok());
        channel.send(1, Limit::NEVER).unwrap();
        channel.drop_sender();
        let received = [hasty.join().unwrap(), patient.join().unwrap()];
        assert_eq!(received.into_iter().flatten().collect::<Vec<_>>(), [1]);
    });
}

#[test]
fn a_receiver_that_gives_up_loses_no_message_of_a_ring() {
    one_gives_up(2, || Channel::bounded(1));
}

#[test]
fn a_receiver_that_gives_up_loses_no_message_of_a_rendezvous() {
    one_gives_up(2, || Channel::bounded(0));
}

/// A sender waits for room and may give up. Either it still has its message, or the message
/// arrives.
fn a_sender_gives_up(preemptions: usize, make: fn() -> Channel<u32>, kept: u32) {
    check(preemptions, move || {
        let channel = Arc::new(make());
        (0..kept).for_each(|message| channel.send(message, Limit::NEVER).unwrap());
        let other = channel.clone();
        let sender = thread::spawn(move || {
            let sent = other.send(kept, soon());
            other.drop_sender();
            sent.map_err(|error| assert_eq!(error.into_inner(), kept)).is_ok()
        });
        let all = all(&channel).len() as u32;
        assert_eq!(all, kept + u32::from(sender.join().unwrap()));
    });
}

#[test]
fn a_sender_that_waits_for_room_keeps_its_message_or_sends_it() {
    a_sender_gives_up(3, || Channel::bounded(1), 1);
}

#[test]
fn a_sender_that_waits_for_a_receiver_keeps_its_message_or_sends_it() {
    a_sender_gives_up(3, || Channel::bounded(0), 0);
}

/// The receiver is dropped while a sender sends. The message is returned, or was dropped with the
/// channel.
fn the_receiver_goes(preemptions: usize, make: fn() -> Channel<Arc<()>>, kept: usize) {
    check(preemptions, move || {
        let (channel, message) = (Arc::new(make()), Arc::new(()));
        (0..kept).for_each(|_| channel.send(message.clone(), Limit::NEVER).unwrap());
        let (other, copy) = (channel.clone(), message.clone());
        let sender = thread::spawn(move || {
            drop(other.send(copy, Limit::NEVER));
            other.drop_sender();
        });
        channel.drop_receiver();
        sender.join().unwrap();
        assert_eq!(Arc::strong_count(&message), 1);
    });
}

#[test]
fn a_sender_that_waits_for_room_is_woken_by_the_close() {
    the_receiver_goes(3, || Channel::bounded(1), 1);
}

#[test]
fn the_last_receiver_drops_the_messages() {
    the_receiver_goes(3, || Channel::bounded(2), 1);
    the_receiver_goes(3, Channel::unbounded, 3);
}

#[test]
fn a_sender_that_waits_for_a_receiver_is_woken_by_the_close() {
    the_receiver_goes(3, || Channel::bounded(0), 0);
}

#[test]
fn a_message_that_was_sent_before_the_close_is_received() {
    check(3, || {
        let channel = Arc::new(Channel::unbounded());
        let other = channel.clone();
        let sender = thread::spawn(move || {
            other.send(1, Limit::NEVER).unwrap();
            other.drop_sender();
        });
        let first = loop {
            match channel.try_receive() {
                Ok(message) => break message,
                Err(NotReceived::Closed) => panic!("the message was missed"),
                Err(_) => thread::yield_now(),
            }
        };
        assert_eq!(first, 1);
        sender.join().unwrap();
        assert!(matches!(channel.try_receive(), Err(NotReceived::Closed)));
    });
}
