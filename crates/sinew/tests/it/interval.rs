//! Ticks to wait for.

use super::support::everywhere;
use sinew::time::{self, MissedTicks};
use std::time::{Duration, Instant};

const PERIOD: Duration = Duration::from_micros(300);

/// On fibers of all kinds, and on a plain thread.
fn anywhere(body: impl Fn() + Send + Sync + Clone + 'static) {
    everywhere(body.clone());
    body();
}

#[test]
fn ticks_are_multiples_of_the_period_and_never_early() {
    anywhere(|| {
        let start = Instant::now();
        let mut ticks = time::interval_at(start, PERIOD);
        assert_eq!(ticks.period(), PERIOD);
        for number in 0..10 {
            let tick = ticks.tick();
            assert!(Instant::now() >= tick);
            assert_eq!(tick, start + number * PERIOD);
        }
    });
}

#[test]
fn the_first_comes_at_once_and_a_reset_puts_the_next_off() {
    anywhere(|| {
        let before = Instant::now();
        let mut ticks = time::interval(PERIOD);
        let after = Instant::now();
        let first = ticks.tick();
        assert!(before <= first && first <= after);
        time::sleep(5 * PERIOD);
        let before = Instant::now();
        ticks.reset();
        assert!(ticks.tick() >= before + PERIOD);
    });
}

#[test]
fn missed_ticks_are_dealt_with() {
    anywhere(|| {
        let run = |missed| {
            let start = Instant::now();
            let mut ticks = time::interval_at(start, PERIOD).missed(missed);
            // Four ticks have passed before the first call of `tick`.
            time::sleep(4 * PERIOD);
            let seen = [ticks.tick(), ticks.tick(), ticks.tick()];
            seen.map(|tick| tick - start)
        };
        assert_eq!(run(MissedTicks::Burst), [Duration::ZERO, PERIOD, 2 * PERIOD]);
        let [first, second, third] = run(MissedTicks::Skip);
        assert_eq!(first, Duration::ZERO);
        assert!(second > 4 * PERIOD && third > second);
        assert!([second, third].iter().all(|tick| tick.as_nanos() % PERIOD.as_nanos() == 0));
        let [_, second, third] = run(MissedTicks::Delay);
        assert!(second >= 5 * PERIOD && third >= second + PERIOD);
    });
}

#[test]
#[should_panic(expected = "a period of zero")]
fn a_period_of_zero_is_refused() {
    let _ = time::interval(Duration::ZERO);
}

#[test]
fn the_past_is_caught_up_with() {
    anywhere(|| {
        let start = Instant::now() - 10 * PERIOD;
        let mut ticks = time::interval_at(start, PERIOD);
        assert!((0..10).all(|number| ticks.tick() == start + number * PERIOD));
    });
}
