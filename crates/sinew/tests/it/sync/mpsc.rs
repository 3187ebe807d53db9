//! Channels from many to one.

use super::super::crowd::{as_std, in_crowds};
use super::super::support::{Random, everywhere, pinned, quiet_panic, refused};
use sinew::fiber;
use sinew::sync::mpsc::{self, RecvTimeoutError, SendCancellableError, SendTimeoutError, TrySendError};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

as_std! {
    fn what_many_send_one_receives(crowd) {
        let (sender, receiver) = sync::mpsc::channel();
        let senders: Vec<_> = (0..8)
            .map(|number| {
                let sender = sender.clone();
                crowd.spawn(number, move || (0..100).for_each(|round| sender.send((number, round)).unwrap()))
            })
            .collect();
        drop(sender);
        let mut next = [0; 8];
        for (number, round) in receiver {
            assert_eq!(std::mem::replace(&mut next[number], round + 1), round, "each one's come in order");
        }
        assert_eq!(next, [100; 8]);
        senders.into_iter().for_each(|sender| sender.join());
    }

    fn one_with_a_bound_has_them_wait(crowd) {
        for bound in [0, 1, 3, 100] {
            let (sender, receiver) = sync::mpsc::sync_channel(bound);
            let senders: Vec<_> = (0..4)
                .map(|number| {
                    let sender = sender.clone();
                    crowd.spawn(number, move || (0..50).for_each(|round| sender.send((number, round)).unwrap()))
                })
                .collect();
            drop(sender);
            let mut next = [0; 4];
            for (number, round) in &receiver {
                assert_eq!(std::mem::replace(&mut next[number], round + 1), round);
            }
            assert_eq!(next, [50; 4]);
            senders.into_iter().for_each(|sender| sender.join());
        }
    }

    fn trying_says_what_is_there(_crowd) {
        use sync::mpsc::{TryRecvError, TrySendError};
        let (sender, receiver) = sync::mpsc::sync_channel(2);
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
        assert_eq!((sender.try_send(1), sender.try_send(2)), (Ok(()), Ok(())));
        assert_eq!(sender.try_send(3), Err(TrySendError::Full(3)));
        assert_eq!(receiver.try_recv(), Ok(1));
        assert_eq!(sender.try_send(4), Ok(()));
        assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [2, 4]);
        drop(sender);
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
        let (sender, receiver) = sync::mpsc::sync_channel(0);
        assert_eq!(sender.try_send(1), Err(TrySendError::Full(1)));
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
        drop(receiver);
        assert_eq!(sender.try_send(2), Err(TrySendError::Disconnected(2)));
    }

    fn the_end_of_either_side_is_told(crowd) {
        use sync::mpsc::{RecvError, SendError};
        let (sender, receiver) = sync::mpsc::channel();
        sender.clone().send(1).unwrap();
        sender.send(2).unwrap();
        drop(sender);
        assert_eq!((receiver.recv(), receiver.recv(), receiver.recv()), (Ok(1), Ok(2), Err(RecvError)));
        assert_eq!(receiver.iter().next(), None);

        let (sender, receiver) = sync::mpsc::channel::<u32>();
        let waits = crowd.spawn(1, move || receiver.recv());
        drop(sender);
        assert_eq!(waits.join(), Err(RecvError));

        for bound in [0, 1] {
            let (sender, receiver) = sync::mpsc::sync_channel(bound);
            (0..bound).for_each(|_| sender.send(7).unwrap());
            let waits = crowd.spawn(1, move || sender.send(8));
            drop(receiver);
            assert_eq!(waits.join(), Err(SendError(8)));
        }
        let (sender, receiver) = sync::mpsc::channel();
        drop(receiver);
        assert_eq!(sender.send(9), Err(SendError(9)));
    }

    fn waiting_for_a_message_ends_at_its_time(crowd) {
        use std::time::Duration;
        use sync::mpsc::RecvTimeoutError;
        for bound in [None, Some(0), Some(1)] {
            let (sender, receiver) = match bound {
                None => {
                    let (sender, receiver) = sync::mpsc::channel();
                    (Err(sender), receiver)
                }
                Some(bound) => {
                    let (sender, receiver) = sync::mpsc::sync_channel(bound);
                    (Ok(sender), receiver)
                }
            };
            for time in [Duration::ZERO, Duration::from_micros(200)] {
                assert_eq!(receiver.recv_timeout(time), Err(RecvTimeoutError::Timeout));
            }
            let sends = crowd.spawn(1, move || match sender {
                Ok(sender) => sender.send(5),
                Err(sender) => sender.send(5),
            });
            assert_eq!(receiver.recv_timeout(Duration::MAX), Ok(5));
            assert_eq!(receiver.recv_timeout(Duration::MAX), Err(RecvTimeoutError::Disconnected));
            sends.join().unwrap();
        }
    }

    fn messages_are_dropped_with_the_receiver(_crowd) {
        let message = sync::Arc::new(());
        let (sender, receiver) = sync::mpsc::channel();
        (0..100).for_each(|_| sender.send(message.clone()).unwrap());
        assert_eq!(receiver.try_iter().take(40).count(), 40);
        assert_eq!(sync::Arc::strong_count(&message), 61);
        drop(receiver);
        assert_eq!(sync::Arc::strong_count(&message), 1);
        drop(sender.send(message.clone()).unwrap_err());
        let (sender, receiver) = sync::mpsc::sync_channel(10);
        (0..10).for_each(|_| sender.send(message.clone()).unwrap());
        drop((sender, receiver));
        assert_eq!(sync::Arc::strong_count(&message), 1);
    }

    fn messages_of_any_size(_crowd) {
        let (sender, receiver) = sync::mpsc::sync_channel(3);
        (0..3).for_each(|_| sender.send(()).unwrap());
        assert!(sender.try_send(()).is_err());
        assert_eq!(receiver.try_iter().count(), 3);
        let (sender, receiver) = sync::mpsc::channel();
        (0..100).for_each(|_| sender.send(()).unwrap());
        assert_eq!(receiver.try_iter().count(), 100);
        let (sender, receiver) = sync::mpsc::channel();
        (0..100_u8).for_each(|number| sender.send([number; 1_024]).unwrap());
        assert!(receiver.try_iter().zip(0..).all(|(large, number)| large == [number; 1_024]));
    }

    fn traits_of_handles_are_std_s(_crowd) {
        fn is_shared<T: Send + Sync + std::panic::UnwindSafe + std::panic::RefUnwindSafe>() {}
        fn is_sent<T: Send + std::panic::UnwindSafe + std::panic::RefUnwindSafe>() {}
        is_shared::<sync::mpsc::Sender<std::cell::Cell<u32>>>();
        is_shared::<sync::mpsc::SyncSender<std::cell::Cell<u32>>>();
        is_sent::<sync::mpsc::Receiver<std::cell::Cell<u32>>>();
        let (sender, receiver) = sync::mpsc::sync_channel(1);
        assert_eq!(format!("{sender:?} {receiver:?}"), "SyncSender { .. } Receiver { .. }");
        sender.send(1).unwrap();
        assert_eq!(format!("{:?}", receiver.iter()), "Iter { rx: Receiver { .. } }");
        assert_eq!(format!("{:?}", receiver.into_iter()), "IntoIter { rx: Receiver { .. } }");
        let (sender, receiver) = sync::mpsc::channel::<std::rc::Rc<u32>>();
        sender.send(std::rc::Rc::new(5)).unwrap();
        assert_eq!(format!("{sender:?} {}", receiver.recv().unwrap()), "Sender { .. } 5");
    }

    fn a_message_whose_drop_panics_is_dropped_once(_crowd) {
        struct Panics(sync::Arc<sync::atomic::AtomicUsize>);
        impl Drop for Panics {
            fn drop(&mut self) {
                self.0.fetch_add(1, sync::atomic::Ordering::Relaxed);
                quiet_panic("while it is dropped");
            }
        }
        let drops = sync::Arc::new(sync::atomic::AtomicUsize::new(0));
        let (sender, receiver) = sync::mpsc::channel();
        sender.send(Panics(drops.clone())).unwrap();
        let dropped = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(receiver)));
        drop(sender);
        assert!(dropped.is_err());
        assert_eq!(drops.load(sync::atomic::Ordering::Relaxed), 1);
    }
}

