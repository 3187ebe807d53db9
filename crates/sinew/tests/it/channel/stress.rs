//! Many who send, receive, select, give up and are cancelled: each message arrives once, or comes
//! back, and those of one come in order.

use super::super::crowd::{Crowd, in_crowds};
use super::super::support::{Random, everywhere};
use super::{Counted, as_crossbeam};
use sinew::channel::{Select, SendCancellableError, bounded, unbounded};
use sinew::fiber;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

const BOUNDS: [Option<usize>; 5] = [None, Some(0), Some(1), Some(2), Some(33)];

as_crossbeam! {
    /// All ways of sending and receiving at once.
    fn each_message_arrives_once_and_in_order(crowd) {
        for (seed, bound) in super::stress::BOUNDS.into_iter().enumerate() {
            let (sender, receiver) = bound.map_or_else(channel::unbounded, channel::bounded);
            let alive = Arc::new(AtomicUsize::new(0));
            let members: Vec<_> = (0..8)
                .map(|number| {
                    let (sender, receiver, alive) = (sender.clone(), receiver.clone(), alive.clone());
                    crowd.spawn(number / 2, move || {
                        let mut random = Random::new((seed * 8 + number) as u64);
                        let time = |random: &mut Random| Duration::from_micros(random.below(30));
                        let (mut got, mut sent) = (Vec::new(), 0);
                        if number % 2 == 0 {
                            drop(receiver);
                            for round in 0..60 {
                                let message = (number, round, Counted::new(0, &alive));
                                let is_sent = match random.below(5) {
                                    0 => sender.send(message).is_ok(),
                                    1 => sender.try_send(message).is_ok(),
                                    2 => sender.send_timeout(message, time(&mut random)).is_ok(),
                                    3 => channel::select! { send(sender, message) -> sent => sent.is_ok() },
                                    _ => channel::select! {
                                        send(sender, message) -> sent => sent.is_ok(),
                                        default(time(&mut random)) => false,
                                    },
                                };
                                sent += usize::from(is_sent);
                            }
                            return (got, sent);
                        }
                        drop(sender);
                        loop {
                            let one = match random.below(5) {
                                0 => receiver.recv().map_err(|_| true),
                                1 => receiver.try_recv().map_err(|error| error.is_disconnected()),
                                2 => receiver.recv_timeout(time(&mut random)).map_err(|error| error.is_disconnected()),
                                3 => channel::select! { recv(receiver) -> one => one.map_err(|_| true) },
                                _ => channel::select! {
                                    recv(receiver) -> one => one.map_err(|_| true),
                                    recv(receiver) -> one => one.map_err(|_| true),
                                    default(time(&mut random)) => Err(false),
                                },
                            };
                            match one {
                                Ok((from, round, _)) => got.push((from, round)),
                                Err(true) => return (got, sent),
                                Err(false) => sinew::fiber::yield_now(),
                            }
                        }
                    })
                })
                .collect();
            drop((sender, receiver));
            let done: Vec<_> = members.into_iter().map(|member| member.join()).collect();
            super::stress::check(&done);
            assert_eq!(alive.load(Ordering::Relaxed), 0);
        }
    }
}

/// What each has received, and how many it has sent.
fn check(done: &[(Vec<(usize, u32)>, usize)]) {
    let mut all = HashMap::new();
    for (got, _) in done {
        let mut last = HashMap::new();
        for (from, round) in got {
            let before = last.insert(*from, *round);
            assert!(before.is_none_or(|before| before < *round), "those of one come in order");
            assert!(all.insert((*from, *round), ()).is_none(), "it came twice");
        }
    }
    assert_eq!(all.len(), done.iter().map(|(_, sent)| sent).sum::<usize>());
}

