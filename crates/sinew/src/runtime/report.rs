//! The report of a shutdown.

use std::fmt;
use std::num::NonZero;
use std::panic::Location;

use sinew_sched::ShutdownReport as PoolReport;
pub use sinew_sched::StuckWorker;

use crate::rt::{Fates, Leak};

/// The result of a shutdown.
///
/// If the shutdown waited, each fiber of the runtime has ended, is counted in `discarded`, or is in
/// one of the two lists, according to its state when the shutdown stopped waiting.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ShutdownReport {
    /// Whether all fibers and all threads have ended.
    pub drained: bool,
    /// Whether the shutdown waited for that. It does not if one of the runtime's own fibers calls
    /// it.
    pub waited: bool,
    /// The number of fibers that were discarded: they had not begun, or were between two
    /// [steps](crate::fiber::spawn_steps). A fiber that must begin on a worker whose thread is
    /// blocked is discarded when that thread continues.
    pub discarded: usize,
    /// Fibers that had begun and are not running: they wait, or are queued behind a fiber that
    /// blocks their worker. Their stacks stay as they are, for ever, and so do their workers'
    /// threads.
    pub leaked: Vec<LeakedFiber>,
    /// Fibers that still run, or block their worker. They continue until they wait or end.
    pub running: Vec<LeakedFiber>,
    /// Workers whose threads were left behind, with fibers that wait or with one that runs.
    pub stuck: Vec<StuckWorker>,
}

/// A fiber that had begun and had not ended when its runtime was shut down.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LeakedFiber {
    /// The fiber's number.
    pub id: NonZero<u64>,
    /// The fiber's name, if it has one.
    pub name: Option<String>,
    /// The worker that the fiber was on.
    pub worker: usize,
    /// The place in the program that spawned the fiber.
    pub spawned_at: &'static Location<'static>,
}

impl ShutdownReport {
    pub(super) fn new(pool: PoolReport, fates: Fates) -> Self {
        let leaked = |Leak { id, name, worker, location }| LeakedFiber {
            id,
            name,
            worker: worker as usize,
            spawned_at: location,
        };
        Self {
            drained: pool.drained,
            waited: pool.waited,
            discarded: fates.unbegun,
            leaked: fates.begun.waiting.into_iter().map(leaked).collect(),
            running: fates.begun.running.into_iter().map(leaked).collect(),
            stuck: pool.stuck,
        }
    }
}

/// Formats the report as one line that says how the shutdown ended, and a line for each fiber that
/// was left behind.
///
/// ```
/// let report = sinew::Runtime::builder().workers(1).start()?.shutdown(None);
/// assert_eq!(report.to_string(), "all fibers have ended");
/// # Ok::<(), sinew::StartError>(())
/// ```
impl fmt::Display for ShutdownReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let left = [("waits", &self.leaked), ("still runs", &self.running)];
        match left.iter().map(|(_, fibers)| fibers.len()).sum() {
            0 if !self.waited => f.write_str("the shutdown continues: this call did not wait for it")?,
            0 if self.drained => f.write_str("all fibers have ended")?,
            0 if self.stuck.is_empty() => f.write_str("no fiber was left behind")?,
            0 => f.write_str("no fiber was left behind, but not all threads have ended")?,
            1 => f.write_str("1 fiber was left behind")?,
            count => write!(f, "{count} fibers were left behind")?,
        }
        if self.discarded > 0 {
            write!(f, "; {} discarded before they began", self.discarded)?;
        }
        let mut fibers =
            left.iter().flat_map(|(state, fibers)| fibers.iter().map(move |fiber| (state, fiber)));
        fibers.try_for_each(|(state, fiber)| write!(f, "\n  {fiber} {state}"))
    }
}

impl fmt::Display for LeakedFiber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(f, "fiber '{name}' ({})", self.id)?,
            None => write!(f, "fiber {}", self.id)?,
        }
        write!(f, " on worker {}, made at {},", self.worker, self.spawned_at)
    }
}

#[cfg(test)]
mod tests {
    use super::{LeakedFiber, ShutdownReport};
    use std::num::NonZero;
    use std::panic::Location;

    fn fiber(id: u64, name: Option<&str>) -> LeakedFiber {
        let (id, spawned_at) = (NonZero::new(id).unwrap(), Location::caller());
        LeakedFiber { id, name: name.map(str::to_owned), worker: 3, spawned_at }
    }

    #[test]
    fn a_report_names_each_fiber_that_was_left_behind() {
        let (leaked, running, stuck) = (vec![fiber(7, Some("reader"))], vec![fiber(9, None)], Vec::new());
        let mut report =
            ShutdownReport { drained: false, waited: true, discarded: 2, leaked, running, stuck };
        let text = report.to_string();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines[0], "2 fibers were left behind; 2 discarded before they began");
        assert!(lines[1].starts_with("  fiber 'reader' (7) on worker 3, made at "), "{text}");
        assert!(lines[1].ends_with(", waits"), "{text}");
        assert!(
            lines[2].starts_with("  fiber 9 on worker 3, ") && lines[2].ends_with(" still runs"),
            "{text}"
        );
        (report.running, report.discarded) = (Vec::new(), 0);
        assert!(report.to_string().starts_with("1 fiber was left behind\n"), "{report}");
        report.leaked = Vec::new();
        assert_eq!(report.to_string(), "no fiber was left behind");
        report.waited = false;
        assert_eq!(report.to_string(), "the shutdown continues: this call did not wait for it");
    }
}
