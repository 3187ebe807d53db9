//! A point where several wait for one another.

use super::super::crowd::{as_std, in_crowds};
use super::super::support::{Random, everywhere, message, mute, panics_with, pinned, quiet_panic, refused};
use sinew::fiber;
use sinew::sync::Barrier;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

as_std! {
    fn nobody_goes_on_before_all_have_come(crowd) {
        let place = sync::Arc::new((sync::Barrier::new(6), sync::atomic::AtomicUsize::new(0)));
        let leaders = crowd.all(6, move |_| {
            let mut leads = 0;
            for phase in 1..=30 {
                place.1.fetch_add(1, sync::atomic::Ordering::Relaxed);
                leads += usize::from(place.0.wait().is_leader());
                assert!(place.1.load(sync::atomic::Ordering::Relaxed) >= phase * 6);
                place.0.wait();
            }
            leads
        });
        assert_eq!(leaders.iter().sum::<usize>(), 30);
    }

    fn more_take_part_in_the_next_phase(crowd) {
        let barrier = sync::Arc::new(sync::Barrier::new(2));
        let leaders = crowd.all(8, move |_| barrier.wait().is_leader());
        assert_eq!(leaders.into_iter().filter(|is_leader| *is_leader).count(), 4);
    }

    fn one_or_none_do_not_wait(_crowd) {
        for barrier in [sync::Barrier::new(0), sync::Barrier::new(1)] {
            assert!((0..3).all(|_| barrier.wait().is_leader()));
        }
        assert_eq!(format!("{:?}", sync::Barrier::new(3)), "Barrier { .. }");
        assert_eq!(format!("{:?}", sync::Barrier::new(1).wait()), "BarrierWaitResult { is_leader: true }");
        fn has_traits<T: Send + Sync + std::panic::UnwindSafe + std::panic::RefUnwindSafe>() {}
        has_traits::<sync::Barrier>();
        static BARRIER: sync::Barrier = sync::Barrier::new(1);
        assert!(BARRIER.wait().is_leader());
    }
}

#[test]
fn the_completion_runs_once_in_each_phase_before_anybody_goes_on() {
    in_crowds(|crowd| {
        let (came, phases) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (all, count) = (came.clone(), phases.clone());
        let mut last = 0;
        let barrier = Arc::new(Barrier::with_completion(5, move || {
            fiber::yield_now();
            assert_eq!(all.load(Ordering::Relaxed), (last + 1) * 5);
            last += 1;
            count.store(last, Ordering::Relaxed);
        }));
        crowd.all(5, move |_| {
            for phase in 1..=20 {
                came.fetch_add(1, Ordering::Relaxed);
                barrier.wait();
                assert_eq!(phases.load(Ordering::Relaxed), phase);
            }
        });
    });
}

#[test]
fn one_may_come_first_and_wait_later() {
    in_crowds(|crowd| {
        let place = Arc::new((Barrier::new(4), AtomicUsize::new(0)));
        crowd.all(4, move |number| {
            for phase in 1..=10 {
                place.1.fetch_add(1, Ordering::Relaxed);
                let token = place.0.arrive();
                fiber::yield_now();
                if number % 2 == 0 {
                    token.wait();
                } else {
                    while token.wait_timeout(Duration::from_micros(20)).is_none() {}
                }
                assert!(place.1.load(Ordering::Relaxed) >= phase * 4);
                // One who looks on does not count, and sees the same phase.
                let looks_on = place.0.arrive_many(0);
                assert!(!looks_on.wait_timeout(Duration::ZERO).is_some_and(|result| result.is_leader()));
            }
        });
    });
}

#[test]
fn whoever_leaves_is_not_expected_any_more() {
    in_crowds(|crowd| {
        let place = Arc::new((Barrier::new(6), AtomicUsize::new(0)));
        let copy = place.clone();
        crowd.all(6, move |number| {
            for _ in 0..number {
                copy.0.wait();
            }
            copy.1.fetch_add(1, Ordering::Relaxed);
            copy.0.arrive_and_drop();
        });
        assert_eq!(place.1.load(Ordering::Relaxed), 6);
        let uses: [&dyn Fn(); 3] =
            [&|| _ = place.0.wait(), &|| drop(place.0.arrive()), &|| place.0.arrive_and_drop()];
        for one in uses {
            panics_with("have left by `arrive_and_drop`", one);
        }
    });
}

#[test]
fn the_last_one_to_leave_completes_the_phase() {
    everywhere(|| {
        let phases = Arc::new(AtomicUsize::new(0));
        let count = phases.clone();
        let barrier = Barrier::with_completion(2, move || _ = count.fetch_add(1, Ordering::Relaxed));
        let token = barrier.arrive();
        barrier.arrive_and_drop();
        assert!(!token.wait().is_leader());
        barrier.arrive_and_drop();
        assert_eq!(phases.load(Ordering::Relaxed), 2);
    });
}

/// A member that gives up has not arrived: the others still wait for it, and it may arrive later.
#[test]
fn whoever_gives_up_has_not_come() {
    in_crowds(|crowd| {
        let barrier = Arc::new(Barrier::new(2));
        let copy = barrier.clone();
        crowd.all(
            2,
            move |number| {
                while copy.wait_timeout(Duration::from_micros([50, 700][number])).is_none() {}
            },
        );
        assert!(barrier.wait_timeout(Duration::ZERO).is_none());
        let copy = barrier.clone();
        let patient = crowd.spawn(1, move || copy.wait_timeout(Duration::MAX).is_some());
        fiber::yield_now();
        barrier.wait();
        assert!(patient.join());
    });
}

