//! Settings of a runtime, and its start.
//!
//! # Safety
//!
//! Takes a promise of its callers about what lives on stacks, and does nothing unsafe itself.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use sinew_sched::{Profile, Strategy};
use sinew_topology::CpuList;

use super::Runtime;
use crate::launch::{Config, Spec, StartError};

/// Settings of a [`Runtime`]. They may begin [from](#impl-From<Config>-for-RuntimeBuilder) a [`Config`]; what is not set comes from the
/// environment, or is as stated.
///
/// | variable | setting |
/// | --- | --- |
/// | `SINEW_WORKERS` | [`workers`](Self::workers) |
/// | `SINEW_PROFILE` | [`profile`](Self::profile) |
/// | `SINEW_CONCURRENCY` | [`concurrency`](Self::concurrency) |
/// | `SINEW_GROUP_SIZE` | [`group_size`](Self::group_size) |
/// | `SINEW_NUMA` | [`numa`](Self::numa) |
/// | `SINEW_CPUS`, `SINEW_EXCLUDED_CPUS` | [`cpus`](Self::cpus), [`excluded_cpus`](Self::excluded_cpus) |
/// | `SINEW_WORKER_PER_CPU` | [`worker_per_cpu`](Self::worker_per_cpu) |
/// | `SINEW_STRATEGY` | [`strategy`](Self::strategy) |
/// | `SINEW_STEAL_WITHIN_NODE`, `SINEW_STEAL_ACROSS_NODES` | [`steal_within_node`](Self::steal_within_node), [`steal_across_nodes`](Self::steal_across_nodes) |
/// | `SINEW_QUEUE_CAPACITY` | [`queue_capacity`](Self::queue_capacity) |
/// | `SINEW_STACK_SIZE`, in bytes, or as `128k`, `1M` | [`stack_size`](Self::stack_size) |
/// | `SINEW_MAX_FIBERS` | [`max_fibers`](Self::max_fibers) |
/// | `SINEW_PREWARM` | [`prewarm`](Self::prewarm) |
/// | `SINEW_BLOCKING_THREADS` | [`blocking_threads`](Self::blocking_threads) |
/// | `SINEW_BLOCKING_IDLE_MS` | [`blocking_idle`](Self::blocking_idle) |
/// | `SINEW_STALL_REPORT_MS`, 0 for never | [`stall_report`](Self::stall_report) |
///
/// A flag is on by `on`, `yes`, `true` or `1`. There are no variables for [`groups`](Self::groups)
/// and [`name`](Self::name). The first runtime of a process warns on standard
/// error about any other variable that begins with `SINEW_`, and suggests the likely name.
///
/// What is set in code or in a [`Config`] counts, then the environment, then what is stated at each setting. To let the environment override a
/// file, see [`Config::from_environment`].
///
/// Groups are either given, by [`workers`](Self::workers) or [`groups`](Self::groups), or laid out
/// for the machine: by [`profile`](Self::profile), [`concurrency`](Self::concurrency),
/// [`group_size`](Self::group_size), [`numa`](Self::numa), [`cpus`](Self::cpus),
/// [`excluded_cpus`](Self::excluded_cpus) and [`worker_per_cpu`](Self::worker_per_cpu). To set some
/// of both is an error. If code or a `Config` decides it, variables for the other way do not count;
/// [`Runtime::describe`](crate::runtime::Handle::describe) tells of that, and of what was chosen
/// and why.
#[must_use = "a runtime is made by `start`"]
#[derive(Debug, Default)]
pub struct RuntimeBuilder(Spec);

impl From<Config> for RuntimeBuilder {
    fn from(config: Config) -> Self {
        Self(Spec { config, ..Spec::default() })
    }
}

impl RuntimeBuilder {
    /// How many workers, in one group if they are 64 at most, and else in as few groups as
    /// possible. Unless set, groups are laid out for the machine; to say only how many workers
    /// there should be, use [`concurrency`](Self::concurrency). Of this and
    /// [`groups`](Self::groups) the later call counts.
    pub fn workers(mut self, workers: usize) -> Self {
        (self.0.config.workers, self.0.config.groups) = (Some(workers), None);
        self
    }

    /// Workers in several groups, so many in each: 1 to 64; 1 to 1,024 groups. A group has queues of its own; between groups fibers that have not begun
    /// go only when one has more than it can do.
    pub fn groups(mut self, sizes: impl IntoIterator<Item = usize>) -> Self {
        (self.0.config.workers, self.0.config.groups) = (None, Some(sizes.into_iter().collect()));
        self
    }

