//! Which receivers get which signals.

use super::super::crowd::Member;
use super::super::support::{everywhere, in_child, migrating, pinned, stderr};
use super::process::{raise, raise_together, send};
use super::{alone, alone_in_crowds, give_way, threads};
use sinew::channel::{self, RecvTimeoutError, Select, TryRecvError};
use sinew::signal::{self, Signal, Signals};
use sinew::{Runtime, fiber, select};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

const LONG: Duration = Duration::from_secs(3_600);

/// From now on none of these ends this process: one that was sent to it may come after the channel
/// is gone that it was for.
fn hold(signals: &[Signal]) {
    static HELD: OnceLock<Signals> = OnceLock::new();
    HELD.get_or_init(|| signal::channel(signals.iter().copied()).unwrap());
}

#[test]
fn they_come_to_fibers_and_threads() {
    alone_in_crowds("arrive::they_come_to_fibers_and_threads", |crowd| {
        let signals = signal::channel([Signal::USER2, Signal::USER1, Signal::USER2]).unwrap();
        assert_eq!(signals.try_recv(), Err(TryRecvError::Empty));
        assert_eq!(signals.recv_timeout(Duration::ZERO), Err(RecvTimeoutError::Timeout));
        assert_eq!(format!("{signals:?}"), "Signals({SIGUSR1, SIGUSR2})");
        for signal in [Signal::USER1, Signal::USER2, Signal::USER1] {
            // It is there before it is waited for, or after.
            crowd.all(1, move |_| send(signal));
            assert_eq!(signals.recv_timeout(LONG), Ok(signal));
        }
        // What is sent in vain is ignored.
        let signals = signal::channel([Signal::WINDOW_CHANGE]).unwrap();
        let waits =
            crowd.spawn(1, move || (&signals).into_iter().take(2).chain(signals.iter().take(1)).count());
        while !waits.is_finished() {
            send(Signal::WINDOW_CHANGE);
            give_way();
        }
        assert_eq!(waits.join(), 3);
    });
}

#[test]
fn each_who_waits_has_all_of_them() {
    alone_in_crowds("arrive::each_who_waits_has_all_of_them", |_| {
        let both = signal::channel([Signal::USER1, Signal::USER2]).unwrap();
        let one = signal::channel([Signal::USER1]).unwrap();
        send(Signal::USER1);
        assert_eq!((both.recv(), one.recv()), (Ok(Signal::USER1), Ok(Signal::USER1)));
        send(Signal::USER2);
        assert_eq!(both.recv(), Ok(Signal::USER2));
        // What the one that is gone had in common with the other is not given back.
        let copy = both.clone();
        drop(both);
        assert!(copy.recv().is_err());
        send(Signal::USER1);
        assert_eq!(one.into_iter().next(), Some(Signal::USER1));
    });
}

/// After the last one of a kind has come, one of that kind is received, however many came before
/// and however slowly they are received.
#[test]
fn a_flood_becomes_few_and_the_last_is_not_lost() {
    alone_in_crowds("arrive::a_flood_becomes_few_and_the_last_is_not_lost", |crowd| {
        const EACH: usize = 300;
        let kinds = [Signal::USER1, Signal::USER2, Signal::real_time(2).unwrap()];
        let counts = Arc::new([const { AtomicUsize::new(0) }; 3]);
        hold(&kinds);
        let signals = signal::channel(kinds).unwrap();
        let floods: Vec<_> = (0..3)
            .map(|kind| {
                let counts = counts.clone();
                crowd.spawn(kind, move || {
                    for count in 1..=EACH {
                        counts[kind].store(count, Ordering::SeqCst);
                        if count % 2 == 0 {
                            send(kinds[kind])
                        } else {
                            assert_eq!(raise(kinds[kind], 7), 7)
                        }
                        if count % 32 == 0 {
                            give_way();
                        }
                    }
                })
            })
            .collect();
        let (mut received, mut seen) = (0, [0; 3]);
        while seen != [EACH; 3] {
            assert!(signals.len() <= 3);
            let signal = signals.recv().unwrap();
            let kind = kinds.iter().position(|kind| *kind == signal).unwrap();
            seen[kind] = counts[kind].load(Ordering::SeqCst);
            received += 1;
            if received % 4 == 0 {
                give_way();
            }
        }
        floods.into_iter().for_each(Member::join);
    });
}

/// The alternate stack that std gives to a thread has room for a few frames at most.
#[test]
fn many_kinds_that_come_at_once_are_handled_on_a_small_stack() {
    alone_in_crowds("arrive::many_kinds_that_come_at_once_are_handled_on_a_small_stack", |crowd| {
        let kinds: Vec<_> = (1..=8)
            .map(|number| Signal::real_time(number).unwrap())
            .chain([Signal::USER1, Signal::USER2, Signal::WINDOW_CHANGE, Signal::HANGUP])
            .collect();
        let signals = signal::channel(kinds.iter().copied()).unwrap();
        let copy = kinds.clone();
        crowd.all(1, move |_| raise_together(&copy));
        let mut received: Vec<_> = signals.iter().take(kinds.len()).collect();
        received.sort_by_key(|signal| kinds.iter().position(|kind| kind == signal));
        assert_eq!(received, kinds);
    });
}

