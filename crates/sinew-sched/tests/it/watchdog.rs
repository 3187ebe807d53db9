//! Ends a test that hangs. Knows no pool and no fiber.
//!
//! Only time tells a hang from slowness. On a machine whose processors are busy with other work, a
//! test may be kept from running for most of that time, without hanging. A process that hangs uses
//! no processor time, or all of it; one that is kept from running uses a part. So time in which the
//! process uses a part of a processor counts for a tenth. And the process, or the whole machine,
//! may be stopped for a while: the time between two checks counts as twice the usual interval at
//! most.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// How long anything may take before it counts as a hang. Long, since it is not a measurement.
const LIMIT: Duration = Duration::from_secs(60);

/// The usual interval between two checks.
const LOOK: Duration = Duration::from_secs(5);

/// A time limit.
pub(crate) struct Patience {
    left: Duration,
    last: Instant,
    /// The processor time that the process had used at that moment.
    used: Duration,
}

impl Patience {
    pub(crate) fn new(limit: Duration) -> Self {
        Self { left: limit, last: Instant::now(), used: used() }
    }

    /// Returns the limit of a whole test. The test's own thread calls this: the first call may open
    /// a file, and tests count those.
    pub(crate) fn of_a_test() -> Self {
        Self::new(LIMIT)
    }

    /// Returns whether the time is over. It counts from call to call.
    pub(crate) fn is_over(&mut self) -> bool {
        let passed = self.last.elapsed();
        if passed >= self.rest() {
            let used = used();
            self.spend(passed, used.saturating_sub(self.used));
            (self.last, self.used) = (self.last + passed, used);
        }
        self.left.is_zero()
    }

    fn spend(&mut self, passed: Duration, used: Duration) {
        let passed = passed.min(2 * LOOK);
        let uses_a_part = (passed / 200..passed * 9 / 10).contains(&used);
        self.left = self.left.saturating_sub(if uses_a_part { passed / 10 } else { passed });
    }

    /// Returns how long to wait before the next call.
    fn rest(&self) -> Duration {
        self.left.min(LOOK)
    }
}

/// Returns the processor time that this process has used. Only the first call may open a file.
fn used() -> Duration {
    let used = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(used.tv_sec as u64, used.tv_nsec as u32)
}

/// Aborts the process if the test does not end before this is dropped.
pub(crate) struct Watchdog {
    over: Arc<AtomicBool>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Watchdog {
    /// Begins to watch. `problem` is called when the time is over, and says what hangs.
    pub(crate) fn with(problem: impl FnOnce() -> String + Send + 'static) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let (flag, patience) = (over.clone(), Patience::of_a_test());
        let thread = Some(thread::spawn(move || watch(patience, &flag, problem)));
        Self { over, thread }
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            thread.join().unwrap();
        }
    }
}

/// Returns when `over` is set. Aborts the process when the time is over.
pub(crate) fn watch(mut patience: Patience, over: &AtomicBool, problem: impl FnOnce() -> String) {
    while !over.load(Ordering::Relaxed) {
        thread::park_timeout(patience.rest());
        if patience.is_over() {
            // Not with `eprintln!`, whose output the test program captures until the test ends.
            let _ = writeln!(std::io::stderr(), "{}", problem());
            std::process::abort();
        }
    }
}

#[test]
fn time_in_which_a_part_of_a_processor_is_used_counts_less() {
    let mut patience = Patience::new(Duration::from_secs(60));
    let mut spend = |passed, used| {
        patience.spend(Duration::from_secs(passed), Duration::from_millis(used));
        patience.left.as_secs()
    };
    // A deadlock; kept from running; a loop on one processor, and on two.
    assert_eq!(spend(10, 10), 50);
    assert_eq!(spend(10, 100), 49);
    assert_eq!(spend(10, 8_000), 48);
    assert_eq!(spend(10, 9_900), 38);
    assert_eq!(spend(10, 20_000), 28);
    // The process was stopped, and hangs in the end.
    assert_eq!(spend(1_000, 0), 18);
    assert_eq!(spend(10, 0), 8);
    assert_eq!(spend(10, 0), 0);
    assert!(patience.is_over());
}