    /// For what kind of work the groups are laid out: [`Neutral`](Profile::Neutral) unless set.
    ///
    /// ```
    /// use sinew::Profile;
    ///
    /// let profile: Profile = "io-heavy".parse()?;
    /// let runtime = sinew::Runtime::builder().profile(profile).concurrency(2).start()?;
    /// assert!(runtime.describe().contains("profile io-heavy"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn profile(mut self, profile: Profile) -> Self {
        self.0.config.profile = Some(profile);
        self
    }

    /// How many workers there should be at least, in as many groups as the profile has for them: as many as the process may use
    /// CPUs unless set, by its affinity mask and its control groups.
    pub fn concurrency(mut self, workers: usize) -> Self {
        self.0.config.concurrency = Some(workers);
        self
    }

    /// How many workers a group has, 1 to 64: as the profile says unless set.
    pub fn group_size(mut self, workers: usize) -> Self {
        self.0.config.group_size = Some(workers);
        self
    }

    /// Whether groups belong to NUMA nodes, and their threads run there: as the profile says unless set.
    pub fn numa(mut self, on: bool) -> Self {
        self.0.config.numa = Some(on);
        self
    }

    /// The CPUs that the workers' threads run on: wherever the kernel puts them unless set. `"0-3".parse()?`, say, or
    /// `"-1".parse()?` for the last; a [`CpuSet`](crate::topology::CpuSet) becomes such a list by `(&set).try_into()?`.
    pub fn cpus(mut self, cpus: CpuList) -> Self {
        self.0.config.cpus = Some(cpus);
        self
    }

    /// CPUs that the workers' threads do not run on.
    pub fn excluded_cpus(mut self, cpus: CpuList) -> Self {
        self.0.config.excluded_cpus = Some(cpus);
        self
    }

    /// Whether each worker has a CPU of its own; not unless set.
    pub fn worker_per_cpu(mut self, on: bool) -> Self {
        self.0.config.worker_per_cpu = Some(on);
        self
    }

    /// Where the machine is described, in `sys` and `proc` below this directory: `/` unless set. For tests of machines that one does
    /// not have.
    pub fn machine_root(mut self, root: impl Into<PathBuf>) -> Self {
        self.0.machine_root = Some(root.into());
        self
    }

    /// How the workers of a group share the fibers that anyone may run: [`Local`](Strategy::Local) unless set.
    ///
    /// ```
    /// use sinew::Strategy;
    ///
    /// let runtime = sinew::Runtime::builder().strategy(Strategy::Shared).start()?;
    /// assert!(runtime.describe().contains("strategy shared"));
    /// # Ok::<(), sinew::StartError>(())
    /// ```
    pub fn strategy(mut self, strategy: Strategy) -> Self {
        self.0.config.strategy = Some(strategy);
        self
    }

    /// After how many rounds of searching that come to nothing a worker looks at another group of its node: 16 unless set; 0 for
    /// never.
    pub fn steal_within_node(mut self, rounds: u32) -> Self {
        self.0.config.steal_within_node = Some(rounds);
        self
    }

    /// After how many rounds of searching that come to nothing a worker looks at a group of another node: 0, for never, unless set.
    pub fn steal_across_nodes(mut self, rounds: u32) -> Self {
        self.0.config.steal_across_nodes = Some(rounds);
        self
    }

    /// How many fibers the queue of a group takes before it spills to a list: any number from 1 to 2^24; 65,536 unless
    /// set.
    pub fn queue_capacity(mut self, fibers: usize) -> Self {
        self.0.config.queue_capacity = Some(fibers);
        self
    }

    /// What the threads are called: `sinew` unless set, with the worker's number behind it. It must
    /// not contain a NUL (`\0`), as no name of a thread does.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.0.config.name = Some(name.into());
        self
    }

    /// How much stack a fiber has, in bytes, unless it is made with another: 128 KiB unless set,
    /// double that in debug builds; at least 16 KiB and at most 64 MiB.
    pub fn stack_size(mut self, size: usize) -> Self {
        self.0.config.stack_size = Some(size);
        self
    }

    /// How many fibers there may be at a time, at least 1, those included that have not begun; no limit unless set. One that is abandoned at
    /// a shutdown counts for ever. Those that call back for [timers](crate::time) do not count.
    pub fn max_fibers(mut self, most: usize) -> Self {
        self.0.config.max_fibers = Some(most);
        self
    }

    /// How many stacks to have ready before the first fiber: a million at most.
    pub fn prewarm(mut self, stacks: usize) -> Self {
        self.0.config.prewarm = Some(stacks);
        self
    }

    /// How many threads there may be at a time for calls that [block](mod@crate::blocking), at least 1: 512 unless set. They are started when they are needed;
    /// calls beyond the limit wait for a thread, in order.
    pub fn blocking_threads(mut self, most: usize) -> Self {
        self.0.config.blocking_threads = Some(most);
        self
    }

    /// How long a thread for calls that [block](mod@crate::blocking) stays when there is none to make: 10 s unless set, and in whole milliseconds. With zero
    /// each ends at once when it has nothing to do.
    pub fn blocking_idle(mut self, time: Duration) -> Self {
        let milliseconds = time.as_nanos().div_ceil(1_000_000);
        self.0.config.blocking_idle_ms = Some(u64::try_from(milliseconds).unwrap_or(u64::MAX));
        self
    }

    /// Lets every fiber go on at another worker after any suspension.
    ///
    /// # Safety
    ///
    /// What [`fiber::Builder::migratable`](crate::fiber::Builder::migratable) demands, in the one place where it is written, holds
    /// for every fiber of the runtime, those excepted that [`spawn_local`](crate::fiber::spawn_local) makes: they stay. A fiber in
    /// [steps](crate::fiber::spawn_steps) moves inside a step too.
    #[expect(unsafe_code, reason = "what lives on stacks is the caller's promise")]
    pub unsafe fn assume_migration_safe(mut self) -> Self {
        self.0.migrates = true;
        self
    }

    /// Leaves the panic hook alone. The first runtime that is started without this setting wraps
    /// the hook of the process, once: a line with the fiber's name comes before whatever that hook
    /// does, also if it does nothing. The default runtime does so.
    ///
    /// A hook that is wrapped may wait: it keeps its worker meanwhile. One that is not, because of
    /// this or because it was set later, must not wait for longer than 10 ms: another fiber of the
    /// same worker that panics meanwhile aborts the process.
    pub fn without_panic_hook(mut self) -> Self {
        self.0.no_panic_hook = true;
        self
    }

    /// Has a function called whenever a fiber is about to go on, its first time included, on the thread of its worker: so that what belongs to a
    /// thread, such as an arena of the allocator, can follow the fiber. Of several, all are called, in this order.
    ///
    /// Inside, [`fiber::current`](crate::fiber::current) is that fiber and [fiber-locals](crate::fiber_local) are its own. It cannot wait: what would is
    /// a panic there, but for what waits while a panic is under way, which blocks the thread. A panic is told by the panic hook, and ends there. A runtime without such functions pays nothing for them.
    ///
    /// ```
    /// use std::cell::Cell;
    ///
    /// thread_local! {
    ///     /// What the code that runs on this thread is about.
    ///     static REQUEST: Cell<u64> = const { Cell::new(0) };
    /// }
    /// sinew::fiber_local! {
    ///     static KEPT: Cell<u64> = const { Cell::new(0) };
    /// }
    ///
    /// let runtime = sinew::Runtime::builder()
    ///     .workers(1)
    ///     .on_resume(|| REQUEST.set(KEPT.get()))
    ///     // At the end of a fiber its locals are gone.
    ///     .on_suspend(|| drop(KEPT.try_with(|kept| kept.set(REQUEST.replace(0)))))
    ///     .start()?;
    /// runtime.run(|| {
    ///     REQUEST.set(7);
    ///     let other = sinew::fiber::spawn(|| REQUEST.get());
    ///     assert_eq!(other.join().unwrap(), 0);
    ///     assert_eq!(REQUEST.get(), 7);
    /// });
    /// # Ok::<(), sinew::StartError>(())
    /// ```
    pub fn on_resume(mut self, hook: impl Fn() + Send + Sync + 'static) -> Self {
        self.0.switch_hooks.on_resume(Arc::new(hook));
        self
    }

    /// Has a function called whenever a fiber has let go of its worker: it waits, yields or has ended. As [`on_resume`](Self::on_resume); of
    /// several, the last one is called first.
    pub fn on_suspend(mut self, hook: impl Fn() + Send + Sync + 'static) -> Self {
        self.0.switch_hooks.on_suspend(Arc::new(hook));
        self
    }

    /// Sets after how long a stuck worker is reported on standard error: one that has run the same
    /// fiber for this long, which blocks its thread or computes, while other fibers wait for the
    /// worker. The report names the fiber and says where it was spawned. The default is 1 s; `None`
    /// turns the report off.
    ///
    /// If every worker is stuck, one report names all of their fibers. If other workers still run
    /// fibers, a stuck one is reported only if fibers wait that have begun there and cannot move:
    /// they are ready to run, or the time or the socket that they wait for is. Each stall is
    /// reported once. A time below 10 ms counts as 10 ms. A fiber that spins on an atomic or on
    /// `try_` calls is reported too, since these never let another fiber run. Fibers that wait for
    /// something that never comes are not: a thread may still bring it.
    pub fn stall_report(mut self, after: Option<Duration>) -> Self {
        // At least the one millisecond that does not mean never.
        let milliseconds = |after: Duration| u64::try_from(after.as_millis()).unwrap_or(u64::MAX).max(1);
        self.0.config.stall_report_ms = Some(after.map_or(0, milliseconds));
        self
    }

    /// Starts the runtime.
    ///
    /// # Errors
    ///
    /// If a setting makes no sense, or a thread or descriptor was not to be had. Nothing is left behind then.
    pub fn start(self) -> Result<Runtime, StartError> {
        self.0.start().map(Runtime::new)
    }
}