/// A kind of signal that is not received does not take the room of another kind.
#[test]
fn what_is_kept_is_one_of_each_kind() {
    alone("arrive::what_is_kept_is_one_of_each_kind", || {
        let signals = signal::channel([Signal::USER1, Signal::USER2]).unwrap();
        // Once this channel has a later signal, all earlier signals have been passed on.
        let last = signal::channel([Signal::WINDOW_CHANGE]).unwrap();
        let pass = || {
            raise(Signal::WINDOW_CHANGE, 0);
            last.recv().unwrap();
        };
        for _ in 0..50 {
            for _ in 0..3 {
                raise(Signal::USER2, 0);
                pass();
            }
            raise(Signal::USER1, 0);
            pass();
            raise(Signal::USER2, 0);
            pass();
            assert_eq!((signals.len(), signals.is_full()), (2, true));
            assert_eq!(signals.recv(), Ok(Signal::USER2));
            raise(Signal::USER2, 0);
            pass();
            assert_eq!(signals.try_iter().collect::<Vec<_>>(), [Signal::USER1, Signal::USER2]);
        }
    });
}

#[test]
fn they_are_selected_among_other_channels() {
    alone_in_crowds("arrive::they_are_selected_among_other_channels", |crowd| {
        let signals = signal::channel([Signal::USER1]).unwrap();
        let (sender, numbers) = channel::bounded(1);
        select! {
            recv(signals) -> _ => panic!("nothing was sent"),
            recv(numbers) -> _ => panic!("nothing was sent"),
            default => {}
        }
        crowd.all(1, |_| send(Signal::USER1));
        select! {
            recv(signals) -> signal => assert_eq!(signal, Ok(Signal::USER1)),
            recv(numbers) -> _ => panic!("no number was sent"),
        }
        sender.send(5).unwrap();
        select! {
            recv(signals) -> _ => panic!("no signal was sent"),
            recv(numbers) -> number => assert_eq!(number, Ok(5)),
        }
        let mut select = Select::new();
        let (_, index) = (select.recv(&numbers), select.recv(&signals));
        let sends = crowd.spawn(1, || send(Signal::USER1));
        let selected = select.select();
        assert_eq!((selected.index(), selected.recv(&signals)), (index, Ok(Signal::USER1)));
        sends.join();
    });
}

/// A worker that computes does not keep signals from those who wait elsewhere, and what it computes
/// is not disturbed.
#[test]
fn a_busy_fiber_holds_up_nobody_else() {
    alone("arrive::a_busy_fiber_holds_up_nobody_else", || {
        everywhere(|| {
            static IS_RECEIVED: AtomicBool = AtomicBool::new(false);
            IS_RECEIVED.store(false, Ordering::SeqCst);
            let signals = signal::channel([Signal::USER1]).unwrap();
            let receives = thread::spawn(move || {
                assert_eq!(signals.recv(), Ok(Signal::USER1));
                IS_RECEIVED.store(true, Ordering::SeqCst);
            });
            assert_eq!(raise(Signal::USER1, 4), 4);
            while !IS_RECEIVED.load(Ordering::SeqCst) {
                std::hint::spin_loop();
            }
            receives.join().unwrap();
        });
    });
}

#[test]
fn one_comes_while_everything_sleeps() {
    alone("arrive::one_comes_while_everything_sleeps", || {
        for runtime in [pinned(1), pinned(2), migrating(2)] {
            let signals = signal::channel([Signal::INTERRUPT]).unwrap();
            let waits = runtime.spawn(move || signals.recv());
            // Only this thread, which looks, is awake.
            while waits.thread().state() != fiber::State::Parked
                || threads().iter().filter(|(_, state)| *state != 'S').count() > 1
            {
                thread::yield_now();
            }
            send(Signal::INTERRUPT);
            assert_eq!(waits.join().unwrap(), Ok(Signal::INTERRUPT));
        }
    });
}

/// Those who come and go meanwhile lose nothing for the one who stays.
#[test]
fn subscribers_come_and_go_while_signals_come() {
    alone_in_crowds("arrive::subscribers_come_and_go_while_signals_come", |crowd| {
        hold(&[Signal::USER1]);
        let stays = signal::channel([Signal::USER1, Signal::USER2]).unwrap();
        let others = (0..4).map(|number| {
            crowd.spawn(number, move || {
                for _ in 0..20 {
                    let signals = signal::channel([Signal::USER1]).unwrap();
                    send(Signal::USER1);
                    assert_eq!(signals.recv(), Ok(Signal::USER1));
                }
            })
        });
        others.collect::<Vec<_>>().into_iter().for_each(Member::join);
        send(Signal::USER2);
        assert!(stays.iter().any(|signal| signal == Signal::USER2));
    });
}

#[test]
fn a_runtime_that_waits_for_signals_is_not_stuck() {
    let output = in_child("signal::arrive::a_runtime_that_waits_for_signals_is_not_stuck", || {
        let soon = Duration::from_millis(10);
        let runtime = Runtime::builder().workers(2).stall_report(Some(soon)).start().unwrap();
        let wait = || signal::channel([Signal::USER1]).unwrap();
        let waits: Vec<_> =
            (0..4).map(|_| wait()).map(|signals| runtime.spawn(move || signals.recv())).collect();
        thread::sleep(soon * 10);
        let holds = wait();
        send(Signal::USER1);
        waits.into_iter().for_each(|fiber| assert_eq!(fiber.join().unwrap(), Ok(Signal::USER1)));
        drop(holds);
        assert!(runtime.shutdown(None).drained);
    });
    assert!(output.status.success() && !stderr(&output).contains("is stuck"), "{}", stderr(&output));
}
