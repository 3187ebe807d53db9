//! What can be written as arms.

use super::{as_crossbeam, pause};
use std::time::Duration;

/// Handles may be what a function returns, or part of something else.
struct Ends<S, R> {
    sender: S,
    receivers: Vec<R>,
}

impl<S, R> Ends<S, R> {
    fn sender(&self) -> &S {
        &self.sender
    }
}

as_crossbeam! {
    fn arms_end_with_commas_or_blocks(_crowd) {
        let (sender, receiver) = channel::bounded(1);
        channel::select! { send(sender, 1) -> sent => sent.unwrap() }
        channel::select! { recv(receiver) -> got => assert_eq!(got, Ok(1)), }
        channel::select! {
            recv(receiver) -> _ => { unreachable!() }
            send(sender, 2) -> sent => { sent.unwrap() }
        }
        channel::select! {
            recv(receiver,) -> got => { assert_eq!(got, Ok(2)) },
            send(sender, 3,) -> _ => { unreachable!() },
            default(Duration::MAX,) => { unreachable!() },
        }
        let chosen = channel::select! {
            default => "none",
            recv(receiver) -> _ => "one",
        };
        assert_eq!(chosen, "none");
        let chosen = channel::select! {
            recv(receiver) -> _ => "one",
            default(Duration::from_micros(10)) => "late"
        };
        assert_eq!(chosen, "late");
        assert_eq!(channel::select! { default => 5 }, 5);
        assert_eq!(channel::select! { default() => 5 }, 5);
        assert_eq!(channel::select! { default(Duration::from_micros(10)) => 6 }, 6);
        assert_eq!(channel::select_biased! { default => 7, }, 7);
        let closure = |is_sent: bool| if is_sent { 1 } else { 2 };
        let value = channel::select! { send(sender, 1) -> sent => closure(sent.is_ok()) } + 1;
        assert_eq!(value, 2);
    }

    fn arms_may_leave(_crowd) {
        fn returns(receiver: &channel::Receiver<u8>) -> u8 {
            channel::select! {
                recv(receiver) -> got => return got.unwrap(),
                default => {}
            }
            99
        }
        fn fails(receiver: &channel::Receiver<u8>) -> Result<u8, channel::RecvError> {
            channel::select! { recv(receiver) -> got => { let got = got?; Ok(got + 1) } }
        }
        let (sender, receiver) = channel::unbounded();
        assert_eq!(returns(&receiver), 99);
        (0..10).for_each(|number| sender.send(number).unwrap());
        assert_eq!(returns(&receiver), 0);
        assert_eq!(fails(&receiver), Ok(2));
        let mut odd = Vec::new();
        let left = 'outer: loop {
            for _ in 0..2 {
                channel::select! {
                    recv(receiver) -> got => match got.unwrap() {
                        9 => break 'outer "end",
                        even if even % 2 == 0 => continue 'outer,
                        one => { odd.push(one); continue },
                    },
                    default => break,
                }
            }
        };
        assert_eq!((left, odd), ("end", vec![3, 5, 7]));
        drop(sender);
        assert_eq!(fails(&receiver), Err(channel::RecvError));
    }

    fn handles_are_expressions(_crowd) {
        let (sender, receiver) = channel::bounded(4);
        let ends = Ends { sender, receivers: vec![receiver.clone(), receiver] };
        channel::select! { send(ends.sender, 1) -> sent => sent.unwrap() }
        channel::select! { send(&ends.sender, 2) -> sent => sent.unwrap() }
        channel::select! { send(ends.sender(), 3) -> sent => sent.unwrap() }
        channel::select! { send({ &ends.sender }, 4) -> sent => sent.unwrap() }
        channel::select! { recv(ends.receivers[1]) -> got => assert_eq!(got, Ok(1)) }
        channel::select! { recv(&ends.receivers[0]) -> got => assert_eq!(got, Ok(2)) }
        channel::select! { recv(&&ends.receivers[0]) -> got => assert_eq!(got, Ok(3)) }
        channel::select! { recv(if ends.receivers.is_empty() { unreachable!() } else { &ends.receivers[1] }) -> got => assert_eq!(got, Ok(4)) }
        let (maybe, never) = (None, channel::never::<u8>());
        channel::select! { recv(maybe.unwrap_or(&never)) -> _ => unreachable!(), default => {} }
        let shared = std::sync::Arc::new(ends);
        channel::select! { send(shared.sender, 5) -> sent => sent.unwrap() }
        channel::select! { recv(shared.receivers[0]) -> mut got => { got = got.map(|got| got + 1); assert_eq!(got, Ok(6)) } }
        // Whatever each is evaluated for is evaluated once.
        let mut times = 0;
        channel::select! {
            recv({ times += 1; &shared.receivers[0] }) -> _ => unreachable!(),
            default(Duration::from_micros(10)) => {}
        }
        assert_eq!(times, 1);
    }

    fn arms_may_have_messages_of_different_types(_crowd) {
        let (numbers, words) = (channel::unbounded::<u8>(), channel::unbounded::<String>());
        let (units, large) = (channel::unbounded::<()>(), channel::unbounded::<[u64; 20]>());
        let mut seen = [0; 4];
        for _ in 0..40 {
            channel::select! {
                send(numbers.0, 1) -> sent => sent.unwrap(),
                send(words.0, "word".to_owned()) -> sent => sent.unwrap(),
                send(units.0, ()) -> sent => sent.unwrap(),
                send(large.0, [3; 20]) -> sent => sent.unwrap(),
            }
            channel::select! {
                recv(numbers.1) -> got => { seen[0] += 1; assert_eq!(got, Ok(1)) }
                recv(words.1) -> got => { seen[1] += 1; assert_eq!(got.as_deref(), Ok("word")) }
                recv(units.1) -> got => { seen[2] += 1; assert_eq!(got, Ok(())) }
                recv(large.1) -> got => { seen[3] += 1; assert_eq!(got, Ok([3; 20])) }
            }
        }
        assert_eq!(seen.iter().sum::<u32>(), 40);
    }

    fn biased_arms_go_first(_crowd) {
        let (a, b) = (channel::unbounded(), channel::unbounded());
        (0..20).for_each(|number| { a.0.send(number).unwrap(); b.0.send(number).unwrap() });
        for _ in 0..20 {
            channel::select_biased! {
                recv(a.1) -> got => got.unwrap(),
                recv(b.1) -> _ => unreachable!(),
                default => unreachable!(),
            };
        }
        for _ in 0..20 {
            channel::select_biased! {
                recv(a.1) -> _ => unreachable!(),
                recv(b.1) -> got => got.unwrap(),
                send(a.0, 1) -> _ => unreachable!(),
                default(Duration::ZERO) => unreachable!(),
            };
        }
        let waits = channel::select_biased! { recv(a.1) -> _ => 0, recv(b.1) -> _ => 1, default(Duration::from_micros(10)) => 2 };
        assert_eq!(waits, 2);
    }

    fn twelve_arms_wait_at_once(crowd) {
        for bound in [None, Some(0), Some(1)] {
            let ends: Vec<_> = (0..12).map(|_| bound.map_or_else(channel::unbounded, channel::bounded)).collect();
            let (senders, r): (Vec<_>, Vec<_>) = ends.into_iter().unzip();
            let receives = crowd.spawn(1, move || {
                let mut counts = [0; 12];
                for _ in 0..36 {
                    let index = channel::select! {
                        recv(r[0]) -> got => got.unwrap(), recv(r[1]) -> got => got.unwrap(),
                        recv(r[2]) -> got => got.unwrap(), recv(r[3]) -> got => got.unwrap(),
                        recv(r[4]) -> got => got.unwrap(), recv(r[5]) -> got => got.unwrap(),
                        recv(r[6]) -> got => got.unwrap(), recv(r[7]) -> got => got.unwrap(),
                        recv(r[8]) -> got => got.unwrap(), recv(r[9]) -> got => got.unwrap(),
                        recv(r[10]) -> got => got.unwrap(), recv(r[11]) -> got => got.unwrap(),
                    };
                    counts[index] += 1;
                }
                counts
            });
            for _ in 0..3 {
                senders.iter().enumerate().for_each(|(index, sender)| sender.send(index).unwrap());
                pause();
            }
            assert_eq!(receives.join(), [3; 12]);
        }
    }

    /// As many as crossbeam's macro allows, and far more than have room without allocation.
    fn many_arms_wait_at_once(crowd) {
        for bound in [0, 1] {
            let ends: Vec<_> = (0..32).map(|_| channel::bounded(bound)).collect();
            let (senders, receivers): (Vec<_>, Vec<_>) = ends.into_iter().unzip();
            let receives = crowd.spawn(1, move || {
                let mut select = channel::Select::new();
                receivers.iter().for_each(|receiver| _ = select.recv(receiver));
                (0..64).for_each(|_| {
                    let operation = select.select();
                    let index = operation.index();
                    assert_eq!(operation.recv(&receivers[index]), Ok(index));
                });
            });
            for _ in 0..2 {
                let mut select = channel::Select::new();
                senders.iter().for_each(|sender| _ = select.send(sender));
                for _ in 0..32 {
                    let operation = select.select();
                    let index = operation.index();
                    operation.send(&senders[index], index).unwrap();
                    select.remove(index);
                }
            }
            receives.join();
        }
    }
}

/// Arms beyond any number of crossbeam's.
#[test]
fn thirty_two_arms_are_no_more_than_two() {
    let (sender, receiver) = sinew::channel::bounded(0);
    let never = sinew::channel::never::<u8>();
    let waits = std::thread::spawn(move || {
        macro_rules! arms {
            ($($arm:literal)*) => {
                sinew::select! { $(recv(if $arm == 31 { &receiver } else { &never }) -> got => { assert_eq!($arm, 31); got.unwrap() })* }
            };
        }
        arms!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31)
    });
    sender.send(4).unwrap();
    assert_eq!(waits.join().unwrap(), 4);
}
