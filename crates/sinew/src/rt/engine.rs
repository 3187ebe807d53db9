//! The engine of a runtime: a pool of workers, stacks for their fibers, what they sleep in. Knows fibers as tasks.

use std::io;
use std::num::NonZero;
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;
use std::{fmt, mem};

use sinew_coroutine::overflow;
use sinew_sched::{
    BuildError, Builder, Context, Handle, Placement, Pool, PoolStats, ShutdownReport, Strategy, TaskRef,
};
use sinew_topology::Plan;

use super::census::{Begun, Census};
use super::clock;
use super::closing::Closing;
use super::counters::{All, Counters};
use super::crew::Crew;
use super::driver;
use super::end;
use super::follow::Followers;
use super::homes::Homes;
use super::hook;
use super::limit::Limit;
use super::local::Local;
use super::run::{self, Vtables};
use super::spans;
use super::spawn::Reason;
use super::stacks::Stacks;
use super::stall::Stall;
use super::starving::Starving;
use super::sync::Lock;
use super::{tls, unwind};

/// Which groups of workers there are.
#[derive(Clone, Debug)]
pub(crate) enum Layout {
    /// Of these sizes.
    Given(Vec<usize>),
    /// As planned for the machine.
    Planned(Box<Plan>),
    /// One, with a worker for each CPU: this is why the machine is not known better.
    Unknown(String),
}

/// What an engine is made from.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) layout: Layout,
    /// Variables of the environment that do not count, since something else is set.
    pub(crate) ignored: Vec<&'static str>,
    pub(crate) strategy: Strategy,
    pub(crate) steal_within_node: Option<u32>,
    pub(crate) steal_across_nodes: Option<u32>,
    pub(crate) queue_capacity: Option<usize>,
    pub(crate) name: String,
    pub(crate) stack_size: usize,
    /// How many fibers there may be at a time.
    pub(crate) max_fibers: Option<usize>,
    pub(crate) prewarm: usize,
    /// Every fiber may move at any suspension.
    pub(crate) migrates: bool,
    /// After how long a stuck worker is reported.
    pub(crate) stall_report: Option<Duration>,
    /// Panics are told with the fiber's name.
    pub(crate) panic_hook: bool,
    pub(crate) followers: Followers,
    /// How many threads there may be for calls that block.
    pub(crate) blocking_threads: usize,
    /// How long one of them stays that has nothing to do.
    pub(crate) blocking_idle: Duration,
}

/// A fiber that has begun and not ended.
#[derive(Clone, Debug)]
pub(crate) struct Leak {
    pub(crate) id: NonZero<u64>,
    pub(crate) name: Option<String>,
    pub(crate) worker: u32,
    pub(crate) location: &'static Location<'static>,
}

/// What becomes of the fibers that have not ended when it is over. Each is counted once.
#[derive(Debug)]
pub(crate) struct Fates {
    /// How many had not begun, or were between two steps: they are discarded.
    pub(crate) unbegun: usize,
    pub(crate) begun: Begun,
}

/// The engine.
pub(crate) struct Engine {
    this: Weak<Self>,
    pool: OnceLock<Handle>,
    pub(crate) stacks: Stacks,
    pub(crate) settings: Settings,
    pub(crate) census: Census,
    counters: Lock<Vec<Arc<Counters>>>,
    pub(crate) outside: Counters,
    is_closed: AtomicBool,
    pub(crate) closing: Closing,
    limit: Limit,
    /// How often a thread outside has put a fiber into the next group.
    pub(crate) turn: AtomicU32,
    pub(crate) homes: Homes,
    pub(crate) starving: Starving,
    pub(crate) stall: Arc<Stall>,
    /// For calls that block.
    pub(crate) crew: Arc<Crew>,
    /// Of its tasks.
    pub(crate) vtables: &'static Vtables,
}

impl Layout {
    /// The NUMA node of each group; one, if they belong to none.
    fn nodes(&self) -> Vec<usize> {
        match self {
            Self::Planned(plan) if self.is_numa() => (0..plan.layout().groups())
                .map(|group| plan.pinning().node(group).unwrap_or(0) as usize)
                .collect(),
            Self::Given(_) | Self::Planned(_) | Self::Unknown(_) => vec![0],
        }
    }

    /// Whether groups belong to nodes.
    fn is_numa(&self) -> bool {
        matches!(self, Self::Planned(plan) if plan.layout().is_numa())
    }
}

