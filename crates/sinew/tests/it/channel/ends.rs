//! What happens when the last handle of a side goes, at whatever point.

use super::{as_crossbeam, pause};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

as_crossbeam! {
    fn the_end_of_either_side_is_told(_crowd) {
        use channel::{RecvError, SendError};
        for bound in [None, Some(0), Some(1), Some(2)] {
            let make = || bound.map_or_else(channel::unbounded, channel::bounded);
            let (sender, receiver) = make();
            let copy = sender.clone();
            drop(sender);
            assert!(receiver.try_recv().unwrap_err().is_empty(), "one is left");
            drop(copy);
            assert_eq!((receiver.recv(), receiver.recv()), (Err(RecvError), Err(RecvError)));
            assert_eq!((receiver.iter().next(), receiver.try_iter().next()), (None, None));

            let (sender, receiver) = make();
            let copy = receiver.clone();
            drop(receiver);
            assert!(bound == Some(0) || sender.try_send(1).is_ok(), "one is left");
            drop(copy);
            assert_eq!((sender.send(2), sender.send(3)), (Err(SendError(2)), Err(SendError(3))));
            assert_eq!(sender.send(4).unwrap_err().into_inner(), 4);
        }
    }

    fn what_was_sent_before_the_end_is_received(_crowd) {
        for bound in [None, Some(3), Some(40)] {
            let (sender, receiver) = bound.map_or_else(channel::unbounded, channel::bounded);
            (0..3).for_each(|number| sender.send(number).unwrap());
            drop(sender);
            assert_eq!((receiver.len(), receiver.recv(), receiver.try_recv()), (3, Ok(0), Ok(1)));
            assert_eq!(receiver.recv_timeout(Duration::ZERO), Ok(2));
            assert!(receiver.recv().is_err());
        }
    }

    fn all_who_wait_for_messages_hear_of_the_end(crowd) {
        for bound in [None, Some(0), Some(1)] {
            for pauses in 0..3 {
                let (sender, receiver) = bound.map_or_else(channel::unbounded::<u8>, channel::bounded);
                let waits: Vec<_> = (0..4)
                    .map(|number| {
                        let receiver = receiver.clone();
                        crowd.spawn(number, move || match number {
                            0 => receiver.recv().is_err(),
                            1 => receiver.recv_timeout(Duration::MAX).unwrap_err().is_disconnected(),
                            2 => receiver.iter().next().is_none(),
                            _ => channel::select! { recv(receiver) -> got => got.is_err() },
                        })
                    })
                    .collect();
                (0..pauses).for_each(|_| pause());
                drop(sender);
                assert!(waits.into_iter().all(|member| member.join()));
            }
        }
    }

    fn all_who_wait_for_room_get_their_messages_back(crowd) {
        for bound in [0, 1, 2] {
            for pauses in 0..3 {
                let (sender, receiver) = channel::bounded(bound);
                (0..bound).for_each(|_| sender.send(100).unwrap());
                let waits: Vec<_> = (0..4)
                    .map(|number| {
                        let sender = sender.clone();
                        crowd.spawn(number, move || match number {
                            0 | 1 => sender.send(number).unwrap_err().into_inner() == number,
                            2 => sender.send_timeout(2, Duration::MAX).unwrap_err() == channel::SendTimeoutError::Disconnected(2),
                            _ => channel::select! { send(sender, 3) -> sent => sent == Err(channel::SendError(3)) },
                        })
                    })
                    .collect();
                (0..pauses).for_each(|_| pause());
                drop(receiver);
                assert!(waits.into_iter().all(|member| member.join()));
                assert!(sender.is_empty() || !channel::DROPS_WITH_RECEIVERS, "what it kept was dropped");
            }
        }
    }

    /// Senders end while messages are still on their way, and receivers while others wait for them.
    fn sides_that_go_at_any_moment_lose_nothing_but_what_is_left(crowd) {
        for bound in [None, Some(0), Some(1), Some(2)] {
            for round in 0..6 {
                let (sender, receiver) = bound.map_or_else(channel::unbounded, channel::bounded);
                let alive = Arc::new(AtomicUsize::new(0));
                let members: Vec<_> = (0..6)
                    .map(|number| {
                        let (sender, receiver, count) = (sender.clone(), receiver.clone(), alive.clone());
                        crowd.spawn(number / 2, move || {
                            let mut done = 0;
                            if number % 2 == 0 {
                                drop(receiver);
                                while done < 20 && sender.send(super::Counted::new(done, &count)).is_ok() {
                                    done += 1;
                                }
                            } else {
                                drop(sender);
                                while done < round * 4 && receiver.recv().is_ok() {
                                    done += 1;
                                }
                            }
                            done
                        })
                    })
                    .collect();
                drop((sender, receiver));
                let done: Vec<_> = members.into_iter().map(|member| member.join()).collect();
                let count_of = |kind| done.iter().skip(kind).step_by(2).sum::<usize>();
                assert!(count_of(0) >= count_of(1), "{done:?}");
                assert_eq!(alive.load(Ordering::Relaxed), 0);
            }
        }
    }

    /// The last handle of a side goes while the other side tries all the time.
    fn whoever_sends_as_the_last_receiver_goes_knows_what_became_of_it(crowd) {
        for bound in [None, Some(0), Some(1)] {
            for _ in 0..10 {
                let (sender, receiver) = bound.map_or_else(channel::unbounded, channel::bounded);
                let alive = Arc::new(AtomicUsize::new(0));
                let count = alive.clone();
                let sends = crowd.spawn(1, move || {
                    let mut sent = 0;
                    while sender.send(super::Counted::new(sent, &count)).is_ok() {
                        sent += 1;
                        // One that never waits would keep its worker.
                        sinew::fiber::yield_now();
                    }
                    sent
                });
                let first = receiver.recv().unwrap();
                assert_eq!(first.number, 0);
                drop(first);
                drop(receiver);
                assert!(sends.join() >= 1);
                assert_eq!(alive.load(Ordering::Relaxed), 0);
            }
        }
    }
}
