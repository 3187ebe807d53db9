//! The engine of a runtime: a pool of workers that run the fibers of a host, their drivers, and the
//! threads beside them.
//!
//! # Safety
//!
//! Trusted with making threads of the pool workers of the host.
#![expect(unsafe_code, reason = "a worker is entered with a context that it must not outlive")]

use std::io;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use sinew_coroutine::overflow;
use sinew_sched::{
    BuildError, Builder, Context, Handle, Placement, Pool, PoolStats, ShutdownReport, Strategy, TaskRef,
};
use sinew_topology::Plan;

use super::blocking_pool::BlockingPool;
use super::driver;
use super::driver::CoreDriver;
use super::stall::Stall;
use crate::rt::base::sync::Lock;
use crate::rt::base::{clock, impl_debug, impl_unwind_safe};
use crate::rt::fiber::{
    BegunFiber, Fates, FiberHost, HostSettings, WorkerSpec, WorkerState, panic_hook, run, spans, teardown,
};
use crate::rt::wait::Schedule;

/// The groups of workers.
#[derive(Clone, Debug)]
pub(crate) enum Layout {
    /// Groups of these sizes.
    Given(Vec<usize>),
    /// Groups as planned for the machine.
    Planned(Box<Plan>),
    /// One group, with a worker for each CPU. The string says why the machine is not known better.
    Unknown(String),
}

/// Settings of an engine.
#[derive(Clone, Debug)]
pub(crate) struct EngineSettings {
    pub(crate) layout: Layout,
    /// Environment variables that are ignored, since an explicit setting overrides them.
    pub(crate) ignored: Vec<&'static str>,
    pub(crate) strategy: Strategy,
    pub(crate) steal_within_node: Option<u32>,
    pub(crate) steal_across_nodes: Option<u32>,
    pub(crate) queue_capacity: Option<usize>,
    pub(crate) name: String,
    /// After which time a stuck worker is reported.
    pub(crate) stall_report: Option<Duration>,
    /// Whether panics are reported with the fiber's name.
    pub(crate) panic_hook: bool,
    /// The maximum number of threads for blocking calls.
    pub(crate) blocking_threads: usize,
    /// How long such a thread stays when it is idle.
    pub(crate) blocking_idle: Duration,
}

/// The engine.
pub(crate) struct Engine {
    this: Weak<Self>,
    host: Arc<FiberHost>,
    pool: OnceLock<Handle>,
    /// The drivers of all workers, except spare ones.
    drivers: OnceLock<Box<[Arc<CoreDriver>]>>,
    pub(crate) settings: EngineSettings,
    pub(crate) stall: Arc<Stall>,
    /// The threads for blocking calls.
    pub(crate) blocking_pool: Arc<BlockingPool>,
}

/// A pool, as fibers see it.
struct PoolSchedule(Handle);

impl Schedule for PoolSchedule {
    fn schedule(&self, task: TaskRef, to: Placement) {
        self.0.reschedule(task, to);
    }

    fn schedule_all(&self, tasks: Vec<TaskRef>) {
        // If the pool is over, it discards the tasks.
        drop(self.0.submit_batch(tasks, Placement::Anyone));
    }

    fn groups(&self) -> usize {
        self.0.groups()
    }

    fn begin_watch(&self, worker: usize) {
        self.0.begin_watch(worker);
    }

    fn deliver(&self, body: &mut dyn FnMut()) {
        self.0.deliver(body);
    }
}

impl Layout {
    /// Returns the NUMA node of each group, or one node if groups belong to none.
    fn nodes(&self) -> Vec<usize> {
        match self {
            Self::Planned(plan) if self.is_numa() => (0..plan.layout().groups())
                .map(|group| plan.pinning().node(group).unwrap_or(0) as usize)
                .collect(),
            Self::Given(_) | Self::Planned(_) | Self::Unknown(_) => vec![0],
        }
    }

    /// Returns whether groups belong to nodes.
    fn is_numa(&self) -> bool {
        matches!(self, Self::Planned(plan) if plan.layout().is_numa())
    }
}

