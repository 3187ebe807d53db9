//! Tells when every worker of an engine is stuck while fibers wait to run: each holds its thread, by blocking it or by computing.
//!
//! A thread of its own looks, and sleeps without a limit while some worker is idle. The pool says when none is any more
//! ([`Stall::arm`]); the watcher then looks a few times in the time after which a stall is told, and goes back to sleep when it finds
//! a worker idle. So nothing is done for it when a fiber runs, and nothing at all while the process is idle. It says that it goes back to
//! sleep and then looks once more, with a SeqCst operation in between, and whoever finds all workers busy looks whether it sleeps after a fence: one of
//! the two sees the other.
//!
//! That all workers *wait* and nobody will ever wake them cannot be known: a thread outside may.

use std::fmt::Write as _;
use std::io::{Write as _, stderr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use sinew_sched::{PoolStats, WorkerState, spawn_thread};

use super::engine::{Engine, Leak};

/// So often does the watcher look in the time after which a stall is told.
const LOOKS: u32 = 8;

/// No stall is told after less: looking for it would be the load.
const SHORTEST: Duration = Duration::from_millis(10);

/// What the watcher and the workers share.
#[derive(Debug)]
pub(crate) struct Stall {
    /// After how long it is told; never, if none.
    after: Option<Duration>,
    /// The watcher looks, or is about to.
    is_armed: AtomicBool,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    has_thread: bool,
    is_over: bool,
}

impl Stall {
    pub(crate) fn new(after: Option<Duration>) -> Self {
        Self {
            after: after.map(|time| time.max(SHORTEST)),
            is_armed: AtomicBool::new(false),
            state: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    /// No worker is idle.
    pub(crate) fn arm(&self, engine: &Weak<Engine>) {
        // SeqCst: after the fence with which the last idle worker went to work.
        if self.after.is_some() && !self.is_armed.load(Ordering::SeqCst) {
            self.arm_slow(engine);
        }
    }

    #[cold]
    fn arm_slow(&self, engine: &Weak<Engine>) {
        let mut state = lock(&self.state);
        if state.is_over || self.is_armed.swap(true, Ordering::SeqCst) {
            return;
        }
        if !state.has_thread {
            state.has_thread = start(engine);
        }
        self.changed.notify_one();
    }

    /// The watcher is not needed any more.
    pub(crate) fn end(&self) {
        lock(&self.state).is_over = true;
        self.changed.notify_one();
    }

    /// Waits until there is something to look at. None, if it is over.
    fn wait(&self) -> Option<()> {
        let mut state = lock(&self.state);
        while !self.is_armed.load(Ordering::SeqCst) && !state.is_over {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let time = self.after? / LOOKS;
        if !state.is_over {
            (state, _) = self.changed.wait_timeout(state, time).unwrap_or_else(PoisonError::into_inner);
        }
        (!state.is_over).then_some(())
    }

    /// Goes back to sleep, unless no worker is idle after all.
    fn disarm(&self, engine: &Engine) {
        self.is_armed.swap(false, Ordering::SeqCst);
        if !is_any_idle(&engine.pool_stats()) {
            self.is_armed.store(true, Ordering::SeqCst);
        }
    }
}

/// Starts the watcher. Without a thread to be had, nobody watches.
fn start(engine: &Weak<Engine>) -> bool {
    let Some(this) = engine.upgrade() else { return false };
    let name = format!("{}-watch", this.settings.name);
    let engine = engine.clone();
    spawn_thread(name, Some(128 * 1024), move || watch(&engine)).is_ok()
}

fn watch(engine: &Weak<Engine>) {
    let mut seen = Seen::default();
    // The engine is not kept while this waits: it ends the watcher when it is dropped.
    let Some(stall) = engine.upgrade().map(|engine| engine.stall.clone()) else { return };
    while stall.wait().is_some() {
        let Some(engine) = engine.upgrade() else { return };
        seen.look(&engine);
    }
}

/// What the watcher has seen so far.
#[derive(Default)]
struct Seen {
    stuck: Option<Stuck>,
    has_told: bool,
}

/// Since the watcher first saw it, no worker has taken another task.
struct Stuck {
    /// How many tasks each worker had run.
    tasks: Vec<u64>,
    /// For how long that has been so.
    time: Duration,
    last_look: Instant,
}

impl Stuck {
    /// Looks again, a moment after the last look that should be `interval` later. A longer one counts
    /// as no more: the process may have been stopped, or the whole machine, and then no worker could
    /// have taken a task.
    fn look_again(&mut self, now: Instant, interval: Duration) {
        self.time += now.saturating_duration_since(self.last_look).min(interval);
        self.last_look = now;
    }
}

impl Seen {
    fn look(&mut self, engine: &Engine) {
        let (stats, now) = (engine.pool_stats(), Instant::now());
        if is_any_idle(&stats) {
            *self = Self::default();
            return engine.stall.disarm(engine);
        }
        let tasks: Vec<_> = stats.workers.iter().map(|worker| worker.tasks).collect();
        let Some(stuck) = self.stuck.as_mut().filter(|stuck| stuck.tasks == tasks) else {
            let stuck = Stuck { tasks, time: Duration::ZERO, last_look: now };
            *self = Self { stuck: Some(stuck), has_told: false };
            return;
        };
        let after = engine.stall.after.unwrap_or(Duration::MAX);
        stuck.look_again(now, after / LOOKS);
        let time = stuck.time;
        if self.has_told || time < after {
            return;
        }
        let waiting = waiting(engine, &stats, after);
        if waiting > 0 {
            self.has_told = true;
            // Not by `eprint!`, which panics if nobody reads.
            let _ = write!(stderr(), "{}", message(engine, waiting, time));
        }
    }
}

/// Whether a worker looks for work, or sleeps; also if all are gone.
fn is_any_idle(stats: &PoolStats) -> bool {
    let is_idle = |state| matches!(state, WorkerState::Searching | WorkerState::Sleeping);
    stats.workers.iter().any(|worker| is_idle(worker.state))
        || stats.workers.iter().all(|worker| worker.state == WorkerState::Absent)
}

/// How many fibers wait for a worker, to run, or to hear that their time has come: so long ago, that is, which may be after all got stuck.
fn waiting(engine: &Engine, stats: &PoolStats, ago: Duration) -> usize {
    let running = stats.workers.iter().filter(|worker| worker.state != WorkerState::Absent).count();
    let ready = engine.look(|all| {
        let finished = all.sum(|counters| &counters.finished);
        let wakes = all.sum(|counters| &counters.wakes);
        let live = all.sum(|counters| &counters.spawned).saturating_sub(finished);
        let waits = all.sum(|counters| &counters.waits);
        live.saturating_sub(waits.saturating_sub(wakes)) as usize
    });
    ready.saturating_sub(running) + engine.census.neglected_timers(ago)
}

fn message(engine: &Engine, waiting: usize, time: Duration) -> String {
    let (name, workers) = (&engine.settings.name, engine.workers());
    let mut text = format!(
        "sinew: every worker of runtime '{name}' is stuck: none of {workers} has let another fiber run for {:.1} s, and {waiting} wait for that.\n",
        time.as_secs_f64(),
    );
    match engine.census.running() {
        Some(fibers) => fibers.iter().for_each(|fiber| describe(&mut text, fiber)),
        None => text.push_str("  what they run is not known: the kernel has refused a membarrier\n"),
    }
    text.push_str(
        "  A fiber that blocks its thread (a lock or channel of std, std::thread::sleep, a system call) or computes for long stops all \
         others of its worker: use what sinew has in their place, call `fiber::yield_now` now and then, or start more workers.\n",
    );
    text
}

fn describe(text: &mut String, Leak { id, name, worker, location }: &Leak) {
    let written = match name {
        Some(name) => writeln!(text, "  worker {worker}: fiber '{name}' ({id}), made at {location}"),
        None => writeln!(text, "  worker {worker}: fiber {id}, made at {location}"),
    };
    debug_assert!(written.is_ok(), "a string takes all that is written");
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_long_way_between_two_looks_counts_as_a_short_one() {
        let (interval, begin) = (Duration::from_millis(100), Instant::now());
        let mut stuck = Stuck { tasks: Vec::new(), time: Duration::ZERO, last_look: begin };
        let mut now = begin;
        for (time, sum) in [(100, 100), (40, 140), (3_600_000, 240), (100, 340), (150, 440)] {
            now += Duration::from_millis(time);
            stuck.look_again(now, interval);
            assert_eq!(stuck.time, Duration::from_millis(sum));
        }
    }
}
