//! Messages of all sizes, and messages whose destructors do something.

use super::{Counted, as_crossbeam, pause};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Bytes. Less under the sanitizer, which has each copy of a message on the stack once more.
const LARGE: usize = if cfg!(sinew_tsan) { 4 * 1024 } else { 64 * 1024 };

/// Larger than a cache line, and aligned to more than one.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(align(256))]
struct Aligned(u64);

/// A payload whose destructor panics, if it is told to.
struct Bomb {
    is_live: bool,
    _counted: Counted,
}

impl Drop for Bomb {
    fn drop(&mut self) {
        assert!(!self.is_live, "a bomb");
    }
}

as_crossbeam! {
    fn messages_of_all_sizes_arrive_whole(crowd) {
        macro_rules! pass {
            ($make:expr) => {
                for bound in [None, Some(0), Some(1), Some(3), Some(1_000)] {
                    let (sender, receiver) = bound.map_or_else(channel::unbounded, channel::bounded);
                    let sends = crowd.spawn(1, move || {
                        for round in 0..6 {
                            let message = $make(round);
                            match round % 2 {
                                0 => sender.send(message).unwrap(),
                                _ => channel::select! { send(sender, message) -> sent => sent.unwrap() },
                            }
                        }
                    });
                    for round in 0..6 {
                        let got = match round % 3 {
                            0 => receiver.recv().unwrap(),
                            1 => receiver.recv_timeout(Duration::MAX).unwrap(),
                            _ => channel::select! { recv(receiver) -> got => got.unwrap() },
                        };
                        assert!(got == $make(round));
                    }
                    assert!(receiver.recv().is_err());
                    sends.join();
                }
            };
        }
        pass!(|_: u64| ());
        pass!(|round: u64| round as u8);
        pass!(|round: u64| [round; 5]);
        pass!(|round: u64| [round; 6]);
        pass!(|round: u64| Aligned(round));
        pass!(|round: u64| [round as u8; LARGE / 16]);
        pass!(|round: u64| vec![round; 1024]);
    }

    fn a_channel_that_is_dropped_drops_what_it_keeps(_crowd) {
        for bound in [None, Some(1), Some(3), Some(40), Some(5_000)] {
            for receiver_first in [false, true] {
                for many in [0, 1, 3, 40, 100] {
                    let alive = Arc::new(AtomicUsize::new(0));
                    let (sender, receiver) = bound.map_or_else(channel::unbounded, channel::bounded);
                    for number in 0..many {
                        let _ = sender.try_send(Counted::new(number, &alive));
                    }
                    let kept = many.min(bound.unwrap_or(many));
                    assert_eq!(alive.load(Ordering::Relaxed), kept);
                    let first = receiver.try_recv().ok();
                    assert!(first.as_ref().is_none_or(|first| first.number == 0));
                    drop(first);
                    let kept = kept.saturating_sub(1);
                    if receiver_first {
                        drop(receiver);
                        let left = alive.load(Ordering::Relaxed);
                        assert!(left == 0 || !channel::DROPS_WITH_RECEIVERS, "nobody can receive {left}");
                        assert!(sender.send(Counted::new(0, &alive)).is_err());
                        drop(sender);
                    } else {
                        drop(sender);
                        assert_eq!(alive.load(Ordering::Relaxed), kept, "somebody can receive them");
                        drop(receiver);
                    }
                    assert_eq!(alive.load(Ordering::Relaxed), 0);
                }
            }
        }
    }

    /// The messages of waiting senders belong to those senders.
    fn messages_that_wait_for_room_are_dropped_once(crowd) {
        for bound in [0, 1, 2] {
            let alive = Arc::new(AtomicUsize::new(0));
            let (sender, receiver) = channel::bounded(bound);
            let waits: Vec<_> = (0..5)
                .map(|number| {
                    let (sender, alive) = (sender.clone(), alive.clone());
                    crowd.spawn(number, move || match number % 2 {
                        0 => _ = sender.send(Counted::new(number, &alive)),
                        _ => _ = sender.send_timeout(Counted::new(number, &alive), Duration::from_micros(100)),
                    })
                })
                .collect();
            pause();
            drop(receiver.try_recv());
            drop((sender, receiver));
            waits.into_iter().for_each(|member| member.join());
            assert_eq!(alive.load(Ordering::Relaxed), 0);
        }
    }
}

/// The channel is in order again after a destructor has panicked, and the others have run. In
/// crossbeam, some are leaked.
#[test]
fn a_destructor_that_panics_does_no_harm() {
    use sinew::channel::{bounded, unbounded};
    for bound in [None, Some(5), Some(5_000)] {
        for receiver_first in [false, true] {
            for live in 0..5 {
                let alive = Arc::new(AtomicUsize::new(0));
                let (sender, receiver) = bound.map_or_else(unbounded, bounded);
                for number in 0..5 {
                    let bomb = Bomb { is_live: number == live, _counted: Counted::new(number, &alive) };
                    assert!(sender.send(bomb).is_ok());
                }
                let ends = catch_unwind(AssertUnwindSafe(|| {
                    if receiver_first {
                        drop(receiver);
                    } else {
                        drop(sender.clone());
                        let receiver = receiver;
                        // The last handle of all.
                        drop(sender);
                        drop(receiver);
                    }
                }));
                assert!(ends.is_err());
                assert_eq!(alive.load(Ordering::Relaxed), 0);
            }
        }
    }
}

/// A destructor that uses the channel which drops it.
#[test]
fn a_destructor_may_use_the_channel() {
    use sinew::channel::{Sender, unbounded};
    struct Sends(Option<Sender<Sends>>, Arc<AtomicUsize>);
    impl Drop for Sends {
        fn drop(&mut self) {
            self.1.fetch_add(1, Ordering::Relaxed);
            let sender = self.0.take();
            let refused = sender.map(|sender| sender.send(Self(None, self.1.clone())));
            assert!(refused.is_none_or(|refused| refused.is_err()));
        }
    }
    super::super::support::everywhere(|| {
        let drops = Arc::new(AtomicUsize::new(0));
        let (sender, receiver) = unbounded();
        for _ in 0..3 {
            assert!(sender.send(Sends(Some(sender.clone()), drops.clone())).is_ok());
        }
        drop(receiver);
        assert_eq!(drops.load(Ordering::Relaxed), 6);
    });
}

/// A ring of them would be larger than what a channel takes at once.
#[test]
fn large_messages_pass() {
    use sinew::channel::{bounded, unbounded};
    // Without optimisation there are many copies on the stack.
    const STACK: usize = 4 << 20;
    let receives = || {
        for bound in [None, Some(0), Some(1), Some(2)] {
            let (sender, receiver) = bound.map_or_else(unbounded, bounded);
            let sends = move || (0..4_u8).for_each(|round| sender.send([round; LARGE]).unwrap());
            let thread = std::thread::Builder::new().stack_size(STACK).spawn(sends).unwrap();
            for round in 0..4_u8 {
                let got = receiver.recv().unwrap();
                assert!(got.iter().all(|byte| *byte == round));
            }
            assert!(receiver.recv().is_err());
            thread.join().unwrap();
        }
    };
    let builder = sinew::fiber::Builder::new().stack_size(STACK);
    super::super::support::pinned(1).run(move || builder.spawn(receives).unwrap().join().unwrap());
}
