//! Models of a select: exactly one event ends its wait, and no message is taken twice, lost, or
//! waited for in vain. The selects are biased, since the checker could not repeat random choices.

use loom::thread;
use std::time::Instant;

use crate::channel::{Receiver, Select, Sender, bounded, unbounded};
use crate::rt::model::{check, pokes_caller};

/// Receives from one of two channels.
fn recv_either(channels: [&Receiver<u32>; 2]) -> Option<u32> {
    let mut select = Select::new_biased();
    for channel in channels {
        select.recv(channel);
    }
    let operation = select.select();
    let index = operation.index();
    operation.recv(channels[index]).ok()
}

/// Sends through a select, with a message that is produced late.
fn send_late(sender: &Sender<u32>, message: u32) -> bool {
    let mut select = Select::new_biased();
    select.send(sender);
    select.select().send(sender, message).is_ok()
}

fn recv_late(receiver: &Receiver<u32>) -> Option<u32> {
    let mut select = Select::new_biased();
    select.recv(receiver);
    select.select().recv(receiver).ok()
}

/// One message is sent to each of two channels. One select receives both.
fn both_are_received(preemptions: usize, make: fn() -> (Sender<u32>, Receiver<u32>), is_poked: bool) {
    check(preemptions, move || {
        let ((one, from_one), (two, from_two)) = (make(), make());
        let senders = [(one, 1), (two, 2)].map(|(sender, message)| {
            thread::spawn(move || {
                sender.send(message).unwrap();
                sender
            })
        });
        let poker = is_poked.then(|| thread::spawn(pokes_caller()));
        let sum = recv_either([&from_one, &from_two]).unwrap() + recv_either([&from_one, &from_two]).unwrap();
        assert_eq!(sum, 3);
        senders.into_iter().for_each(|sender| drop(sender.join().unwrap()));
        poker.into_iter().for_each(|poker| poker.join().unwrap());
    });
}

#[test]
fn one_select_receives_from_two_buffered_channels() {
    both_are_received(2, || bounded(1), false);
}

#[test]
fn one_select_receives_from_two_rendezvous() {
    both_are_received(2, || bounded(0), false);
}

/// A full channel gets room again: for a sender that produces its message late, and for a sender
/// that waits with its message.
#[test]
fn room_is_reserved_for_a_sender_whose_message_is_late() {
    check(2, || {
        let (sender, receiver) = bounded(1);
        sender.send(1).unwrap();
        let (late, ready) = (sender.clone(), sender);
        let late = thread::spawn(move || assert!(send_late(&late, 2)));
        let ready = thread::spawn(move || ready.send(3).unwrap());
        assert_eq!(receiver.recv(), Ok(1));
        assert_eq!(receiver.recv().unwrap() + receiver.recv().unwrap(), 5);
        [late, ready].into_iter().for_each(|sender| sender.join().unwrap());
        assert!(receiver.recv().is_err());
    });
}

/// A slot is reserved in an otherwise empty channel, and a receiver waits. A sender that waits for
/// room is let in when the message is handed to the receiver and leaves the slot free.
#[test]
fn a_sender_that_waits_for_a_reserved_slot_is_let_in() {
    check(3, || {
        let (sender, receiver) = bounded(1);
        let mut select = Select::new_biased();
        select.send(&sender);
        let kept = select.select();
        let other = sender.clone();
        let other = thread::spawn(move || other.send(2).unwrap());
        let receiver = thread::spawn(move || receiver.recv().unwrap() + receiver.recv().unwrap());
        kept.send(&sender, 1).unwrap();
        assert_eq!(receiver.join().unwrap(), 3);
        other.join().unwrap();
    });
}

/// The sender that has reserved the slot gives it up.
#[test]
fn a_slot_that_is_given_up_goes_to_the_next_sender() {
    check(3, || {
        let (sender, receiver) = bounded(1);
        let mut select = Select::new_biased();
        select.send(&sender);
        let kept = select.select();
        let other = sender.clone();
        let other = thread::spawn(move || other.send(2).unwrap());
        let dropped = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(kept)));
        assert!(dropped.is_err());
        assert_eq!(receiver.recv(), Ok(2));
        other.join().unwrap();
    });
}