/// A huge bound takes no memory before it is needed.
#[test]
fn a_bound_may_be_of_any_size() {
    for bound in [1 << 20, 1 << 40, usize::MAX] {
        let (sender, receiver) = mpsc::sync_channel(bound);
        (0..1_000_u64).for_each(|number| sender.send(number).unwrap());
        assert!(receiver.try_iter().eq(0..1_000));
    }
    let (sender, receiver) = mpsc::sync_channel::<[u64; 1_024]>(16);
    (0..16).for_each(|number| sender.send([number; 1_024]).unwrap());
    assert!(matches!(sender.try_send([0; 1_024]), Err(TrySendError::Full(_))));
    assert_eq!(receiver.try_iter().map(|large| large[1_023]).sum::<u64>(), 120);
}

/// With a bound beyond what is kept in a ring: those who wait for room are let in all the same.
#[test]
fn whoever_waits_for_room_among_large_messages_is_let_in() {
    in_crowds(|crowd| {
        let (sender, receiver) = mpsc::sync_channel::<[u64; 256]>(40);
        let senders: Vec<_> = (0..4)
            .map(|number| {
                let sender = sender.clone();
                crowd.spawn(number, move || (0..50).for_each(|round| sender.send([round; 256]).unwrap()))
            })
            .collect();
        drop(sender);
        assert_eq!(receiver.iter().map(|large| large[7]).sum::<u64>(), 4 * 49 * 25);
        senders.into_iter().for_each(|sender| sender.join());
    });
}

