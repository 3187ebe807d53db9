//! Models of a select that does not wait: it finds nothing only if no operation was possible at one
//! moment. In each model one of the operations is possible at every moment, alternately.

use loom::thread;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::nothing;
use crate::channel::{Receiver, Select, Sender, bounded, unbounded};
use crate::rt::model::check;

/// How to look for an operation.
#[derive(Clone, Copy)]
enum By {
    Ready,
    Select,
    /// Without the first attempt, which finds most of the moving messages.
    Stamps,
}

const ALL: [By; 3] = [By::Ready, By::Select, By::Stamps];

/// Returns whether an operation is found. It is not completed.
fn finds(mut select: Select<'_>, by: By) -> bool {
    match by {
        By::Ready => select.try_ready().is_ok(),
        // The operation is forgotten, since dropping it would panic.
        By::Select => select.try_select().map(std::mem::forget).is_ok(),
        By::Stamps => !nothing::is_certain(select.arms()),
    }
}

fn finds_message(channels: [&Receiver<u32>; 2], by: By) -> bool {
    let mut select = Select::new_biased();
    channels.into_iter().for_each(|channel| _ = select.recv(channel));
    finds(select, by)
}

fn finds_room(channels: [&Sender<u32>; 2], by: By) -> bool {
    let mut select = Select::new_biased();
    channels.into_iter().for_each(|channel| _ = select.send(channel));
    finds(select, by)
}

/// A message is in one of two channels, and moves to the other one, which gets it before the first
/// one loses it; and back.
fn a_message_moves(make: fn() -> (Sender<u32>, Receiver<u32>), moves: usize, by: By) {
    check(3, move || {
        let ((one, from_one), (two, from_two)) = (make(), make());
        one.send(1).unwrap();
        let ends = [(two, from_one.clone()), (one, from_two.clone())];
        let mover = thread::spawn(move || {
            for (to, from) in &ends[..moves] {
                to.send(1).unwrap();
                let _ = from.try_recv();
            }
            ends
        });
        assert!(finds_message([&from_two, &from_one], by));
        drop(mover.join().unwrap());
    });
}

#[test]
fn a_message_that_moves_is_found() {
    for by in ALL {
        a_message_moves(|| bounded(1), 1, by);
        a_message_moves(unbounded, 1, by);
    }
}

#[test]
fn a_message_that_moves_to_and_fro_is_found() {
    for by in ALL {
        a_message_moves(|| bounded(1), 2, by);
    }
}

/// One of two channels has room. It becomes full only after the other one has got room.
#[test]
fn room_that_moves_is_found() {
    for by in ALL {
        check(3, move || {
            let ((one, from_one), (two, from_two)) = (bounded(1), bounded(1));
            two.send(1).unwrap();
            let to_one = one.clone();
            let mover = thread::spawn(move || {
                from_two.try_recv().unwrap();
                let _ = to_one.try_send(2);
                (from_two, to_one)
            });
            assert!(finds_room([&two, &one], by));
            drop((mover.join().unwrap(), from_one));
        });
    }
}

/// A reserved slot becomes free, in either of the two ways, before the other channel becomes full.
#[test]
fn room_that_was_reserved_is_found() {
    for is_sent in [false, true] {
        check(3, move || {
            let ((one, from_one), (two, from_two)) = (bounded(1), bounded(1));
            let mut select = Select::new_biased();
            select.send(&two);
            let reserved = select.select();
            let (to_one, to_two) = (one.clone(), two.clone());
            let looks = thread::spawn(move || {
                assert!(finds_room([&to_two, &to_one], By::Stamps));
            });
            let receives = is_sent.then(|| thread::spawn(move || assert_eq!(from_two.recv(), Ok(1))));
            match is_sent {
                true => reserved.send(&two, 1).unwrap(),
                false => assert!(catch_unwind(AssertUnwindSafe(|| drop(reserved))).is_err()),
            }
            // The message may stay in the channel, if the receiver did not wait for it.
            if !two.is_full() {
                one.try_send(2).unwrap();
            }
            looks.join().unwrap();
            receives.into_iter().for_each(|receives| receives.join().unwrap());
            drop(from_one);
        });
    }
}

/// One of two channels has room. A sender that waits for room in the other one is let in; only then
/// does that channel lose another message, and the first one become full.
#[test]
fn room_is_found_though_others_are_let_in() {
    check(3, || {
        let ((one, from_one), (two, from_two)) = (bounded(1), bounded(1));
        two.send(1).unwrap();
        let (to_one, to_two) = (one.clone(), two.clone());
        let waits = thread::spawn(move || {
            to_two.send(2).unwrap();
            to_two
        });
        let mover = thread::spawn(move || {
            assert_eq!((from_two.recv(), from_two.recv()), (Ok(1), Ok(2)));
            let _ = to_one.try_send(3);
            (from_two, to_one)
        });
        assert!(finds_room([&two, &one], By::Stamps));
        drop((mover.join().unwrap(), waits.join().unwrap(), from_one));
    });
}

