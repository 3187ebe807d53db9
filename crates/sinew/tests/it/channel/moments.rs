//! A select that does not wait reports that nothing can be done only if nothing could be done at
//! one moment. What crossbeam tests as `linearizable_try` and `linearizable_default`, Go as
//! `NonblockSelectRace`, and more: there what can be done moves once, here to and fro.

use super::super::crowd::in_crowds;
use super::super::support::everywhere;
use super::{as_crossbeam, pause};
use sinew::channel::{Receiver, Select, Sender, after, at, bounded, never, tick, unbounded};
use sinew::{fiber, select};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const ROUNDS: usize = if cfg!(any(sinew_asan, sinew_tsan, target_arch = "aarch64")) { 20 } else { 100 };
const LONG: Duration = Duration::from_secs(3_600);

as_crossbeam! {
    /// In each round the second channel gets a message before the first one is emptied.
    fn a_message_that_moves_is_found(crowd) {
        for bound in [None, Some(1)] {
            for how in 0..3 {
                let make = || bound.map_or_else(channel::unbounded, channel::bounded);
                let ((one, from_one), (two, from_two)) = (make(), make());
                let ((begin, begins), (end, ends)) = (channel::bounded(0), channel::bounded(0));
                let source = from_one.clone();
                let moves = crowd.spawn(1, move || begins.iter().for_each(|()| {
                    two.send(1).unwrap();
                    let _ = source.try_recv();
                    end.send(()).unwrap();
                }));
                for round in 0..ROUNDS {
                    one.send(1).unwrap();
                    begin.send(()).unwrap();
                    let is_found = match how {
                        0 => channel::select! {
                            recv(from_one) -> got => got.is_ok(),
                            recv(from_two) -> got => got.is_ok(),
                            default => false,
                        },
                        1 => {
                            let mut select = channel::Select::new();
                            select.recv(&from_two);
                            select.recv(&from_one);
                            select.try_select().is_ok_and(|operation| match operation.index() {
                                0 => operation.recv(&from_two).is_ok(),
                                _ => operation.recv(&from_one).is_ok(),
                            })
                        }
                        _ => {
                            let mut select = channel::Select::new();
                            select.recv(&from_two);
                            select.recv(&from_one);
                            select.try_ready().is_ok()
                        }
                    };
                    assert!(is_found, "{bound:?} {how} {round}");
                    ends.recv().unwrap();
                    let _ = (from_one.try_recv(), from_two.try_recv());
                }
                drop(begin);
                moves.join();
            }
        }
    }
}

/// Stops those who move something when the one who looks is done, or has panicked.
struct Stops(Arc<AtomicBool>);