/// Messages are kept in blocks of 31, and two wait for room when the next one needs another block:
/// neither may be forgotten, nor passed by.
#[test]
fn whoever_waits_for_room_where_memory_is_needed_is_let_in_by_turns() {
    let runtime = pinned(1);
    runtime.run(|| {
        let (sender, receiver) = mpsc::sync_channel::<[u64; 512]>(62);
        (0..62).for_each(|number| sender.send([number; 512]).unwrap());
        let senders: Vec<_> = (62..65)
            .map(|number| {
                let sender = sender.clone();
                // It runs at once, until it waits.
                let builder = fiber::Builder::new().launch(fiber::Launch::Dispatch);
                builder.spawn(move || sender.send([number; 512]).unwrap()).unwrap()
            })
            .collect();
        assert_eq!(receiver.try_recv().unwrap()[0], 0);
        assert!(
            matches!(sender.try_send([0; 512]), Err(TrySendError::Full(_))),
            "the place is another one's"
        );
        drop(sender);
        assert!(receiver.iter().map(|message| message[511]).eq(1..65));
        senders.into_iter().for_each(|sender| sender.join().unwrap());
    });
}

#[test]
fn waiting_for_room_ends_at_its_time() {
    in_crowds(|crowd| {
        for bound in [0, 1] {
            let (sender, receiver) = mpsc::sync_channel(bound);
            (0..bound).for_each(|_| sender.send(0).unwrap());
            for time in [Duration::ZERO, Duration::from_micros(200)] {
                assert_eq!(sender.send_timeout(1, time), Err(SendTimeoutError::Timeout(1)));
            }
            assert_eq!(receiver.try_iter().count(), bound, "nothing is left of those who gave up");
            (0..bound).for_each(|_| sender.send(0).unwrap());
            let copy = sender.clone();
            let waits = crowd.spawn(1, move || copy.send_timeout(2, Duration::MAX));
            let late = receiver.recv_deadline(Instant::now() + Duration::from_secs(60));
            assert_eq!(late, Ok(if bound == 0 { 2 } else { 0 }));
            assert_eq!(waits.join(), Ok(()));
            drop(receiver);
            assert_eq!(sender.send_timeout(3, Duration::MAX), Err(SendTimeoutError::Disconnected(3)));
        }
    });
}

/// Both sides give up again and again, at any point: each message arrives once or comes back.
#[test]
fn giving_up_loses_no_message() {
    in_crowds(|crowd| {
        for bound in [0, 1, 2] {
            let (sender, receiver) = mpsc::sync_channel::<u64>(bound);
            let sent = Arc::new(AtomicUsize::new(0));
            let senders: Vec<_> = (0..4)
                .map(|number| {
                    let (sender, sent) = (sender.clone(), sent.clone());
                    crowd.spawn(number, move || {
                        let mut random = Random::new(number as u64);
                        for _ in 0..60 {
                            let time = Duration::from_micros(random.below(20));
                            let outcome = sender.send_timeout(1, time);
                            sent.fetch_add(usize::from(outcome.is_ok()), Ordering::Relaxed);
                        }
                    })
                })
                .collect();
            drop(sender);
            let (mut random, mut received) = (Random::new(9), 0);
            loop {
                match receiver.recv_timeout(Duration::from_micros(random.below(20))) {
                    Ok(one) => received += one as usize,
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => break,
                }
            }
            senders.into_iter().for_each(|sender| sender.join());
            assert_eq!(received, sent.load(Ordering::Relaxed));
        }
    });
}