/// At any moment of being woken, or while the completion runs. As many phases end as pairs have
/// met.
#[test]
fn giving_up_neither_loses_nor_adds_an_arrival() {
    in_crowds(|crowd| {
        let phases = Arc::new(AtomicUsize::new(0));
        let count = phases.clone();
        let barrier = Arc::new(Barrier::with_completion(2, move || {
            count.fetch_add(1, Ordering::Relaxed);
            fiber::yield_now();
        }));
        let copy = barrier.clone();
        let met = crowd.all(6, move |number| {
            let mut random = Random::new(number as u64 + 1);
            let waits =
                (0..40).filter(|_| copy.wait_timeout(Duration::from_micros(random.below(60))).is_some());
            waits.count()
        });
        assert_eq!(met.into_iter().sum::<usize>(), phases.load(Ordering::Relaxed) * 2);
        assert!(barrier.wait_timeout(Duration::ZERO).is_none());
    });
}

#[test]
fn cancellation_ends_a_wait_that_can_say_so() {
    everywhere(|| {
        let barrier = Arc::new(Barrier::new(2));
        let copy = barrier.clone();
        let waits = fiber::spawn(move || copy.wait_cancellable().map(|result| result.is_leader()));
        fiber::yield_now();
        waits.cancel_with_reason("enough");
        assert_eq!(waits.join().unwrap().unwrap_err().reason(), Some("enough"));
        // It has not come.
        assert!(barrier.wait_timeout(Duration::ZERO).is_none());
        let copy = barrier.clone();
        let waits = fiber::spawn(move || copy.arrive().wait_cancellable().map(|result| result.is_leader()));
        waits.cancel();
        assert!(waits.join().unwrap().unwrap_err().is_cancelled());
        // This one has.
        assert!(barrier.wait_timeout(Duration::ZERO).unwrap().is_leader());
    });
}

#[test]
fn a_panic_of_the_completion_is_heard_by_all() {
    let _muted = mute("Barrier instance has previously been poisoned");
    in_crowds(|crowd| {
        let barrier = Arc::new(Barrier::with_completion(4, || quiet_panic("in the completion")));
        let members: Vec<_> = (0..4)
            .map(|number| {
                let barrier = barrier.clone();
                crowd.spawn(number, move || match number {
                    0 => _ = barrier.wait(),
                    1 => drop(barrier.wait_timeout(Duration::MAX)),
                    2 => drop(barrier.wait_cancellable()),
                    _ => _ = barrier.arrive().wait(),
                })
            })
            .collect();
        let heard: Vec<_> =
            members.into_iter().map(|member| message(&*member.try_join().unwrap_err())).collect();
        assert_eq!(heard.iter().filter(|text| text.contains("in the completion")).count(), 1, "{heard:?}");
        assert_eq!(heard.iter().filter(|text| text.contains("poisoned")).count(), 3, "{heard:?}");
        assert!(barrier.is_poisoned());
        for late in [|barrier: &Barrier| _ = barrier.wait(), |barrier: &Barrier| barrier.arrive_and_drop()] {
            panics_with("Barrier instance has previously been poisoned", || late(&barrier));
        }
    });
}

#[test]
fn more_than_are_expected_panic() {
    everywhere(|| {
        let barrier = Barrier::new(3);
        let _ = barrier.arrive_many(2);
        panics_with("more arrive at a `Barrier`", || drop(barrier.arrive_many(2)));
        // That has not counted.
        assert!(barrier.arrive_many(1).wait().is_leader());
        let (running, may_end) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let (runs, ends) = (running.clone(), may_end.clone());
        let barrier = Arc::new(Barrier::with_completion(1, move || {
            runs.store(true, Ordering::Relaxed);
            while !ends.load(Ordering::Relaxed) {
                fiber::yield_now();
            }
        }));
        let copy = barrier.clone();
        let completes = fiber::spawn(move || copy.wait().is_leader());
        while !running.load(Ordering::Relaxed) {
            fiber::yield_now();
        }
        panics_with("more arrive at a `Barrier`", || drop(barrier.arrive()));
        assert!(barrier.wait_timeout(Duration::ZERO).is_none());
        let copy = barrier.clone();
        let next = fiber::spawn(move || copy.wait().is_leader());
        fiber::yield_now();
        may_end.store(true, Ordering::Relaxed);
        assert!(completes.join().unwrap() && next.join().unwrap());
    });
}

#[test]
fn a_completion_that_waits_for_its_barrier_panics() {
    static BARRIER: std::sync::OnceLock<Barrier> = std::sync::OnceLock::new();
    let _muted = (
        mute("waits for the same barrier, and so for itself"),
        mute("Barrier instance has previously been poisoned"),
    );
    everywhere(|| {
        let barrier = BARRIER
            .get_or_init(|| Barrier::with_completion(1, || _ = BARRIER.get().expect("it is made").wait()));
        let panic = catch_unwind(AssertUnwindSafe(|| _ = barrier.wait())).unwrap_err();
        let text = message(&*panic);
        assert!(text.contains("waits for the same barrier") || text.contains("poisoned"), "{text}");
    });
}

#[test]
fn a_wait_inside_no_suspend_panics_and_has_not_come() {
    let runtime = pinned(1);
    runtime.run(|| {
        let barrier = Arc::new(Barrier::new(2));
        refused(|| _ = barrier.wait());
        assert!(barrier.wait_timeout(Duration::ZERO).is_none());
        // The last one does not wait, nor one whose phase is over.
        let token = barrier.arrive();
        fiber::no_suspend(|| {
            assert!(barrier.wait().is_leader());
            assert!(!token.wait().is_leader());
        });
    });
}