impl EngineSettings {
    /// Applies the settings that concern the pool.
    fn apply(&self, mut builder: Builder) -> Builder {
        match &self.layout {
            Layout::Given(groups) => builder = builder.groups(groups.iter().copied()),
            Layout::Planned(plan) => builder = builder.plan(plan),
            Layout::Unknown(_) => {}
        }
        builder = builder.strategy(self.strategy);
        if let Some(rounds) = self.steal_within_node {
            builder = builder.steal_within_node(rounds);
        }
        if let Some(rounds) = self.steal_across_nodes {
            builder = builder.steal_across_nodes(rounds);
        }
        if let Some(capacity) = self.queue_capacity {
            builder = builder.queue_capacity(capacity);
        }
        builder
    }
}

impl Engine {
    /// Starts an engine, and returns it with the pool that its owner shuts down.
    pub(crate) fn start(
        settings: EngineSettings,
        mut fibers: HostSettings,
    ) -> Result<(Arc<Self>, Pool), BuildError> {
        overflow::install().ok();
        overflow::advise(&"raise `stack_size` of its builder or of the runtime's, or SINEW_STACK_SIZE");
        panic_hook::install(settings.panic_hook);
        spans::register_hooks(&mut fibers.switch_hooks);
        let vtables = run::vtables_for(&fibers.switch_hooks);
        let host = FiberHost::new(fibers, settings.layout.nodes(), vtables);
        let stall = Arc::new(Stall::new(settings.stall_report));
        let blocking_pool =
            BlockingPool::new(&settings.name, settings.blocking_threads, settings.blocking_idle);
        let engine = Arc::new_cyclic(|this| Self {
            this: this.clone(),
            host,
            pool: OnceLock::new(),
            drivers: OnceLock::new(),
            settings,
            stall,
            blocking_pool,
        });
        if !engine.settings.layout.is_numa() {
            engine.host.stacks.warm_up(0);
        }
        let drivers = Arc::new(Lock::new(Vec::new()));
        let pool = engine.pool_builder(&drivers).build()?;
        // The drivers of spare workers are made later.
        let drivers: Box<[_]> = drivers.lock().drain(..).take(pool.workers()).collect();
        engine.host.homes.settle(drivers.iter().map(|driver| driver.timers().clone()));
        engine.drivers.get_or_init(|| drivers);
        engine.host.begin(Arc::new(PoolSchedule(pool.handle())));
        engine.pool.get_or_init(|| pool.handle());
        // Makes the counters of all workers before the first one has begun to count.
        engine.host.counters_of(pool.workers() as u32 - 1);
        Ok((engine, pool))
    }

    /// Returns a builder of this engine's pool. The pool adds the drivers of its workers to
    /// `drivers`.
    fn pool_builder(&self, drivers: &Arc<Lock<Vec<Arc<CoreDriver>>>>) -> Builder {
        let [watched, weak] = [(); 2].map(|()| self.this.clone());
        let host = Arc::downgrade(&self.host);
        let (made, stall) = (drivers.clone(), self.stall.clone());
        let builder = Pool::builder()
            .name(self.settings.name.clone())
            .clock(clock::now)
            .driver(move |worker| {
                let (driver, share) = driver::make(host.clone(), worker)?;
                made.lock().push(driver);
                Ok(share)
            })
            .on_start(move |context| begin_worker(&weak, context))
            .on_stop(|_| end_worker())
            .on_stay(|_| stay_worker())
            .on_work(move || stall.watch(&watched));
        self.settings.apply(builder)
    }

    /// Returns the host of its fibers.
    #[inline]
    pub(crate) fn host(&self) -> &Arc<FiberHost> {
        &self.host
    }

    /// Returns the engine of the worker that the caller runs on, if it runs on one. Must not be
    /// kept across a suspension.
    pub(crate) fn current() -> Option<Arc<Self>> {
        Self::of(WorkerState::current()?)
    }

    /// Returns the engine of the caller's worker, or `None` if the worker belongs to another kind
    /// of owner.
    fn of(state: &WorkerState) -> Option<Arc<Self>> {
        state.owner().clone().downcast().ok()
    }

    fn pool(&self) -> &Handle {
        // The pool is set before the first task runs, and hooks have no fibers.
        self.pool.get().expect("the pool is there before its first task")
    }

    /// Returns the statistics of the pool.
    pub(crate) fn pool_stats(&self) -> PoolStats {
        self.pool.get().map(Handle::stats).unwrap_or_default()
    }