#[test]
fn cancellation_ends_waits_that_can_say_so() {
    everywhere(|| {
        let (sender, receiver) = mpsc::sync_channel(1);
        let waits = fiber::spawn(move || {
            let stopped = receiver.recv_cancellable();
            (stopped, receiver)
        });
        fiber::yield_now();
        waits.cancel_with_reason("enough");
        let (stopped, receiver) = waits.join().unwrap();
        assert_eq!(stopped.unwrap_err().reason(), Some("enough"));
        sender.send(1).unwrap();
        let copy = sender.clone();
        let waits = fiber::spawn(move || copy.send_cancellable(2));
        fiber::yield_now();
        waits.cancel();
        match waits.join().unwrap().unwrap_err() {
            SendCancellableError::Stopped(2, stopped) => assert!(stopped.is_cancelled()),
            other => panic!("{other}"),
        }
        // Others do not hear of it.
        let deaf = fiber::spawn(move || sender.send(3));
        deaf.cancel();
        assert_eq!((receiver.recv(), receiver.recv()), (Ok(1), Ok(3)));
        deaf.join().unwrap().unwrap();
        drop(receiver);
    });
}

/// A receiver is cancelled while it is handed a message: it has it, or it is still there.
#[test]
fn a_cancel_that_meets_the_hand_over_loses_no_message() {
    everywhere(|| {
        for bound in [0, 1] {
            for round in 0..50 {
                let (sender, receiver) = mpsc::sync_channel(bound);
                let waits = Arc::new(fiber::spawn(move || {
                    let first = receiver.recv_cancellable();
                    first.unwrap_or_else(|_| receiver.recv())
                }));
                (0..round % 3).for_each(|_| fiber::yield_now());
                let copy = waits.clone();
                let canceller = fiber::spawn(move || copy.cancel());
                sender.send(round).unwrap();
                canceller.join().unwrap();
                assert_eq!(Arc::into_inner(waits).unwrap().join().unwrap(), Ok(round));
            }
        }
    });
}

/// Senders that wait for room get it in turn, even if another sender tries meanwhile.
#[test]
fn room_is_given_in_the_order_of_waiting() {
    let runtime = pinned(1);
    runtime.run(|| {
        let (sender, receiver) = mpsc::sync_channel(1);
        sender.send(0).unwrap();
        let senders: Vec<_> = (1..=5)
            .map(|number| {
                let sender = sender.clone();
                // It runs at once, until it waits.
                let builder = fiber::Builder::new().launch(fiber::Launch::Dispatch);
                builder.spawn(move || sender.send(number).unwrap()).unwrap()
            })
            .collect();
        assert_eq!(receiver.recv(), Ok(0));
        assert_eq!(sender.try_send(6), Err(TrySendError::Full(6)), "the place is the first one's who waits");
        assert!(receiver.iter().take(5).eq(1..=5));
        senders.into_iter().for_each(|sender| sender.join().unwrap());
    });
}

#[test]
fn a_wait_inside_no_suspend_panics_and_leaves_no_trace() {
    let runtime = pinned(1);
    runtime.run(|| {
        let (sender, receiver) = mpsc::sync_channel(1);
        refused(|| receiver.recv());
        sender.send(1).unwrap();
        refused(|| sender.send(2));
        assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [1]);
        fiber::no_suspend(|| sender.send(3).unwrap());
        assert_eq!(fiber::no_suspend(|| receiver.recv()), Ok(3));
    });
}

/// Destructors of thread-locals run when the thread's own block may be gone.
#[test]
fn a_thread_may_receive_while_it_ends() {
    struct Receives(mpsc::Receiver<u32>, mpsc::Sender<u32>);
    impl Drop for Receives {
        fn drop(&mut self) {
            self.1.send(self.0.recv().unwrap() + 1).unwrap();
        }
    }
    thread_local! { static RECEIVES: std::cell::RefCell<Option<Receives>> = const { std::cell::RefCell::new(None) }; }
    let (there, received) = mpsc::channel();
    let (back, answer) = mpsc::channel();
    let ends = std::thread::spawn(move || RECEIVES.set(Some(Receives(received, back))));
    there.send(1).unwrap();
    assert_eq!(answer.recv(), Ok(2));
    ends.join().unwrap();
}
