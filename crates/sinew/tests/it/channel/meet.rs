//! Selects that meet others: at a rendezvous, at places that are kept for messages, and without
//! doing what they have selected.

use super::super::crowd::in_crowds;
use super::super::support::{message, panics_with, quiet_panic};
use super::{Counted, NOT_COMPLETED, as_crossbeam, pause};
use sinew::channel::{Select, bounded};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

const SOON: Duration = Duration::from_micros(300);
/// How many messages a member sends.
const ROUNDS: usize = 5;

as_crossbeam! {
    fn nobody_meets_itself(crowd) {
        let (sender, receiver) = channel::bounded(0);
        channel::select! {
            send(sender, 1) -> _ => panic!("nobody is there"),
            recv(receiver) -> _ => panic!("nobody is there"),
            default => {}
        }
        channel::select! {
            recv(receiver) -> _ => panic!("nobody is there"),
            send(sender, 1) -> _ => panic!("nobody is there"),
            default(SOON) => {}
        }
        // But another one who does the same.
        let roles = crowd.all(2, move |number| channel::select! {
            send(sender, number) -> sent => { sent.unwrap(); None }
            recv(receiver) -> got => Some(got.unwrap()),
        });
        assert!(matches!(roles[..], [None, Some(0)] | [Some(1), None]), "{roles:?}");
    }

    /// An even number of members, each of which may send or receive, meet in pairs.
    fn many_who_do_either_meet_in_pairs(crowd) {
        let (sender, receiver) = channel::bounded(0);
        let roles = crowd.all(8, move |number| {
            let (mut sent, mut got) = (0, 0);
            for _ in 0..20 {
                channel::select! {
                    send(sender, number) -> result => { result.unwrap(); sent += 1 }
                    recv(receiver) -> result => { assert_ne!(result.unwrap(), number); got += 1 }
                    // The last member, which has no partner left.
                    default(Duration::from_millis(100)) => break,
                }
            }
            (sent, got)
        });
        let sum = |of: fn(&(u32, u32)) -> u32| roles.iter().map(of).sum::<u32>();
        assert_eq!(sum(|role| role.0), sum(|role| role.1), "{roles:?}");
        assert!(sum(|role| role.0) > 0);
    }

    fn two_selects_meet_over_two_channels(crowd) {
        let (there, back) = (channel::bounded(0), channel::bounded(0));
        let ends = Arc::new((there, back));
        let rounds = crowd.all(2, move |number| {
            let ((a, b), (c, d)) = &*ends;
            let mut both = [0; 2];
            for round in 0..50 {
                match number {
                    0 => channel::select! {
                        send(a, round) -> sent => { sent.unwrap(); both[0] += 1 }
                        recv(d) -> got => { assert_eq!(got, Ok(round)); both[1] += 1 }
                    },
                    _ => channel::select! {
                        recv(b) -> got => { assert_eq!(got, Ok(round)); both[0] += 1 }
                        send(c, round) -> sent => { sent.unwrap(); both[1] += 1 }
                    },
                }
            }
            both
        });
        assert_eq!(rounds[0], rounds[1]);
        assert_eq!(rounds[0].iter().sum::<u32>(), 50);
    }

    /// A message is made when it is clear that it will be sent.
    fn messages_are_made_for_whom_they_are_sent_to(crowd) {
        for bound in [None, Some(0), Some(1)] {
            let ends = [(); 3].map(|()| bound.map_or_else(channel::unbounded, channel::bounded));
            let [(a, from_a), (b, from_b), (c, from_c)] = ends;
            let receives = crowd.spawn(1, move || {
                (0..30).map(|_| channel::select! {
                    recv(from_a) -> got => got.unwrap(),
                    recv(from_b) -> got => got.unwrap(),
                    recv(from_c) -> got => got.unwrap(),
                }).collect::<Vec<usize>>()
            });
            let mut made = 0;
            for _ in 0..30 {
                let mut make = || { made += 1; made };
                channel::select! {
                    send(a, make()) -> sent => sent.unwrap(),
                    send(b, make()) -> sent => sent.unwrap(),
                    send(c, make()) -> sent => sent.unwrap(),
                }
            }
            let mut got = receives.join();
            got.sort_unstable();
            assert!(got.into_iter().eq(1..=30));
            assert_eq!(made, 30);
        }
    }

    /// A message may take its time to be made: others go on meanwhile, of which each is made to
    /// wait for one. Not by yields: with more threads than processors each may take as long as a
    /// time slice.
    fn a_message_may_be_long_in_the_making(crowd) {
        for bound in [0, 1, 2] {
            let (sender, receiver) = channel::bounded(bound);
            let ((ask, asked), (answer, answers)) = (channel::bounded(0), channel::bounded(0));
            let other = crowd.spawn(1, move || asked.iter().for_each(|()| answer.send(()).unwrap()));
            let members: Vec<_> = (0..4)
                .map(|number| {
                    let (sender, ask, answers) = (sender.clone(), ask.clone(), answers.clone());
                    crowd.spawn(number, move || for round in 0..ROUNDS {
                        let make = || {
                            ask.send(()).unwrap();
                            answers.recv().unwrap();
                            (number, round)
                        };
                        match number {
                            0 => sender.send((0, round)).unwrap(),
                            _ => channel::select! { send(sender, make()) -> sent => sent.unwrap() },
                        }
                    })
                })
                .collect();
            drop((sender, ask));
            let mut next = [0; 4];
            while let Ok((number, round)) = receiver.recv_timeout(Duration::MAX) {
                assert_eq!(std::mem::replace(&mut next[number], round + 1), round);
            }
            assert_eq!(next, [ROUNDS; 4]);
            members.into_iter().for_each(|member| member.join());
            other.join();
        }
    }
}

