//! The times that workers measure, with a clock that the test moves by hand.

use std::time::Duration;

use super::super::Worker;
use super::super::find::Round;
use super::support::{STRATEGIES, idle_task, shared_with, worker};
use crate::clock::tests::HandClock;
use crate::clock::{Clock, SYSTEM};
use crate::idle::{Patience, Spin};
use crate::strategy::Strategy;

/// Returns two workers of a group that read this clock.
fn pair(strategy: Strategy, clock: Clock) -> [Worker; 2] {
    let shared = shared_with(strategy, &[2], clock);
    [0, 1].map(|index| worker(&shared, 0, index))
}

#[test]
fn the_age_of_a_pool_is_by_its_clock() {
    static CLOCK: HandClock = HandClock::new();
    let shared = shared_with(Strategy::Local, &[1], || CLOCK.now());
    assert_eq!(shared.now(), 0);
    CLOCK.pass(Duration::from_nanos(7));
    assert_eq!(shared.now(), 7);
}

#[test]
fn a_lone_task_is_spared_by_the_clock_of_the_pool() {
    static CLOCK: HandClock = HandClock::new();
    for strategy in STRATEGIES {
        let [thief, victim] = pair(strategy, || CLOCK.now());
        victim.deque.push(idle_task());
        assert!(matches!(thief.steal(), Round::Spared), "seen for the first time");
        CLOCK.pass(Patience::LIMIT.saturating_sub(Duration::from_nanos(1)));
        assert!(matches!(thief.steal(), Round::Spared), "spared still");
        CLOCK.pass(Duration::from_nanos(1));
        assert!(matches!(thief.steal(), Round::Task(_)));
    }
}

/// By the clock of the system these sleeps are short, after which a worker would search for longer.
#[test]
fn long_sleeps_by_the_clock_of_the_pool_shorten_the_search() {
    static CLOCK: HandClock = HandClock::new();
    fn a_second_passes() -> std::time::Instant {
        CLOCK.pass(Duration::from_secs(1));
        CLOCK.now()
    }
    for strategy in STRATEGIES {
        let [worker, _] = pair(strategy, a_second_passes);
        assert!(!worker.spin_budget.start(SYSTEM).is_over());
        for _ in 0..10 {
            // The next sleep ends at once.
            worker.core.mailbox().driver().unpark();
            let searching = worker.lie_down(None, &mut Spin::spent());
            assert!(searching.is_none(), "no thread called");
        }
        assert!(worker.spin_budget.start(SYSTEM).is_over(), "one round");
    }
}