    /// Returns the number of groups of workers.
    pub(crate) fn groups(&self) -> usize {
        self.pool().groups()
    }

    /// Returns the number of workers of a group.
    pub(crate) fn group_size(&self, group: usize) -> Option<usize> {
        self.pool().group_size(group)
    }

    /// Returns the NUMA node of a group.
    pub(crate) fn group_node(&self, group: usize) -> Option<usize> {
        self.pool().group_node(group)
    }

    /// Returns the number of workers.
    pub(crate) fn workers(&self) -> usize {
        self.pool().workers()
    }

    /// Polls the driver of a worker that does not do so itself. This makes fibers ready whose
    /// descriptors are ready, or whose time limits are reached.
    pub(crate) fn look_into(&self, worker: usize) {
        self.pool().look_into(worker);
    }

    /// Refuses new fibers, and ends the engine when there are none left. Does not wait.
    pub(crate) fn begin_shutdown(&self) {
        self.host.close();
        self.pool().begin_shutdown();
    }

    /// Ends the engine, and returns the fate of all fibers.
    pub(crate) fn shutdown(&self, at_most: Option<Duration>) -> (ShutdownReport, Fates) {
        self.host.close();
        let report = self.pool().shutdown(at_most);
        if report.waited && !report.drained {
            self.abandon_roamers();
        }
        if report.waited {
            self.end();
        }
        let fates = if report.waited && !report.drained { self.host.fates() } else { None };
        let fates =
            fates.unwrap_or_else(|| Fates { unbegun: report.discarded, begun: BegunFiber::default() });
        (report, fates)
    }

    /// Abandons fibers that may migrate and still wait when the engine is over.
    fn abandon_roamers(&self) {
        self.host.census.roamers().iter().for_each(|roamers| teardown::abandon_roamers(roamers));
    }

    /// Ends everything beside the workers, and drops the armed timers, when nothing runs any more.
    fn end(&self) {
        self.stall.end();
        self.drivers.get().into_iter().flatten().for_each(|driver| driver.send_away());
        self.host.homes.close();
        self.blocking_pool.close();
    }

    /// Called when a worker runs nothing more. Fibers that it ran last may have begun to wait after
    /// the others were abandoned; and if no thread waited for the shutdown, nothing else abandons
    /// them.
    fn leave_nobody_waiting(&self) {
        if self.pool.get().is_some_and(Handle::is_over) {
            self.abandon_roamers();
            self.host.homes.abandon_waits();
            self.blocking_pool.close();
        }
    }
}

/// Makes the calling thread, which belongs to the pool, a worker of the engine.
fn begin_worker(engine: &Weak<Engine>, context: &Context<'_>) -> io::Result<()> {
    let engine = engine.upgrade().ok_or_else(|| io::Error::other("the runtime is gone"))?;
    let (Some(worker), Some(driver)) = (context.worker(), driver::of(context.core())) else {
        return Err(io::Error::other("the thread is not a worker of a runtime"));
    };
    let spec = WorkerSpec {
        host: engine.host.clone(),
        worker: worker as u32,
        // A worker may begin before the pool is known here, but a spare worker cannot.
        is_spare: engine.pool.get().is_some_and(|pool| worker >= pool.workers()),
        timers: driver.timers().clone(),
        driver: Some(driver.untyped()),
        owner: engine,
    };
    // SAFETY: the thread ends or leaves the worker before its context is gone. The driver belongs
    // to the core, which lives as long as the pool, which the engine keeps.
    unsafe { WorkerState::enter(spec, context) };
    Ok(())
}

/// Called when a worker's thread stays for ever.
fn stay_worker() {
    if let Some(state) = WorkerState::current() {
        teardown::abandon_all(state);
        leave(state);
    }
}

/// Called when a worker ends.
fn end_worker() {
    WorkerState::current().into_iter().for_each(leave);
    WorkerState::leave();
}

/// Called when the caller's worker stops polling its driver.
fn leave(state: &WorkerState) {
    driver::of_local(state).into_iter().for_each(CoreDriver::send_away);
    Engine::of(state).into_iter().for_each(|engine| engine.leave_nobody_waiting());
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.end();
    }
}

// A panic may interrupt a fiber, but never leaves the engine itself half-changed.
impl_unwind_safe!(Engine);

impl_debug!(Engine, |engine| { settings: engine.settings, .. });