/// Selects sending, and does not do it. Crossbeam is out of order after that.
fn abandons(select: &mut Select<'_>) {
    panics_with(NOT_COMPLETED, || drop(select.select()));
}

#[test]
fn what_is_not_done_takes_no_room() {
    in_crowds(|crowd| {
        for bound in [1, 2, 40] {
            let (sender, receiver) = bounded(bound);
            let mut select = Select::new();
            select.send(&sender);
            for _ in 0..50 {
                abandons(&mut select);
                assert_eq!((sender.len(), sender.is_full()), (0, false));
            }
            (0..bound).for_each(|number| sender.try_send(number).unwrap());
            // One that is let in and does nothing leaves its place to the next one.
            let (gives_up, waits) = (sender.clone(), sender.clone());
            let gives_up = crowd.spawn(1, move || {
                let mut select = Select::new();
                select.send(&gives_up);
                abandons(&mut select);
            });
            pause();
            let waits = crowd.spawn(2, move || waits.send(bound));
            pause();
            assert!((0..=bound).all(|number| receiver.recv_timeout(Duration::from_secs(30)) == Ok(number)));
            gives_up.join();
            waits.join().unwrap();
        }
    });
}

#[test]
fn who_was_promised_a_message_that_never_comes_goes_on() {
    in_crowds(|crowd| {
        for how in 0..4 {
            let (sender, receiver) = bounded(0);
            let waits = crowd.spawn(1, move || match how {
                0 => receiver.recv().unwrap(),
                1 => receiver.recv_timeout(Duration::MAX).unwrap(),
                2 => sinew::select! { recv(receiver) -> got => got.unwrap() },
                _ => loop {
                    if let Ok(got) = receiver.try_recv() {
                        break got;
                    }
                    pause();
                },
            });
            let mut select = Select::new();
            select.send(&sender);
            abandons(&mut select);
            sender.send(5).unwrap();
            assert_eq!(waits.join(), 5);
        }
    });
}

#[test]
fn a_message_that_is_not_taken_is_dropped() {
    in_crowds(|_| {
        for bound in [1, 40] {
            let alive = Arc::new(AtomicUsize::new(0));
            let (sender, receiver) = bounded(bound);
            sender.send(Counted::new(1, &alive)).unwrap();
            let mut select = Select::new();
            select.recv(&receiver);
            abandons(&mut select);
            assert_eq!((receiver.len(), alive.load(Ordering::Relaxed)), (0, 0));
        }
    });
}

/// The panic in the making of a message is the caller's own, and the channel is as before.
#[test]
fn a_message_that_panics_in_the_making_is_not_sent() {
    in_crowds(|crowd| {
        for bound in [0, 1] {
            let (sender, receiver) = bounded::<u8>(bound);
            let waits = crowd.spawn(1, move || receiver.recv());
            let panic = catch_unwind(AssertUnwindSafe(|| {
                let make = || if bound < 2 { quiet_panic("no message") } else { 1 };
                sinew::select! { send(sender, make()) -> _ => unreachable!() }
            }));
            assert_eq!(message(&*panic.unwrap_err()), "no message");
            sender.send(3).unwrap();
            assert_eq!(waits.join(), Ok(3));
        }
    });
}