impl Drop for Stops {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Has one member call `moves` with 0 and 1 by turns, while the caller looks `ROUNDS` times.
fn while_it_moves(
    crowd: super::super::crowd::Crowd,
    moves: impl Fn(usize) + Send + 'static,
    looks: impl Fn() -> bool,
) {
    let is_over = Arc::new(AtomicBool::new(false));
    let flag = is_over.clone();
    let mover = crowd.spawn(1, move || {
        for turn in 0.. {
            moves(turn % 2);
            if flag.load(Ordering::Relaxed) {
                break;
            }
            if turn % 64 == 0 {
                fiber::yield_now();
            }
        }
    });
    let stops = Stops(is_over);
    for round in 0..ROUNDS * 20 {
        assert!(looks(), "nothing was found in round {round}");
        if round % 64 == 0 {
            fiber::yield_now();
        }
    }
    drop(stops);
    mover.join();
}

/// Takes a message by a select, in one of the ways to do so without waiting, and puts it back.
fn takes_and_puts_back(ends: &[(Sender<u32>, Receiver<u32>); 2], by_macro: bool) -> bool {
    let [(one, from_one), (two, from_two)] = ends;
    let put_back = |sender: &Sender<u32>, got: Result<u32, _>| sender.send(got.unwrap()).is_ok();
    if by_macro {
        return select! {
            recv(from_one) -> got => put_back(one, got),
            recv(from_two) -> got => put_back(two, got),
            default => false,
        };
    }
    let mut select = Select::new();
    select.recv(from_one);
    select.recv(from_two);
    select.try_select().is_ok_and(|operation| match operation.index() {
        0 => put_back(one, operation.recv(from_one)),
        _ => put_back(two, operation.recv(from_two)),
    })
}

/// One channel at least has a message at every moment that the caller has none.
#[test]
fn messages_that_move_to_and_fro_are_found() {
    in_crowds(|crowd| {
        for how in 0..3 {
            let ends = Arc::new([unbounded(), unbounded()]);
            ends[1].0.send(1).unwrap();
            let to = ends.clone();
            let moves = move |turn: usize| {
                to[turn].0.send(1).unwrap();
                to[1 - turn].1.try_iter().for_each(drop);
            };
            let looks = || match how {
                0 | 1 => takes_and_puts_back(&ends, how == 0),
                _ => {
                    let mut select = Select::new();
                    ends.iter().for_each(|(_, receiver)| _ = select.recv(receiver));
                    select.try_ready().is_ok()
                }
            };
            while_it_moves(crowd, moves, looks);
        }
    });
}

/// One channel at least has room at every moment that the caller has taken none.
#[test]
fn room_that_moves_to_and_fro_is_found() {
    in_crowds(|crowd| {
        for is_to_send in [false, true] {
            let ends = Arc::new([bounded(1), bounded(1)]);
            ends[0].0.send(1).unwrap();
            let to = ends.clone();
            let moves = move |turn: usize| {
                let _ = to[turn].1.try_recv();
                let _ = to[1 - turn].0.try_send(1);
            };
            let looks = || {
                let mut select = Select::new();
                ends.iter().for_each(|(sender, _)| _ = select.send(sender));
                if !is_to_send {
                    return select.try_ready().is_ok();
                }
                select.try_select().is_ok_and(|operation| {
                    let (sender, receiver) = &ends[operation.index()];
                    operation.send(sender, 1).unwrap();
                    let _ = receiver.try_recv();
                    true
                })
            };
            while_it_moves(crowd, moves, looks);
        }
    });
}

/// All kinds of arms that are not ready, one by one and all together.
#[test]
fn nothing_is_found_where_nothing_is() {
    in_crowds(|_| {
        let ((_empty, from_empty), (meets, from_meets)) = (unbounded::<u32>(), bounded::<u32>(0));
        let ((full, _from_full), (large, _from_large)) = (bounded(1), bounded::<[u8; 2_100]>(40));
        full.send(1).unwrap();
        (0..40).for_each(|_| large.send([0; 2_100]).unwrap());
        let (hour, ticks, none) = (after(LONG), tick(LONG), never::<u32>());
        let mut all = Select::new();
        for which in 0..8 {
            let mut one = Select::new();
            for select in [&mut one, &mut all] {
                match which {
                    0 => select.recv(&from_empty),
                    1 => select.recv(&from_meets),
                    2 => select.send(&meets),
                    3 => select.send(&full),
                    4 => select.send(&large),
                    5 => select.recv(&hour),
                    6 => select.recv(&ticks),
                    _ => select.recv(&none),
                };
                assert!(select.try_select().is_err() && select.try_ready().is_err());
            }
        }
        // More than there is room for without an allocation; and what is ready is still found.
        let (_, ended) = bounded::<u32>(0);
        all.recv(&none);
        assert!(all.try_select().is_err() && all.try_ready().is_err());
        let index = all.recv(&ended);
        assert_eq!(all.try_ready(), Ok(index));
        let operation = all.try_select().unwrap();
        assert!(operation.index() == index && operation.recv(&ended).is_err());
        all.remove(index);
        let due = at(Instant::now());
        let index = all.recv(&due);
        assert_eq!(all.try_ready(), Ok(index));
        assert!(all.try_select().unwrap().recv(&due).is_ok());
        assert!(all.try_select().is_err() && all.try_ready().is_err());
    });
}

/// Neither suspends, nor panics because it might have to; a cancel is none of its business.
#[test]
fn what_does_not_wait_is_allowed_everywhere() {
    everywhere(|| {
        let looks = |are_there: bool| {
            let ((sender, receiver), (_meets, from_meets)) = (bounded(1), bounded::<u32>(0));
            if are_there {
                sender.send(1).unwrap();
            }
            let hour = after(LONG);
            let look = || {
                let mut select = Select::new();
                select.recv(&from_meets);
                select.recv(&hour);
                let index = select.recv(&receiver);
                assert_eq!(select.try_ready().ok(), are_there.then_some(index));
                let got = select! {
                    recv(from_meets) -> _ => unreachable!(),
                    recv(hour) -> _ => unreachable!(),
                    recv(receiver) -> got => got.ok(),
                    default => None,
                };
                assert_eq!(got, are_there.then_some(1));
            };
            fiber::no_suspend(look);
        };
        looks(false);
        looks(true);
        let cancelled = fiber::spawn(move || {
            while !fiber::is_cancelled() {
                fiber::yield_now();
            }
            looks(false);
            looks(true);
            assert!(fiber::is_cancelled());
        });
        cancelled.cancel();
        cancelled.join().unwrap();
    });
}

/// Who must not wait cannot meet a sender that has yet to make its message, but one behind it.
#[test]
fn who_must_not_wait_meets_who_has_its_message() {
    everywhere(|| {
        for by_select in [false, true] {
            let (sender, receiver) = bounded(0);
            let (late, ready) = (sender.clone(), sender);
            let late = fiber::spawn(move || select! { send(late, 1) -> sent => sent.unwrap() });
            let mut select = Select::new();
            select.recv(&receiver);
            assert_eq!(select.ready(), 0);
            let look = || match by_select {
                false => receiver.try_recv().ok(),
                true => select! { recv(receiver) -> got => got.ok(), default => None },
            };
            assert_eq!(fiber::no_suspend(look), None);
            let ready = fiber::spawn(move || ready.send(2).unwrap());
            let got = loop {
                match fiber::no_suspend(look) {
                    Some(got) => break got,
                    None => pause(),
                }
            };
            assert_eq!((got, look()), (2, Some(1)));
            ready.join().unwrap();
            late.join().unwrap();
        }
    });
}