/// A channel of capacity 1 is either full or not.
#[test]
fn one_of_both_ends_is_found() {
    for by in ALL {
        check(3, move || {
            let (sender, receiver) = bounded(1);
            let (to, from) = (sender.clone(), receiver.clone());
            let mover = thread::spawn(move || {
                let _ = to.try_send(1);
                let _ = from.try_recv();
                (to, from)
            });
            let mut select = Select::new_biased();
            select.recv(&receiver);
            select.send(&sender);
            assert!(finds(select, by));
            drop(mover.join().unwrap());
        });
    }
}

/// A sender waits at one of two channels of capacity 0. It is met after another sender has arrived
/// at the other channel.
#[test]
fn a_sender_that_waits_is_found() {
    check(2, || {
        let ((one, from_one), (two, from_two)) = (bounded(0), bounded(0));
        let senders = [(one, 1), (two, 2)].map(|(sender, message)| {
            thread::spawn(move || {
                let _ = sender.send(message);
            })
        });
        let is_there = |receiver: &Receiver<u32>| {
            let mut select = Select::new_biased();
            select.recv(receiver);
            select.ready();
        };
        is_there(&from_one);
        let (first, second) = (from_one.clone(), from_two.clone());
        let mover = thread::spawn(move || {
            is_there(&second);
            let _ = first.try_recv();
        });
        assert!(finds_message([&from_two, &from_one], By::Stamps));
        mover.join().unwrap();
        drop((from_one, from_two));
        senders.into_iter().for_each(|sender| sender.join().unwrap());
    });
}

/// The same with receivers, and a select that sends.
#[test]
fn a_receiver_that_waits_is_found() {
    check(2, || {
        let ((one, from_one), (two, from_two)) = (bounded(0), bounded(0));
        let receivers = [from_one, from_two].map(|receiver| {
            thread::spawn(move || {
                let _ = receiver.recv();
            })
        });
        let is_there = |sender: &Sender<u32>| {
            let mut select = Select::new_biased();
            select.send(sender);
            select.ready();
        };
        is_there(&one);
        let (first, second) = (one.clone(), two.clone());
        let mover = thread::spawn(move || {
            is_there(&second);
            let _ = first.try_send(1);
        });
        assert!(finds_room([&two, &one], By::Stamps));
        mover.join().unwrap();
        drop((one, two));
        receivers.into_iter().for_each(|receiver| receiver.join().unwrap());
    });
}

/// Two threads send to each other, and then look: at least one of them finds a message.
fn one_of_two_finds(looks: fn(&Receiver<u32>, &Receiver<u32>) -> bool) {
    check(3, move || {
        let ((one, from_one), (two, from_two)) = (unbounded(), unbounded());
        let other = thread::spawn(move || {
            let (idle, from_idle) = unbounded();
            one.send(1).unwrap();
            let has_found = looks(&from_two, &from_idle);
            (has_found, one, from_two, idle)
        });
        let (idle, from_idle) = unbounded();
        two.send(2).unwrap();
        let mine = looks(&from_one, &from_idle);
        let (others, ..) = other.join().unwrap();
        drop((idle, two));
        assert!(mine || others);
    });
}

#[test]
fn of_two_that_send_and_select_one_finds_a_message() {
    one_of_two_finds(|one, other| finds_message([one, other], By::Ready));
}

#[test]
fn of_two_that_send_and_receive_one_finds_a_message() {
    one_of_two_finds(|one, _| one.try_recv().is_ok());
}

/// The same with room: both threads receive, and then send to the channel from which the other one
/// has received.
#[test]
fn of_two_that_receive_and_send_one_finds_room() {
    check(3, || {
        let ((one, from_one), (two, from_two)) = (bounded(1), bounded(1));
        one.send(1).unwrap();
        two.send(2).unwrap();
        let (to_one, to_two) = (one.clone(), two.clone());
        let other = thread::spawn(move || {
            from_one.try_recv().unwrap();
            let is_sent = to_two.try_send(3).is_ok();
            (is_sent, from_one, to_two)
        });
        from_two.try_recv().unwrap();
        let mine = to_one.try_send(4).is_ok();
        let (others, ..) = other.join().unwrap();
        drop((one, two));
        assert!(mine || others);
    });
}
