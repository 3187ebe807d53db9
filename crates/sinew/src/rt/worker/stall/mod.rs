//! Reports workers that are stuck while fibers wait for them: all of them, or one of several.
//!
//! A worker is stuck if it has run the same fiber for a long time: the fiber blocks the thread, or
//! computes. A thread of its own, the watcher, looks for that. It sleeps without a limit while no
//! worker works. A worker that starts to work raises the [alert](alert::Alert). The watcher then
//! checks a few times within the time after which a stall is reported, and goes back to sleep when
//! it finds all workers idle. So nothing is done for it when a fiber runs, and nothing at all while
//! the process is idle.
//!
//! If every worker is stuck, any fiber that is ready waits. If one of several is stuck, only fibers
//! wait that have begun there and cannot move. Only the worker's driver knows which descriptors are
//! ready, so the watcher polls that driver first.
//!
//! It cannot be known whether fibers *wait* for something that will never come: a thread outside
//! may bring it.

mod alert;
mod report;
mod seen;

use std::io::{Write as _, stderr};
use std::sync::Weak;
use std::time::Duration;

use sinew_sched::{PoolStats, spawn_thread};

pub(in crate::rt) use self::alert::Alert;
use self::seen::{Finding, LOOKS, SeenWorkers};
use super::engine::Engine;
use crate::rt::base::clock;
use crate::rt::base::sync::{Condvar, Lock, ignore_poison};

/// The shortest time after which stalls are reported. Checks at a shorter interval would themselves
/// be a load.
const SHORTEST: Duration = Duration::from_millis(10);

/// The state that the watcher and the workers share.
#[derive(Debug)]
pub(crate) struct Stall {
    /// After which time a stall is reported. `None` disables reports.
    after: Option<Duration>,
    /// Raised while the watcher checks, or is about to.
    alert: Alert,
    state: Lock<WatcherState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct WatcherState {
    has_thread: bool,
    is_over: bool,
}

impl Stall {
    pub(crate) fn new(after: Option<Duration>) -> Self {
        Self {
            after: after.map(|time| time.max(SHORTEST)),
            alert: Alert::new(),
            state: Lock::default(),
            changed: Condvar::new(),
        }
    }

    /// Called when a worker starts to work.
    #[inline]
    pub(crate) fn watch(&self, engine: &Weak<Engine>) {
        if self.after.is_some() && self.alert.is_needed() {
            self.raise(engine);
        }
    }

    #[cold]
    fn raise(&self, engine: &Weak<Engine>) {
        let mut state = self.state.lock();
        if state.is_over || !self.alert.raise() {
            return;
        }
        if !state.has_thread {
            state.has_thread = start(engine);
        }
        self.changed.notify_one();
    }

    /// Ends the watcher.
    pub(crate) fn end(&self) {
        self.state.lock().is_over = true;
        self.changed.notify_one();
    }

    /// Waits until the next check. Returns `None` if the watcher is to end.
    fn wait(&self) -> Option<()> {
        let mut state = self.state.lock();
        while !self.alert.is_raised() && !state.is_over {
            state = ignore_poison(self.changed.wait(state));
        }
        let time = self.after? / LOOKS;
        if !state.is_over {
            (state, _) = ignore_poison(self.changed.wait_timeout(state, time));
        }
        (!state.is_over).then_some(())
    }
}

/// Starts the watcher. If no thread can be started, stalls are not reported.
fn start(engine: &Weak<Engine>) -> bool {
    let Some(this) = engine.upgrade() else { return false };
    let name = format!("{}-watch", this.settings.name);
    let engine = engine.clone();
    spawn_thread(name, Some(128 * 1024), move || watch(&engine)).is_ok()
}

fn watch(engine: &Weak<Engine>) {
    let mut seen = SeenWorkers::default();
    // The engine is not kept alive during the wait: it ends the watcher when it is dropped.
    let Some(stall) = engine.upgrade().map(|engine| engine.stall.clone()) else { return };
    while stall.wait().is_some() {
        let Some(engine) = engine.upgrade() else { return };
        look(&engine, &mut seen);
    }
}

fn look(engine: &Engine, seen: &mut SeenWorkers) {
    let stats = engine.pool_stats();
    let after = engine.stall.after.unwrap_or(Duration::MAX);
    match seen.look(&stats.workers, clock::now(), after) {
        Finding::Idle => engine.stall.alert.lower(|| engine.pool_stats().workers.iter().any(seen::works)),
        Finding::Nothing => {}
        Finding::All(time) => {
            (0..stats.workers.len()).for_each(|worker| engine.look_into(worker));
            let waiting = waiting(engine, &stats, after);
            if waiting > 0 {
                seen.tell_of_all();
                tell(&report::of_all(engine, waiting, time));
            }
        }
        Finding::Some(workers) => {
            for (worker, time) in workers {
                engine.look_into(worker);
                let waiting = waiting_for(engine, &stats, worker as u32, after);
                if waiting > 0 {
                    seen.tell_of(worker);
                    tell(&report::of_one(engine, worker as u32, waiting, time));
                } else {
                    seen.put_off(worker, after);
                }
            }
        }
    }
}

/// Writes to standard error. `eprint!` would panic if it is closed.
fn tell(text: &str) {
    let _ = stderr().write_all(text.as_bytes());
}

/// Returns how many fibers wait for any worker: to run, or for a time limit that was reached at
/// `ago` or before.
fn waiting(engine: &Engine, stats: &PoolStats, ago: Duration) -> usize {
    let running = stats.workers.iter().filter(|worker| seen::works(worker)).count();
    engine.host().not_waiting().saturating_sub(running) + engine.host().census.neglected_timers(ago)
}

/// Returns how many fibers wait for this worker and cannot run on another one, plus one if a timer
/// of this worker was due at `ago` or before.
fn waiting_for(engine: &Engine, stats: &PoolStats, worker: u32, ago: Duration) -> usize {
    let running = stats.workers.iter().filter(|worker| seen::works(worker)).count();
    // A million fibers may have begun there. They are counted only if any fiber is ready at all.
    let ready = if engine.host().not_waiting() > running { engine.host().census.ready_on(worker) } else { 0 };
    ready + usize::from(engine.host().census.neglects_timers(worker, ago))
}
