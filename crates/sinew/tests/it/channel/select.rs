//! Sets of operations, and what becomes of the one that is selected.

use super::super::support::panics_with;
use super::{as_crossbeam, pause};
use std::time::{Duration, Instant};

const SOON: Duration = Duration::from_micros(300);

/// Calls `body`, which must panic with this message.
fn panics_saying<T>(message: &'static str, body: impl FnOnce() -> T) {
    assert_eq!(panics_with(message, body), message);
}

as_crossbeam! {
    fn what_can_be_done_is_selected(_crowd) {
        let (sender, receiver) = channel::bounded(1);
        let (other, others) = channel::bounded::<&str>(0);
        let mut select = channel::Select::new();
        assert_eq!((select.recv(&others), select.recv(&receiver), select.send(&sender), select.send(&other)), (0, 1, 2, 3));
        let operation: channel::SelectedOperation<'_> = select.select();
        assert_eq!(operation.index(), 2);
        assert_eq!(format!("{operation:?} {select:?}"), "SelectedOperation { .. } Select { .. }");
        assert_eq!(operation.send(&sender, 7), Ok(()));
        let operation = select.try_select().unwrap();
        assert_eq!((operation.index(), operation.recv(&receiver)), (1, Ok(7)));
        select.remove(2);
        assert_eq!(select.try_select().unwrap_err(), channel::TrySelectError);
        assert_eq!(select.select_timeout(SOON).unwrap_err(), channel::SelectTimeoutError);
        assert_eq!(select.select_timeout(Duration::ZERO).unwrap_err(), channel::SelectTimeoutError);
        assert_eq!(select.select_deadline(Instant::now()).unwrap_err(), channel::SelectTimeoutError);
        assert_eq!(select.try_ready().unwrap_err(), channel::TryReadyError);
        assert_eq!(select.ready_timeout(SOON).unwrap_err(), channel::ReadyTimeoutError);
        assert_eq!(select.ready_deadline(Instant::now() + SOON).unwrap_err(), channel::ReadyTimeoutError);
        assert_eq!(select.send(&sender), 4, "an index is used once");
        assert_eq!(select.select_deadline(Instant::now()).unwrap().send(&sender, 8), Ok(()));
        assert_eq!((select.ready(), select.try_ready(), select.ready_timeout(Duration::MAX)), (1, Ok(1), Ok(1)));
        let mut copy = select.clone();
        copy.remove(1);
        assert!(copy.try_select().is_err());
        assert_eq!(select.select_timeout(Duration::MAX).unwrap().recv(&receiver), Ok(8));
        assert_eq!(channel::Select::default().recv(&receiver), 0);
    }

    fn the_other_side_that_is_gone_can_be_selected(crowd) {
        for bound in [None, Some(0), Some(1)] {
            let make = || bound.map_or_else(channel::unbounded::<u8>, channel::bounded);
            let ((sender, receiver), (kept, gone)) = (make(), make());
            drop((sender, gone));
            let mut select = channel::Select::new();
            select.recv(&receiver);
            assert_eq!((select.ready(), select.try_ready()), (0, Ok(0)));
            assert!(select.select().recv(&receiver).is_err() && select.try_select().unwrap().recv(&receiver).is_err());
            let mut select = channel::Select::new();
            select.send(&kept);
            assert_eq!((select.ready(), select.try_ready()), (0, Ok(0)));
            assert_eq!(select.select().send(&kept, 1), Err(channel::SendError(1)));

            let (sender, receiver) = make();
            let waits: Vec<_> = (0..4)
                .map(|number| {
                    let receiver = receiver.clone();
                    crowd.spawn(number, move || {
                        let mut select = channel::Select::new();
                        select.recv(&receiver);
                        if number % 2 == 0 { select.ready() == 0 } else { select.select().recv(&receiver).is_err() }
                    })
                })
                .collect();
            pause();
            drop(sender);
            assert!(waits.into_iter().all(|member| member.join()));
        }
    }

    fn a_select_of_nothing(_crowd) {
        let none = || channel::Select::new();
        assert_eq!(none().try_select().unwrap_err(), channel::TrySelectError);
        assert_eq!(none().select_timeout(SOON).unwrap_err(), channel::SelectTimeoutError);
        assert_eq!(none().select_deadline(Instant::now()).unwrap_err(), channel::SelectTimeoutError);
        assert_eq!(none().try_ready().unwrap_err(), channel::TryReadyError);
        assert_eq!(none().ready_timeout(SOON).unwrap_err(), channel::ReadyTimeoutError);
        assert_eq!(none().ready_deadline(Instant::now()).unwrap_err(), channel::ReadyTimeoutError);
        panics_saying("no operations have been added to `Select`", || none().select());
        panics_saying("no operations have been added to `Select`", || none().ready());
    }

    fn what_was_never_added_cannot_be_removed(_crowd) {
        let (sender, receiver) = channel::bounded::<u8>(1);
        let mut select = channel::Select::new();
        panics_saying("index out of bounds; 0 >= 0", || select.remove(0));
        let index = select.recv(&receiver);
        select.send(&sender);
        select.remove(index);
        panics_saying("no operation with this index", || select.remove(index));
        panics_saying("index out of bounds; 9 >= 2", || select.remove(9));
        select.select().send(&sender, 1).unwrap();
        assert_eq!(receiver.recv(), Ok(1));
    }

    fn a_biased_one_takes_the_first(_crowd) {
        let ends: Vec<_> = (0..4).map(|_| channel::unbounded()).collect();
        ends.iter().for_each(|(sender, _)| (0..10).for_each(|_| sender.send(()).unwrap()));
        let mut select = channel::Select::new_biased();
        ends.iter().for_each(|(_, receiver)| _ = select.recv(receiver));
        let order: Vec<_> = (0..40)
            .map(|_| {
                assert_eq!(select.try_ready(), Ok(select.ready()));
                let operation = select.select();
                let index = operation.index();
                operation.recv(&ends[index].1).unwrap();
                index
            })
            .collect();
        assert!(order.is_sorted(), "{order:?}");
    }

    /// Each of four that can always be done is done about as often.
    fn nobody_is_favoured(_crowd) {
        let ends = [channel::unbounded(), channel::bounded(1), channel::bounded(40), channel::unbounded()];
        let mut counts = [[0; 4]; 3];
        ends.iter().for_each(|(sender, _)| sender.send(()).unwrap());
        for _ in 0..4_000 {
            let mut select = channel::Select::new();
            ends.iter().for_each(|(_, receiver)| _ = select.recv(receiver));
            counts[0][select.ready()] += 1;
            let operation = select.select();
            let index = operation.index();
            operation.recv(&ends[index].1).unwrap();
            ends[index].0.send(()).unwrap();
            counts[1][index] += 1;
            let index = channel::select! {
                recv(ends[0].1) -> _ => 0,
                recv(ends[1].1) -> _ => 1,
                recv(ends[2].1) -> _ => 2,
                recv(ends[3].1) -> _ => 3,
            };
            ends[index].0.send(()).unwrap();
            counts[2][index] += 1;
        }
        assert!(counts.iter().flatten().all(|count| (600..1_400).contains(count)), "{counts:?}");
    }

    fn the_same_channel_may_be_there_twice(crowd) {
        for bound in [None, Some(0), Some(1)] {
            let (sender, receiver) = bound.map_or_else(channel::unbounded, channel::bounded);
            let (copy, other) = (sender.clone(), sender.clone());
            let sends = crowd.spawn(1, move || (0..20).for_each(|number| {
                channel::select! {
                    send(copy, number) -> sent => sent.unwrap(),
                    send(copy, number) -> sent => sent.unwrap(),
                    send(other, number) -> sent => sent.unwrap(),
                }
            }));
            drop(sender);
            for expected in 0..20 {
                let mut select = channel::Select::new();
                (0..3).for_each(|_| _ = select.recv(&receiver));
                assert_eq!(select.select().recv(&receiver), Ok(expected));
            }
            sends.join();
            channel::select! { recv(receiver) -> end => assert!(end.is_err()), recv(receiver) -> end => assert!(end.is_err()) }
        }
    }

    fn readiness_is_told_to_all_who_wait_for_it(crowd) {
        for bound in [None, Some(0), Some(1)] {
            let (sender, receiver) = bound.map_or_else(channel::unbounded, channel::bounded);
            let waits: Vec<_> = (0..3)
                .map(|number| {
                    let receiver = receiver.clone();
                    crowd.spawn(number, move || {
                        let mut select = channel::Select::new();
                        select.recv(&receiver);
                        assert_eq!(select.ready(), 0);
                        while receiver.try_recv().is_err() {
                            assert_eq!(select.ready_timeout(Duration::MAX), Ok(0));
                        }
                    })
                })
                .collect();
            pause();
            (0..3).for_each(|number| sender.send(number).unwrap());
            waits.into_iter().for_each(|member| member.join());
            // And those who wait for room.
            let Some(bound) = bound else { continue };
            (0..bound).for_each(|number| sender.send(number).unwrap());
            let waits = crowd.spawn(1, move || {
                let mut select = channel::Select::new();
                select.send(&sender);
                loop {
                    assert_eq!(select.ready(), 0);
                    if sender.try_send(9).is_ok() {
                        break;
                    }
                }
            });
            pause();
            assert_eq!(receiver.iter().last(), Some(9));
            waits.join();
        }
    }
}

/// Crossbeam panics twice, which is an abort.
#[test]
fn another_handle_does_not_do() {
    use sinew::channel::{Select, unbounded};
    let (sender, receiver) = unbounded();
    let copies = (sender.clone(), receiver.clone());
    let mut select = Select::new();
    select.send(&sender);
    panics_saying("passed a sender that wasn't selected", || select.select().send(&copies.0, 1));
    let mut select = Select::new();
    select.recv(&receiver);
    sender.send(1).unwrap();
    panics_saying("passed a receiver that wasn't selected", || select.select().recv(&copies.1));
}
