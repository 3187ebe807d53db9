//! What can be done with the handles of a channel, whatever it keeps.

use super::as_crossbeam;
use std::time::{Duration, Instant};

as_crossbeam! {
    fn what_many_send_many_receive(crowd) {
        for bound in [None, Some(0), Some(1), Some(3), Some(1_000)] {
            let (sender, receiver) = bound.map_or_else(channel::unbounded, channel::bounded);
            let members: Vec<_> = (0..6)
                .map(|number| {
                    let (sender, receiver) = (sender.clone(), receiver.clone());
                    crowd.spawn(number / 2, move || {
                        if number % 2 == 0 {
                            drop(receiver);
                            (0..40).for_each(|round| sender.send((number / 2, round)).unwrap());
                            return Vec::new();
                        }
                        drop(sender);
                        receiver.into_iter().collect::<Vec<_>>()
                    })
                })
                .collect();
            drop((sender, receiver));
            let mut all = Vec::new();
            for mut got in members.into_iter().map(|member| member.join()) {
                for number in 0..3 {
                    let of_one = got.iter().filter(|(from, _)| *from == number).map(|(_, round)| *round);
                    assert!(of_one.is_sorted(), "each one's come in order");
                }
                all.append(&mut got);
            }
            all.sort_unstable();
            assert!(all.into_iter().eq((0..3).flat_map(|number| (0..40).map(move |round| (number, round)))));
        }
    }

    fn trying_says_what_is_there(_crowd) {
        use channel::{TryRecvError, TrySendError};
        let (sender, receiver) = channel::bounded(2);
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
        assert_eq!((sender.try_send(1), sender.try_send(2)), (Ok(()), Ok(())));
        assert_eq!(sender.try_send(3), Err(TrySendError::Full(3)));
        assert_eq!(receiver.try_recv(), Ok(1));
        assert_eq!(sender.try_send(4), Ok(()));
        assert_eq!((receiver.try_recv(), receiver.try_recv()), (Ok(2), Ok(4)));
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
        drop(sender);
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));

        let (sender, receiver) = channel::bounded(0);
        assert_eq!(sender.try_send(1), Err(TrySendError::Full(1)));
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
        drop(receiver);
        assert_eq!(sender.try_send(2), Err(TrySendError::Disconnected(2)));

        let (sender, receiver) = channel::unbounded();
        (0..100).for_each(|number| sender.try_send(number).unwrap());
        assert!((0..100).all(|number| receiver.try_recv() == Ok(number)));
        drop(receiver);
        assert_eq!(sender.try_send(2), Err(TrySendError::Disconnected(2)));
    }

    /// In a rendezvous, trying succeeds if the other one waits.
    fn trying_meets_who_waits(crowd) {
        let (sender, receiver) = channel::bounded(0);
        let copy = receiver.clone();
        let waits = crowd.spawn(1, move || copy.recv());
        while sender.try_send(5).is_err() {
            super::pause();
        }
        assert_eq!(waits.join(), Ok(5));
        let waits = crowd.spawn(1, move || sender.send(6));
        loop {
            match receiver.try_recv() {
                Ok(got) => break assert_eq!(got, 6),
                Err(error) => assert!(error.is_empty() || waits.is_finished()),
            }
            super::pause();
        }
        assert_eq!(waits.join(), Ok(()));
    }

    fn counts_of_messages_are_told(_crowd) {
        for bound in [1, 2, 7, 40, 1_000] {
            let (sender, receiver) = channel::bounded(bound);
            let check = |len: usize| {
                assert_eq!((sender.len(), receiver.len()), (len, len));
                assert_eq!((sender.is_empty(), receiver.is_empty()), (len == 0, len == 0));
                assert_eq!((sender.is_full(), receiver.is_full()), (len == bound, len == bound));
                assert_eq!((sender.capacity(), receiver.capacity()), (Some(bound), Some(bound)));
            };
            // Around the ring, and beyond a block.
            for _ in 0..3 {
                for len in 0..bound {
                    check(len);
                    sender.send(len).unwrap();
                }
                for len in (1..=bound).rev() {
                    check(len);
                    assert_eq!(receiver.recv(), Ok(bound - len));
                }
            }
        }
        let (sender, receiver) = channel::unbounded();
        (0..100).for_each(|number| sender.send(number).unwrap());
        assert_eq!((sender.len(), receiver.len(), sender.capacity(), receiver.capacity()), (100, 100, None, None));
        assert!(!sender.is_full() && !receiver.is_full() && !sender.is_empty() && !receiver.is_empty());
        assert_eq!((receiver.try_iter().count(), sender.len(), sender.is_empty()), (100, 0, true));
        let (sender, receiver) = channel::bounded::<u8>(0);
        assert_eq!((sender.len(), receiver.len(), sender.capacity(), receiver.capacity()), (0, 0, Some(0), Some(0)));
        assert!(sender.is_full() && receiver.is_full() && sender.is_empty() && receiver.is_empty());
    }

    fn time_limits_end_waits(_crowd) {
        use channel::{RecvTimeoutError, SendTimeoutError};
        let past = Instant::now();
        for bound in [0, 1, 40] {
            let (sender, receiver) = channel::bounded(bound);
            for time in [Duration::ZERO, Duration::from_nanos(1), Duration::from_millis(1)] {
                assert_eq!(receiver.recv_timeout(time), Err(RecvTimeoutError::Timeout));
            }
            assert_eq!(receiver.recv_deadline(past), Err(RecvTimeoutError::Timeout));
            assert_eq!(receiver.recv_deadline(Instant::now()), Err(RecvTimeoutError::Timeout));
            (0..bound).for_each(|number| sender.send_timeout(number, Duration::ZERO).unwrap());
            for time in [Duration::ZERO, Duration::from_nanos(1), Duration::from_millis(1)] {
                assert_eq!(sender.send_timeout(99, time), Err(SendTimeoutError::Timeout(99)));
            }
            assert_eq!(sender.send_deadline(98, past), Err(SendTimeoutError::Timeout(98)));
            let soon = Instant::now() + Duration::from_millis(1);
            assert_eq!(sender.send_deadline(97, soon), Err(SendTimeoutError::Timeout(97)));
            assert!((0..bound).all(|number| receiver.recv_deadline(past) == Ok(number)), "what is there, is there");
            drop(receiver);
            assert_eq!(sender.send_timeout(3, Duration::ZERO), Err(SendTimeoutError::Disconnected(3)));
            assert_eq!(sender.send_deadline(4, past), Err(SendTimeoutError::Disconnected(4)));
            let (sender, receiver) = channel::bounded::<u8>(bound);
            drop(sender);
            assert_eq!(receiver.recv_timeout(Duration::MAX), Err(RecvTimeoutError::Disconnected));
            assert_eq!(receiver.recv_timeout(Duration::ZERO), Err(RecvTimeoutError::Disconnected));
            assert_eq!(receiver.recv_deadline(past), Err(RecvTimeoutError::Disconnected));
        }
    }

    fn the_longest_time_is_for_ever(crowd) {
        for bound in [0, 1, 40] {
            let (sender, receiver) = channel::bounded(bound);
            let copy = receiver.clone();
            let waits = crowd.spawn(1, move || copy.recv_timeout(Duration::MAX));
            super::pause();
            sender.send_timeout(7, Duration::MAX).unwrap();
            assert_eq!(waits.join(), Ok(7));
            (0..bound).for_each(|number| sender.send(number).unwrap());
            let copy = sender.clone();
            let waits = crowd.spawn(1, move || copy.send_timeout(bound, Duration::MAX));
            super::pause();
            let late = Instant::now() + Duration::from_secs(60);
            assert!((0..=bound).all(|number| receiver.recv_deadline(late) == Ok(number)));
            assert_eq!(waits.join(), Ok(()));
        }
    }

    fn iterators_end_with_the_channel_or_with_the_messages(crowd) {
        let (sender, receiver) = channel::bounded(2);
        let sends = crowd.spawn(1, move || (0..10).for_each(|number| sender.send(number).unwrap()));
        let first: channel::Iter<'_, i32> = receiver.iter();
        assert_eq!(first.take(3).collect::<Vec<_>>(), [0, 1, 2]);
        let mut second = (&receiver).into_iter();
        assert_eq!((second.next(), second.next()), (Some(3), Some(4)));
        let mut all: channel::IntoIter<i32> = receiver.into_iter();
        assert_eq!(all.by_ref().collect::<Vec<_>>(), [5, 6, 7, 8, 9]);
        assert_eq!((all.next(), all.next()), (None, None));
        sends.join();

        let (sender, receiver) = channel::unbounded();
        (0..3).for_each(|number| sender.send(number).unwrap());
        let mut there: channel::TryIter<'_, i32> = receiver.try_iter();
        assert_eq!((there.next(), there.next(), there.next(), there.next()), (Some(0), Some(1), Some(2), None));
        sender.send(4).unwrap();
        assert_eq!((there.next(), there.next()), (Some(4), None));
        let debugs = [
            format!("{:?}", receiver.try_iter()),
            format!("{:?}", receiver.iter()),
            format!("{:?} {:?}", sender, receiver),
            format!("{:?}", receiver.clone().into_iter()),
        ];
        assert_eq!(debugs, ["TryIter { .. }", "Iter { .. }", "Sender { .. } Receiver { .. }", "IntoIter { .. }"]);
    }

    fn handles_know_their_channel(_crowd) {
        let ends = [channel::unbounded::<u8>(), channel::bounded(0), channel::bounded(1), channel::bounded(1)];
        for (i, (sender, receiver)) in ends.iter().enumerate() {
            for (j, (other_sender, other_receiver)) in ends.iter().enumerate() {
                assert_eq!(sender.same_channel(&other_sender.clone()), i == j);
                assert_eq!(receiver.same_channel(&other_receiver.clone()), i == j);
            }
        }
    }

    fn handles_are_shared_by_reference(crowd) {
        fn is_shared<T: Send + Sync + std::panic::UnwindSafe + std::panic::RefUnwindSafe>() {}
        is_shared::<(channel::Sender<std::cell::Cell<u8>>, channel::Receiver<std::cell::Cell<u8>>)>();
        let ends = std::sync::Arc::new(channel::bounded(3));
        let got = crowd.all(6, move |number| {
            if number % 2 == 0 {
                (0..20).for_each(|round| ends.0.send(round).unwrap());
                0
            } else {
                ends.1.iter().take(20).sum::<u32>()
            }
        });
        assert_eq!(got.into_iter().sum::<u32>(), 3 * 190);
    }
}

/// Crossbeam panics or aborts here, for want of memory.
#[test]
fn huge_capacities_are_as_good_as_any() {
    use sinew::channel::{TryRecvError, bounded};
    fn one<T: PartialEq + std::fmt::Debug>(cap: usize, message: impl Fn() -> T) {
        let (sender, receiver) = bounded(cap);
        assert!(!sender.is_full() && receiver.is_empty());
        (0..100).for_each(|_| sender.send(message()).unwrap());
        assert_eq!((sender.len(), sender.is_full()), (100, false));
        assert!((0..100).all(|_| receiver.try_recv().as_ref() == Ok(&message())));
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    }
    for cap in [usize::MAX, usize::MAX - 1, usize::MAX / 2 + 1, usize::MAX / 2, usize::MAX / 8 + 1, 1 << 40] {
        one(cap, || ());
        one(cap, || 7_u8);
        one(cap, || [7_u64; 9]);
    }
}
