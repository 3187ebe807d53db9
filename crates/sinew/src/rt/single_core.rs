//! A host of fibers on one thread, without a pool: it shows that fibers do not need one.
//!
//! # Safety
//!
//! Trusted with entering a worker whose context outlives it.
#![expect(unsafe_code, reason = "a worker is entered with a context that it must not outlive")]

use std::io;
use std::sync::Arc;
use std::time::Duration;

use sinew_sched::{Core, CoreHandle, Driver, FutexDriver, Placement, TaskRef};

use super::fiber::callback_fiber::CallbackFiber;
use super::fiber::host::{FiberHost, HostSettings};
use super::fiber::run::vtables_for;
use super::fiber::spawn::{Attributes, Site, spawn};
use super::fiber::worker_state::{WorkerSpec, WorkerState};
use super::timer::core_timers::{CoreTimers, TimersOwner};
use super::wait::schedule::Schedule;

/// Posts tasks to the core.
struct OneCore(CoreHandle);

impl Schedule for OneCore {
    fn schedule(&self, task: TaskRef, _: Placement) {
        // If the core is gone, the task is discarded.
        drop(self.0.post(task));
    }

    fn schedule_all(&self, tasks: Vec<TaskRef>) {
        tasks.into_iter().for_each(|task| self.schedule(task, Placement::Anyone));
    }

    fn groups(&self) -> usize {
        1
    }

    fn begin_watch(&self, _: usize) {}

    fn deliver(&self, body: &mut dyn FnMut()) {
        body();
    }
}

/// What the core sleeps in.
#[derive(Default)]
struct Bell(FutexDriver);

impl TimersOwner for Bell {
    fn ring(&self) {
        self.0.unpark();
    }

    fn ask_for_a_watch(&self) {}
}

/// The bell and the timers as the driver of the core.
struct LoopDriver {
    bell: Arc<Bell>,
    timers: Arc<CoreTimers>,
    host: Arc<FiberHost>,
}

impl Driver for LoopDriver {
    fn look(&self) -> io::Result<usize> {
        let mut calls = Vec::new();
        let fired = self.timers.fire(&mut calls) + calls.len();
        calls.into_iter().for_each(|(timer, run)| CallbackFiber::new(timer, run).start(Site::of(&self.host)));
        Ok(fired)
    }

    fn sleep(&self, at_most: Option<Duration>) -> io::Result<()> {
        let next = self.timers.begin_sleep();
        self.bell.0.sleep([at_most, next].into_iter().flatten().min())?;
        self.timers.end_sleep();
        self.look().map(drop)
    }

    fn unpark(&self) {
        self.bell.0.unpark();
    }

    fn is_watching(&self) -> bool {
        !self.timers.is_empty()
    }
}

/// Runs `body` as the first fiber of a host of its own, on the calling thread, and the fibers that
/// it spawns. Returns when all have ended.
pub(crate) fn run_on_one_core<R>(migrates: bool, attributes: Attributes, body: impl FnOnce() -> R) -> R {
    let switch_hooks = super::SwitchHooks::default();
    let vtables = vtables_for(&switch_hooks);
    let settings = HostSettings {
        stack_size: 1 << 16,
        max_fibers: None,
        prewarm: 0,
        migrates,
        switch_hooks,
        unended: |why| Box::new(why),
    };
    let host = FiberHost::new(settings, vec![0], vtables);
    let bell = Arc::new(Bell::default());
    let timers = Arc::new(CoreTimers::new(bell.clone()));
    let core = Core::new(Box::new(LoopDriver { bell, timers: timers.clone(), host: host.clone() }));
    host.begin(Arc::new(OneCore(core.handle())));
    host.homes.settle(std::iter::once(timers.clone()));
    let spec = WorkerSpec {
        host: host.clone(),
        owner: Arc::new(()),
        worker: 0,
        is_spare: false,
        timers,
        driver: None,
    };
    // SAFETY: the core is alive until the worker has left.
    unsafe { WorkerState::enter(spec, &core.context()) };
    // SAFETY: the fiber has ended when this function returns, and both run on this thread.
    let first = unsafe { spawn(Site::of(&host), attributes, body) }.ok().expect("the host is open");
    let unfinished =
        || host.look(|all| all.sum(|counters| &counters.spawned) - all.sum(|counters| &counters.finished));
    while unfinished() != 0 {
        core.run_ready(64);
        core.driver().look().expect("timers fire");
        if core.ready() == 0 && unfinished() != 0 {
            core.sleep(Some(Duration::from_secs(60)));
        }
    }
    assert_eq!((core.owned(), host.stacks.stats().live), (0, 0), "nothing is left");
    WorkerState::leave();
    host.homes.close();
    let result = first.take();
    drop(core);
    result.unwrap_or_else(|payload| std::panic::resume_unwind(payload))
}
