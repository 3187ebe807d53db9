//! How long a measurement runs. Foreign peers follow the same rule in their own languages (see
//! `bench/README.md`).

use crate::usage::cpu_time;
use std::time::{Duration, Instant};

/// How many operations make one measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pace {
    /// As many as take at least this long, found by doubling. The search is the warm-up.
    AtLeast(Duration),
    /// Exactly this number, once and untimed: for counting instructions.
    Exactly(u64),
}

impl Pace {
    /// Reads `millis=N` or `iterations=N`, the setting that a child gets.
    pub(crate) fn parse(settings: &[String]) -> Result<Self, String> {
        let [setting] = settings else {
            return Err(format!("expected one of millis=N, iterations=N, not {settings:?}"));
        };
        let (key, value) = setting.split_once('=').unwrap_or((setting, ""));
        let number = value.parse::<u64>().map_err(|error| format!("{setting}: {error}"))?;
        match key {
            "millis" => Ok(Self::AtLeast(Duration::from_millis(number))),
            "iterations" => Ok(Self::Exactly(number)),
            _ => Err(format!("unknown setting {setting}")),
        }
    }

    /// Returns the nanoseconds of one operation, where `batch(n)` does `n` of them. Returns 0 if
    /// nothing is timed. Then nothing is done that differs from run to run, such as printing a
    /// figure, so that instruction counts repeat.
    pub(crate) fn ns_per_op(self, batch: impl FnMut(u64)) -> f64 {
        self.cost_per_op(batch).ns
    }

    /// Returns the same, and the processor time of all threads.
    pub(crate) fn cost_per_op(self, mut batch: impl FnMut(u64)) -> Cost {
        match self {
            Self::AtLeast(target) => {
                let mut cost = Cost::default();
                let (n, _) = measured(target, |n| {
                    cost = cost_of(|| batch(n));
                    Duration::from_nanos(cost.ns as u64)
                });
                cost.divided_by(n as usize)
            }
            Self::Exactly(n) => {
                batch(n);
                Cost::default()
            }
        }
    }

    /// Returns whether the run should only show that everything works. Then workloads of a fixed
    /// size are smaller.
    pub(crate) fn is_quick(self) -> bool {
        matches!(self, Self::AtLeast(time) if time < Duration::from_millis(100))
    }
}

/// What one operation takes, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Cost {
    /// Wall-clock time.
    pub(crate) ns: f64,
    /// Processor time of all threads together.
    pub(crate) cpu_ns: f64,
}

impl Cost {
    /// Returns the cost of one of `parts` parts of the operation.
    pub(crate) fn divided_by(self, parts: usize) -> Self {
        let parts = parts as f64;
        Self { ns: self.ns / parts, cpu_ns: self.cpu_ns / parts }
    }

    /// Returns the sum of two costs.
    pub(crate) fn plus(self, other: Self) -> Self {
        Self { ns: self.ns + other.ns, cpu_ns: self.cpu_ns + other.cpu_ns }
    }
}

/// Measures `work`, done once.
pub(crate) fn cost_of(work: impl FnOnce()) -> Cost {
    let before = cpu_time();
    let start = Instant::now();
    work();
    let taken = start.elapsed();
    let cpu = cpu_time() - before;
    Cost { ns: taken.as_nanos() as f64, cpu_ns: cpu.as_nanos() as f64 }
}

/// Returns the measured count and what it took, by the given clock.
fn measured(target: Duration, mut time: impl FnMut(u64) -> Duration) -> (u64, Duration) {
    let mut n = 1;
    while time(n) < target {
        n *= 2;
    }
    // The last run of the search was long enough, so this one nearly always is.
    loop {
        let taken = time(n);
        if taken >= target {
            return (n, taken);
        }
        n *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::{Cost, Pace, measured};
    use std::time::Duration;

    #[test]
    fn doubles_until_the_target_and_measures_once_more() {
        let mut asked = Vec::new();
        let (n, taken) = measured(Duration::from_millis(5), |n| {
            asked.push(n);
            Duration::from_millis(n)
        });
        assert_eq!(asked, [1, 2, 4, 8, 8]);
        assert_eq!((n, taken), (8, Duration::from_millis(8)));
    }

    #[test]
    fn an_exact_count_runs_once() {
        let mut asked = Vec::new();
        let ns = Pace::Exactly(1000).ns_per_op(|n| asked.push(n));
        assert_eq!((ns, asked), (0.0, vec![1000]));
    }

    #[test]
    fn busy_time_is_processor_time() {
        let cost = Pace::AtLeast(Duration::from_millis(1)).cost_per_op(|n| {
            (0..n).for_each(|i| {
                std::hint::black_box(i);
            });
        });
        assert!(cost.ns > 0.0 && cost.cpu_ns > 0.0, "{cost:?}");
        assert_eq!(Cost { ns: 6.0, cpu_ns: 9.0 }.divided_by(3), Cost { ns: 2.0, cpu_ns: 3.0 });
    }

    #[test]
    fn settings_are_read_or_refused() {
        let parse = |setting: &str| Pace::parse(&[setting.to_owned()]);
        assert_eq!(parse("millis=20"), Ok(Pace::AtLeast(Duration::from_millis(20))));
        assert_eq!(parse("iterations=7"), Ok(Pace::Exactly(7)));
        assert!(parse("millis").is_err());
        assert!(parse("seconds=1").is_err());
        assert!(Pace::parse(&[]).is_err());
    }
}