/// A sender and a receiver meet, each of them with or without a select.
fn meet(preemptions: usize, send: fn(&Sender<u32>, u32) -> bool, receive: fn(&Receiver<u32>) -> Option<u32>) {
    check(preemptions, move || {
        let (sender, receiver) = bounded(0);
        let sender = thread::spawn(move || {
            assert!(send(&sender, 7));
            sender
        });
        assert_eq!(receive(&receiver), Some(7));
        drop(sender.join().unwrap());
    });
}

#[test]
fn a_sender_whose_message_is_late_meets_a_receiver() {
    meet(3, send_late, |receiver| receiver.recv().ok());
}

#[test]
fn a_select_that_receives_meets_a_sender() {
    meet(3, |sender, message| sender.send(message).is_ok(), recv_late);
}

#[test]
fn two_selects_meet() {
    meet(3, send_late, recv_late);
}

/// Two threads select from both ends of one channel each: neither meets itself.
#[test]
fn two_selects_on_both_ends_meet_each_other() {
    fn either(sender: &Sender<u32>, receiver: &Receiver<u32>) -> Option<u32> {
        let mut select = Select::new_biased();
        let send = select.send(sender);
        select.recv(receiver);
        let operation = select.select();
        if operation.index() == send {
            operation.send(sender, 7).unwrap();
            return None;
        }
        Some(operation.recv(receiver).unwrap())
    }
    check(2, || {
        let (sender, receiver) = bounded(0);
        let (other_sender, other_receiver) = (sender.clone(), receiver.clone());
        let other = thread::spawn(move || either(&other_sender, &other_receiver));
        let mine = either(&sender, &receiver);
        let both = [mine, other.join().unwrap()];
        assert_eq!(both.into_iter().flatten().collect::<Vec<_>>(), [7]);
    });
}

/// A message that arrives when the time is over is received, or stays in the channel.
#[test]
fn a_select_that_gives_up_loses_no_message() {
    for capacity in [0, 1] {
        check(2, move || {
            let (sender, receiver) = bounded(capacity);
            let copy = receiver.clone();
            let hasty = thread::spawn(move || {
                let mut select = Select::new_biased();
                select.recv(&copy);
                let selected = select.select_deadline(Instant::now());
                selected.map_or(0, |operation| operation.recv(&copy).unwrap_or(0))
            });
            let sender = thread::spawn(move || sender.send(5).unwrap());
            let mine = receiver.try_recv().unwrap_or(0);
            let theirs = hasty.join().unwrap();
            let left = if mine + theirs == 0 { receiver.recv().unwrap() } else { 0 };
            sender.join().unwrap();
            assert_eq!(mine + theirs + left, 5);
        });
    }
}

/// Closing a channel ends the wait of a select.
#[test]
fn a_closed_channel_is_selected() {
    for make in [unbounded::<u32>, || bounded::<u32>(0)] {
        check(3, move || {
            let (sender, receiver) = make();
            let dropper = thread::spawn(move || drop(sender));
            assert_eq!(recv_late(&receiver), None);
            dropper.join().unwrap();
        });
    }
}

/// A select that waits for readiness is woken when either side is gone.
#[test]
fn a_close_wakes_a_wait_for_readiness() {
    for capacity in [0, 1] {
        check(3, move || {
            let (sender, receiver) = bounded::<u32>(capacity);
            let dropper = thread::spawn(move || drop(sender));
            let mut select = Select::new_biased();
            select.recv(&receiver);
            assert_eq!(select.ready(), 0);
            dropper.join().unwrap();
        });
    }
    check(3, || {
        let (sender, receiver) = bounded::<u32>(0);
        let dropper = thread::spawn(move || drop(receiver));
        let mut select = Select::new_biased();
        select.send(&sender);
        assert_eq!(select.ready(), 0);
        dropper.join().unwrap();
    });
}

/// A select that waits for readiness is woken by a message.
#[test]
fn a_message_wakes_a_wait_for_readiness() {
    for capacity in [0, 1] {
        check(2, move || {
            let (sender, receiver) = bounded(capacity);
            let sender = thread::spawn(move || {
                sender.send(3).unwrap();
                sender
            });
            let mut select = Select::new_biased();
            select.recv(&receiver);
            assert_eq!(select.ready(), 0);
            assert_eq!(receiver.try_recv(), Ok(3));
            drop(sender.join().unwrap());
        });
    }
}

#[test]
fn a_select_with_spurious_wake_ups_receives_all() {
    both_are_received(1, || bounded(1), true);
}