impl Settings {
    /// What of them is the pool's.
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
    /// Starts one, with the pool that its owner shuts down.
    pub(crate) fn start(mut settings: Settings) -> Result<(Arc<Self>, Pool), BuildError> {
        overflow::install().ok();
        overflow::advise(&"raise `stack_size` of its builder or of the runtime's, or SINEW_STACK_SIZE");
        hook::install(settings.panic_hook);
        spans::follow(&mut settings.followers);
        let (settings_of_pool, vtables) = (settings.clone(), run::vtables_for(&settings.followers));
        let limit = Limit::new(settings.max_fibers);
        let stall = Arc::new(Stall::new(settings.stall_report));
        let crew = Crew::new(&settings.name, settings.blocking_threads, settings.blocking_idle);
        let engine = Arc::new_cyclic(|this| Self {
            this: this.clone(),
            pool: OnceLock::new(),
            stacks: Stacks::new(settings.layout.nodes(), settings.stack_size, settings.prewarm),
            settings,
            census: Census::default(),
            counters: Lock::default(),
            outside: Counters::default(),
            is_closed: AtomicBool::new(false),
            closing: Closing::new(),
            limit,
            turn: AtomicU32::new(0),
            homes: Homes::default(),
            starving: Starving::new(),
            stall,
            crew,
            vtables,
        });
        if !engine.settings.layout.is_numa() {
            engine.stacks.warm_up(0);
        }
        let watched = engine.this.clone();
        let stall = engine.stall.clone();
        let weak = engine.this.clone();
        let (drivers, owner) = (Arc::new(Lock::new(Vec::new())), engine.this.clone());
        let made = drivers.clone();
        let mut builder = Pool::builder()
            .name(engine.settings.name.clone())
            .clock(clock::now)
            .driver(move |worker| {
                let (driver, share) = driver::make(owner.clone(), worker)?;
                made.lock().push(driver);
                Ok(share)
            })
            .on_start(move |context| begin_worker(&weak, context))
            .on_stop(|_| end_worker())
            .on_stay(|_| stay_worker())
            .on_work(move || stall.watch(&watched));
        builder = settings_of_pool.apply(builder);
        let pool = builder.build()?;
        // Those of spare workers are made later.
        engine.homes.settle(drivers.lock().drain(..).take(pool.workers()));
        engine.pool.get_or_init(|| pool.handle());
        // Those of all workers are there before the first has begun to count.
        engine.counters_of(pool.workers() as u32 - 1);
        Ok((engine, pool))
    }

    /// What is called at each switch.
    #[inline]
    pub(crate) fn followers(&self) -> &Followers {
        &self.settings.followers
    }

    /// The counters of a worker. A seat that is taken again counts on.
    pub(crate) fn counters_of(&self, worker: u32) -> Arc<Counters> {
        let mut all = self.counters.lock();
        let worker = worker as usize;
        if all.len() <= worker {
            all.resize_with(worker + 1, Arc::default);
        }
        all[worker].clone()
    }

    /// A reference of one's own.
    pub(crate) fn keep(&self) -> Arc<Self> {
        self.this.upgrade().expect("an engine is there while its fibers are")
    }

    fn pool(&self) -> &Handle {
        // The first task comes after this was set; a hook has no fibers.
        self.pool.get().expect("the pool is there before its first task")
    }

    /// Has new fibers run, anywhere. If it is over, they are discarded.
    pub(crate) fn submit_all(&self, tasks: Vec<TaskRef>) {
        drop(self.pool().submit_batch(tasks, Placement::Anyone));
    }

    /// Has a fiber run.
    pub(crate) fn schedule(&self, task: TaskRef, to: Placement) {
        self.pool().reschedule(task, to);
    }