/// Selects over several channels of all kinds at once, on both sides.
#[test]
fn selects_over_many_channels_lose_nothing() {
    in_crowds(|crowd| {
        let ends: Vec<_> = BOUNDS.map(|bound| bound.map_or_else(unbounded, bounded)).into_iter().collect();
        let (senders, receivers): (Vec<_>, Vec<_>) = ends.into_iter().unzip();
        let members: Vec<_> = (0..6)
            .map(|number| {
                let (senders, receivers) = (senders.clone(), receivers.clone());
                crowd.spawn(number / 2, move || {
                    let mut sum = 0;
                    if number % 2 == 0 {
                        drop(receivers);
                        for round in 0..100 {
                            let mut select = Select::new();
                            senders.iter().for_each(|sender| _ = select.send(sender));
                            let operation = select.select();
                            let index = operation.index();
                            operation.send(&senders[index], number * 1_000 + round).unwrap();
                            sum += number * 1_000 + round;
                        }
                        return (sum, 0);
                    }
                    drop(senders);
                    let mut select = Select::new();
                    receivers.iter().for_each(|receiver| _ = select.recv(receiver));
                    let mut left = receivers.len();
                    while left > 0 {
                        let operation = select.select();
                        let index = operation.index();
                        match operation.recv(&receivers[index]) {
                            Ok(one) => sum += one,
                            Err(_) => {
                                select.remove(index);
                                left -= 1;
                            }
                        }
                    }
                    (0, sum)
                })
            })
            .collect();
        drop((senders, receivers));
        let sums: Vec<_> = members.into_iter().map(|member| member.join()).collect();
        assert_eq!(sums.iter().map(|sum| sum.0).sum::<usize>(), sums.iter().map(|sum| sum.1).sum::<usize>());
    });
}

/// The members of a ring pass on the tokens that they receive. No waiter is forgotten.
#[test]
fn tokens_go_around() {
    in_crowds(|crowd: Crowd| {
        for bound in [0, 1] {
            let ends = Arc::new((0..6).map(|_| bounded(bound)).collect::<Vec<_>>());
            let ring = ends.clone();
            let sums = crowd.all(6, move |number| {
                let (from, to) = (&ring[number].1, &ring[(number + 1) % 6].0);
                let mut has = (number % 2 == 0).then_some(0_u32);
                // Each member passes on 20 tokens; half of the members begin with one.
                let (mut passed, mut got) = (0, 0);
                while passed < 20 || got < 20 {
                    match has {
                        Some(token) if passed < 20 => {
                            to.send(token + 1).unwrap();
                            (has, passed) = (None, passed + 1);
                        }
                        _ => sinew::select! { recv(from) -> one => { has = Some(one.unwrap()); got += 1 } },
                    }
                }
                has.unwrap_or_default()
            });
            assert!(ends.iter().all(|(_, receiver)| receiver.is_empty()));
            assert!(sums.iter().any(|sum| *sum > 0));
        }
    });
}

/// Fibers are cancelled all the time, in waits that can say so.
#[test]
fn cancelled_waits_lose_nothing() {
    everywhere(|| {
        for bound in BOUNDS {
            let (sender, receiver) = bound.map_or_else(unbounded, bounded);
            let mut fibers = Vec::new();
            for number in 0..10_usize {
                let (sender, receiver) = (sender.clone(), receiver.clone());
                fibers.push(fiber::spawn(move || {
                    let (mut sent, mut got) = (0, 0);
                    for _ in 0..10 {
                        match number % 4 {
                            0 => match sender.send_cancellable(1) {
                                Ok(()) => sent += 1,
                                Err(SendCancellableError::Stopped(1, _)) => {}
                                Err(other) => panic!("{other}"),
                            },
                            1 => got += receiver.recv_cancellable().map_or(0, Result::unwrap),
                            2 => {
                                let mut select = Select::new();
                                select.send(&sender);
                                let selected = select.select_cancellable();
                                sent += selected.map_or(0, |it| it.send(&sender, 1).map_or(0, |()| 1));
                            }
                            _ => {
                                let mut select = Select::new();
                                select.recv(&receiver);
                                let selected = select.select_cancellable();
                                got += selected.map_or(0, |it| it.recv(&receiver).unwrap());
                            }
                        }
                    }
                    (sent, got)
                }));
                fiber::yield_now();
                fibers.iter().step_by(3).for_each(fiber::JoinHandle::cancel);
            }
            fibers.iter().for_each(fiber::JoinHandle::cancel);
            let done: Vec<(usize, usize)> = fibers.into_iter().map(|fiber| fiber.join().unwrap()).collect();
            let left: usize = receiver.try_iter().sum();
            let sum = |of: fn(&(usize, usize)) -> usize| done.iter().map(of).sum::<usize>();
            assert_eq!(sum(|one| one.0), sum(|one| one.1) + left);
        }
    });
}
