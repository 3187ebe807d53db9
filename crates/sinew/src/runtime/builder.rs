//! Settings of a runtime, and starting it.
//!
//! # Safety
//!
//! Passes on a promise of its callers about what lives on stacks, and does nothing unsafe itself.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use sinew_sched::{Profile, Strategy};
use sinew_topology::CpuList;

use super::Runtime;
use crate::launch::{Config, Spec, StartError};

/// Settings of a [`Runtime`]. They may start [from](#impl-From<Config>-for-RuntimeBuilder) a
/// [`Config`]. A setting that is not set comes from the environment, or has the default that its
/// method states.
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
/// | `SINEW_STALL_REPORT_MS`, 0 to turn it off | [`stall_report`](Self::stall_report) |
///
/// A flag is `on`, `yes`, `true` or `1`, or else `off`, `no`, `false` or `0`. There are no
/// variables for [`groups`](Self::groups) and [`name`](Self::name). The first runtime of a process
/// warns on standard error about any other variable that begins with `SINEW_`, and suggests the
/// likely name.
///
/// A setting in code or in a [`Config`] has precedence over the environment, and the environment
/// over the default. To let the environment override a file, see [`Config::from_environment`].
///
/// Groups are either given, by [`workers`](Self::workers) or [`groups`](Self::groups), or planned
/// for the machine, by [`profile`](Self::profile), [`concurrency`](Self::concurrency),
/// [`group_size`](Self::group_size), [`numa`](Self::numa), [`cpus`](Self::cpus),
/// [`excluded_cpus`](Self::excluded_cpus) and [`worker_per_cpu`](Self::worker_per_cpu). To set some
/// of both is an error. If code or a `Config` chooses one way, variables for the other way are
/// ignored. [`Runtime::describe`](crate::runtime::Handle::describe) lists ignored variables, and
/// says what was chosen and why.
#[must_use = "a runtime is made by `start`"]
#[derive(Debug, Default)]
pub struct RuntimeBuilder(Spec);

impl From<Config> for RuntimeBuilder {
    fn from(config: Config) -> Self {
        Self(Spec { config, ..Spec::default() })
    }
}

impl RuntimeBuilder {
    /// Sets the number of workers. They are in one group if there are at most 64, and otherwise in
    /// as few groups as possible. By default groups are planned for the machine; to set only how
    /// many workers that plan has, use [`concurrency`](Self::concurrency). Of this method and
    /// [`groups`](Self::groups) the later call counts.
    pub fn workers(mut self, workers: usize) -> Self {
        (self.0.config.workers, self.0.config.groups) = (Some(workers), None);
        self
    }

    /// Sets the number of workers in each group: 1 to 1,024 groups of 1 to 64 workers. A group has
    /// queues of its own. Fibers that have not begun move between groups only if their group has
    /// more fibers than it can run.
    pub fn groups(mut self, sizes: impl IntoIterator<Item = usize>) -> Self {
        (self.0.config.workers, self.0.config.groups) = (None, Some(sizes.into_iter().collect()));
        self
    }

    /// Sets the kind of work that the groups are planned for. The default is
    /// [`Neutral`](Profile::Neutral).
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

    /// Sets the minimum number of workers. The profile decides into how many groups they are
    /// divided. The default is the number of CPUs that the process may use, by its affinity mask
    /// and its control groups.
    pub fn concurrency(mut self, workers: usize) -> Self {
        self.0.config.concurrency = Some(workers);
        self
    }

    /// Sets the number of workers of a group, 1 to 64. By default the profile decides.
    pub fn group_size(mut self, workers: usize) -> Self {
        self.0.config.group_size = Some(workers);
        self
    }

    /// Sets whether each group belongs to a NUMA node, and its threads run only there. By default
    /// the profile decides.
    pub fn numa(mut self, on: bool) -> Self {
        self.0.config.numa = Some(on);
        self
    }

    /// Sets the CPUs that the workers' threads may run on. By default the kernel decides. A list is
    /// parsed from text, such as `"0-3".parse()?`, or `"-1".parse()?` for the last CPU. A
    /// [`CpuSet`](crate::topology::CpuSet) is converted by `(&set).try_into()?`.
    pub fn cpus(mut self, cpus: CpuList) -> Self {
        self.0.config.cpus = Some(cpus);
        self
    }

    /// Sets CPUs that the workers' threads do not run on.
    pub fn excluded_cpus(mut self, cpus: CpuList) -> Self {
        self.0.config.excluded_cpus = Some(cpus);
        self
    }

    /// Sets whether each worker runs on a CPU of its own. The default is false.
    pub fn worker_per_cpu(mut self, on: bool) -> Self {
        self.0.config.worker_per_cpu = Some(on);
        self
    }

    /// Sets the directory whose `sys` and `proc` describe the machine. The default is `/`. For
    /// tests with descriptions of other machines.
    pub fn machine_root(mut self, root: impl Into<PathBuf>) -> Self {
        self.0.machine_root = Some(root.into());
        self
    }

    /// Sets how the workers of a group share the fibers that any worker may run. The default is
    /// [`Local`](Strategy::Local).
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

    /// Sets after how many unsuccessful rounds of searching a worker tries to steal from another
    /// group of its node. The default is 16; 0 means never.
    pub fn steal_within_node(mut self, rounds: u32) -> Self {
        self.0.config.steal_within_node = Some(rounds);
        self
    }

    /// Sets after how many unsuccessful rounds of searching a worker tries to steal from a group of
    /// another node. The default is 0, which means never.
    pub fn steal_across_nodes(mut self, rounds: u32) -> Self {
        self.0.config.steal_across_nodes = Some(rounds);
        self
    }