    /// Whether new fibers are refused.
    #[inline]
    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::Relaxed)
    }

    /// Counts a new fiber in, which leaves its place in the [limit](Limit) when it ends.
    ///
    /// # Errors
    ///
    /// If none may be made now.
    #[inline]
    pub(crate) fn admit(&self, is_limited: bool) -> Result<(), Reason> {
        match () {
            () if self.is_closed() => Err(Reason::Closed),
            () if is_limited => self.limit.enter().map_err(Reason::Limit),
            () => Ok(()),
        }
    }

    /// A fiber that was counted in has ended.
    #[inline]
    pub(crate) fn release(&self, is_limited: bool) {
        if is_limited {
            self.limit.leave();
        }
    }

    /// A worker's driver has begun to watch for events that concern others, while the worker is awake.
    pub(crate) fn begin_watch(&self, worker: usize) {
        if let Some(pool) = self.pool.get() {
            pool.begin_watch(worker);
        }
    }

    /// Calls `look` with all that is counted.
    pub(crate) fn look<R>(&self, look: impl FnOnce(&All<'_>) -> R) -> R {
        look(&All { workers: &self.counters.lock(), outside: &self.outside })
    }

    /// How many fibers run or are ready to, about: a fiber may change that meanwhile.
    pub(crate) fn not_waiting(&self) -> usize {
        self.look(|all| {
            let finished = all.sum(|counters| &counters.finished);
            let wakes = all.sum(|counters| &counters.wakes);
            let live = all.sum(|counters| &counters.spawned).saturating_sub(finished);
            let waits = all.sum(|counters| &counters.waits);
            live.saturating_sub(waits.saturating_sub(wakes)) as usize
        })
    }

    /// What the pool has done so far.
    pub(crate) fn pool_stats(&self) -> PoolStats {
        self.pool.get().map(Handle::stats).unwrap_or_default()
    }

    /// The pool's groups of workers.
    pub(crate) fn groups(&self) -> usize {
        self.pool().groups()
    }

    /// How many workers a group has.
    pub(crate) fn group_size(&self, group: usize) -> Option<usize> {
        self.pool().group_size(group)
    }

    /// The NUMA node of a group.
    pub(crate) fn group_node(&self, group: usize) -> Option<usize> {
        self.pool().group_node(group)
    }

    /// How many workers there are.
    pub(crate) fn workers(&self) -> usize {
        self.pool().workers()
    }

    /// Refuses new fibers, but for the last ones of those who hear of it.
    pub(crate) fn close(&self) {
        self.closing.tell();
        self.is_closed.store(true, Ordering::SeqCst);
    }

    /// Looks into the driver of a worker that does not: fibers whose descriptors are ready, or
    /// whose time has come, are ready to run then.
    pub(crate) fn look_into(&self, worker: usize) {
        self.pool().look_into(worker);
    }

    /// Calls `body`, which makes fibers where no fiber runs. No drain ends meanwhile.
    pub(crate) fn deliver(&self, body: impl FnOnce()) {
        self.pool().deliver(body);
    }

    /// Refuses new fibers, and ends when there are none. Does not wait.
    pub(crate) fn begin_shutdown(&self) {
        self.close();
        self.pool().begin_shutdown();
    }

    /// Ends everything, and says what became of all fibers.
    pub(crate) fn shutdown(&self, at_most: Option<Duration>) -> (ShutdownReport, Fates) {
        self.close();
        let report = self.pool().shutdown(at_most);
        if report.waited && !report.drained {
            self.abandon_roamers();
        }
        if report.waited {
            self.stall.end();
            self.homes.close();
            self.crew.close();
        }
        let fates = if report.waited && !report.drained { self.fates() } else { None };
        let fates = fates.unwrap_or_else(|| Fates { unbegun: report.discarded, begun: Begun::default() });
        (report, fates)
    }

    /// What became of all fibers that have not ended, at one moment. For when it is over: fibers are
    /// not made any more.
    fn fates(&self) -> Option<Fates> {
        let unfinished = |all: &All<'_>| {
            // Those that were discarded are counted as finished, but not by workers.
            all.sum(|counters| &counters.spawned).saturating_sub(all.finished_by_workers()) as usize
        };
        let (begun, unfinished) = self.census.begun(|| self.look(unfinished))?;
        let unbegun = unfinished.saturating_sub(begun.waiting.len() + begun.running.len());
        Some(Fates { unbegun, begun })
    }

    /// It is over: those that may move, and wait, wait for ever.
    fn abandon_roamers(&self) {
        self.census.roamers().iter().for_each(|roamers| end::abandon_roamers(roamers));
    }

    /// A worker runs nothing more. What it ran last may have begun to wait when others were abandoned already; and nobody else
    /// abandons them if nobody waited for the shutdown.
    fn leave_nobody_waiting(&self) {
        if self.pool.get().is_some_and(Handle::is_over) {
            self.abandon_roamers();
            self.homes.abandon_waits();
            self.crew.close();
        }
    }
}

/// Gives the calling thread, which is a worker's, what fibers need.
fn begin_worker(engine: &Weak<Engine>, context: &Context<'_>) -> io::Result<()> {
    let engine = engine.upgrade().ok_or_else(|| io::Error::other("the runtime is gone"))?;
    let (Some(worker), Some(driver)) = (context.worker(), driver::of(context.core())) else {
        return Err(io::Error::other("it is no worker of a runtime"));
    };
    let local = Box::leak(Box::new(Local::new(engine, worker as u32, driver, context)));
    local.show();
    tls::set_local(local);
    Ok(())
}

/// A worker's thread stays for ever.
fn stay_worker() {
    if let Some(local) = tls::local() {
        end::abandon_all(local);
        local.driver.send_away();
        local.engine().leave_nobody_waiting();
    }
}

/// A worker ends.
fn end_worker() {
    if let Some(local) = tls::local() {
        local.driver.send_away();
        local.engine().leave_nobody_waiting();
    }
    tls::drop_local();
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.stall.end();
        self.homes.close();
        self.crew.close();
        // The last reference may be given up anywhere, and nobody there has to do with these.
        unwind::catch(|| drop(mem::take(&mut self.settings.followers)));
    }
}

// What a panic interrupts is a fiber's: the engine itself is never seen half done.
impl UnwindSafe for Engine {}
impl RefUnwindSafe for Engine {}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine").field("settings", &self.settings).finish_non_exhaustive()
    }
}
