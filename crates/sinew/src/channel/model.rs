//! The models of channels: no message is lost, doubled or out of order, and nobody waits for ever.

use loom::sync::Arc;
use loom::thread;
use std::time::Instant;

use super::{Channel, NotReceived};
use crate::rt::Limit;
use crate::rt::model::check;

fn soon() -> Limit {
    Limit::until(Some(Instant::now()))
}

/// All that comes, until nobody is left to send.
fn all(channel: &Channel<u32>) -> Vec<u32> {
    std::iter::from_fn(|| channel.receive(Limit::NEVER).ok()).collect()
}

/// Two are sent, one after the other, by one who then goes, and received.
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

/// Two send one each, to one who receives both.
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

/// Two wait for room where there is no memory at hand for their messages: both are let in.
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

/// Two receive; what one who gives up has not received, the other one does.
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
fn one_who_gives_up_takes_no_message_of_a_ring_along() {
    one_gives_up(2, || Channel::bounded(1));
}

#[test]
fn one_who_gives_up_takes_no_message_of_a_rendezvous_along() {
    one_gives_up(2, || Channel::bounded(0));
}

/// One waits for room and may give up: it has its message still, or that arrives.
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
fn one_who_waits_for_room_keeps_its_message_or_sends_it() {
    a_sender_gives_up(3, || Channel::bounded(1), 1);
}

#[test]
fn one_who_waits_to_meet_keeps_its_message_or_sends_it() {
    a_sender_gives_up(3, || Channel::bounded(0), 0);
}

/// The receiver goes while somebody sends: the message comes back, or was dropped with the channel.
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
fn whoever_waits_for_room_is_told_that_nobody_is_left() {
    the_receiver_goes(3, || Channel::bounded(1), 1);
}

#[test]
fn messages_go_with_the_receiver() {
    the_receiver_goes(3, || Channel::bounded(2), 1);
    the_receiver_goes(3, Channel::unbounded, 3);
}

#[test]
fn whoever_waits_to_meet_is_told_that_nobody_is_left() {
    the_receiver_goes(3, || Channel::bounded(0), 0);
}

#[test]
fn what_was_sent_before_the_end_is_received() {
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
                Err(NotReceived::Closed) => panic!("it was overlooked"),
                Err(_) => thread::yield_now(),
            }
        };
        assert_eq!(first, 1);
        sender.join().unwrap();
        assert!(matches!(channel.try_receive(), Err(NotReceived::Closed)));
    });
}