    /// Sets how many fibers the queue of a group holds before it spills to a list: 1 to 2^24. The
    /// default is 65,536.
    pub fn queue_capacity(mut self, fibers: usize) -> Self {
        self.0.config.queue_capacity = Some(fibers);
        self
    }

    /// Sets the name of the runtime and the prefix of its threads' names, which the worker's number
    /// follows. The default is `sinew`. It must not contain a NUL (`\0`), as the name of a thread
    /// must not.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.0.config.name = Some(name.into());
        self
    }

    /// Sets the size of a fiber's stack, in bytes, unless the fiber sets another: 16 KiB to 64 MiB.
    /// The default is 128 KiB, and twice that in debug builds.
    pub fn stack_size(mut self, size: usize) -> Self {
        self.0.config.stack_size = Some(size);
        self
    }

    /// Sets the maximum number of fibers that exist at a time, including those that have not begun:
    /// at least 1. By default there is no limit. A fiber that is abandoned at a shutdown counts for
    /// ever. Fibers that call back for [timers](crate::time) do not count.
    pub fn max_fibers(mut self, most: usize) -> Self {
        self.0.config.max_fibers = Some(most);
        self
    }

    /// Sets how many stacks are allocated before the first fiber: at most a million. The default is
    /// 0.
    pub fn prewarm(mut self, stacks: usize) -> Self {
        self.0.config.prewarm = Some(stacks);
        self
    }

    /// Sets the maximum number of threads for calls that [block](mod@crate::blocking): at least 1.
    /// The default is 512. Threads are started when they are needed. Calls beyond the limit wait
    /// for a thread, in order.
    pub fn blocking_threads(mut self, most: usize) -> Self {
        self.0.config.blocking_threads = Some(most);
        self
    }

    /// Sets how long a thread for calls that [block](mod@crate::blocking) stays without a call,
    /// rounded up to milliseconds. The default is 10 s. With zero each thread ends as soon as it
    /// has no call.
    pub fn blocking_idle(mut self, time: Duration) -> Self {
        let milliseconds = time.as_nanos().div_ceil(1_000_000);
        self.0.config.blocking_idle_ms = Some(u64::try_from(milliseconds).unwrap_or(u64::MAX));
        self
    }

    /// Lets every fiber migrate: after any suspension it may continue on another worker.
    ///
    /// # Safety
    ///
    /// The conditions of [`fiber::Builder::migratable`](crate::fiber::Builder::migratable) hold for
    /// every fiber of the runtime, except those that [`spawn_local`](crate::fiber::spawn_local)
    /// creates, which do not migrate. A fiber in [steps](crate::fiber::spawn_steps) may then
    /// migrate inside a step too.
    #[expect(unsafe_code, reason = "what lives on stacks is the caller's promise")]
    pub unsafe fn assume_migration_safe(mut self) -> Self {
        self.0.migrates = true;
        self
    }

    /// Leaves the panic hook as it is. The first runtime that is started without this setting, such
    /// as the default runtime, wraps the hook of the process, once: it prints a line with the
    /// fiber's name before it calls the wrapped hook, also if that prints nothing.
    ///
    /// A wrapped hook may wait, and blocks its worker meanwhile. A hook that is not wrapped,
    /// because of this setting or because it was set later, must not wait for longer than 10 ms: if
    /// another fiber of the same worker panics meanwhile, the process aborts.
    pub fn without_panic_hook(mut self) -> Self {
        self.0.no_panic_hook = true;
        self
    }

    /// Calls a function whenever a fiber is about to continue or to begin, on the thread of its
    /// worker. So state of the thread, such as an arena of the allocator, can follow the fiber. If
    /// several functions are set, all are called, in the order in which they were set.
    ///
    /// Inside the function, [`fiber::current`](crate::fiber::current) returns that fiber, and
    /// [fiber-locals](crate::fiber_local) are its own. The function must not wait: a wait panics,
    /// except while a panic is in progress, when it blocks the thread. A panic of the function is
    /// reported by the panic hook and goes no further. A runtime without such functions has no cost
    /// for them.
    ///
    /// ```
    /// use std::cell::Cell;
    ///
    /// thread_local! {
    ///     /// The request that the code on this thread works on.
    ///     static REQUEST: Cell<u64> = const { Cell::new(0) };
    /// }
    /// sinew::fiber_local! {
    ///     static KEPT: Cell<u64> = const { Cell::new(0) };
    /// }
    ///
    /// let runtime = sinew::Runtime::builder()
    ///     .workers(1)
    ///     .on_resume(|| REQUEST.set(KEPT.get()))
    ///     // At the end of a fiber its locals are gone, so this may fail.
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

    /// Calls a function whenever a fiber has left its worker because it waits, yields or has ended.
    /// The rules of [`on_resume`](Self::on_resume) apply. If several functions are set, the last
    /// one is called first.
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
        // At least one millisecond, because 0 means never.
        let milliseconds = |after: Duration| u64::try_from(after.as_millis()).unwrap_or(u64::MAX).max(1);
        self.0.config.stall_report_ms = Some(after.map_or(0, milliseconds));
        self
    }

    /// Starts the runtime.
    ///
    /// # Errors
    ///
    /// Returns an error if a setting is invalid, or if a thread or descriptor could not be created.
    /// Nothing that was created before is left behind.
    pub fn start(self) -> Result<Runtime, StartError> {
        self.0.start().map(Runtime::new)
    }
}
