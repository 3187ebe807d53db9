//! Settings of a runtime, and its start.
//!
//! # Safety
//!
//! Takes a promise of its callers about what lives on stacks, and does nothing unsafe itself.

use std::error::Error;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use sinew_coroutine::{DEFAULT_STACK_SIZE, LARGEST_CLASS};
use sinew_sched::topology::{CpuList, Plan, PlanError, Selection, Wishes};
use sinew_sched::{BuildError, Profile};

use super::{Runtime, environment};
use crate::rt::{Engine, Layout, Settings};

/// Settings of a [`Runtime`]. What is not set comes from the environment, or is as stated.
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
/// | `SINEW_STEAL_WITHIN_NODE`, `SINEW_STEAL_ACROSS_NODES` | [`steal_within_node`](Self::steal_within_node), [`steal_across_nodes`](Self::steal_across_nodes) |
/// | `SINEW_QUEUE_CAPACITY` | [`queue_capacity`](Self::queue_capacity) |
/// | `SINEW_STACK_SIZE`, in bytes | [`stack_size`](Self::stack_size) |
///
/// With [`workers`](Self::workers) or [`groups`](Self::groups) the groups are as given, and nothing is planned. Otherwise they are laid
/// out for the machine, by its [`profile`](Self::profile); [`Runtime::describe`] tells what came of it.
#[must_use = "a runtime is made by `start`"]
#[derive(Debug, Default)]
pub struct RuntimeBuilder {
    groups: Option<Vec<usize>>,
    profile: Option<Profile>,
    concurrency: Option<usize>,
    group_size: Option<usize>,
    numa: Option<bool>,
    cpus: Option<CpuList>,
    excluded_cpus: Option<CpuList>,
    worker_per_cpu: Option<bool>,
    steal_within_node: Option<u32>,
    steal_across_nodes: Option<u32>,
    queue_capacity: Option<usize>,
    machine_root: Option<PathBuf>,
    name: Option<String>,
    stack_size: Option<usize>,
    max_fibers: Option<usize>,
    prewarm: usize,
    migrates: bool,
    no_panic_hook: bool,
    stall_report: Option<Option<Duration>>,
}

/// The most workers that a group has.
const MOST_WORKERS: usize = 64;

/// The most fibers that the queue of a group takes before it spills.
const LARGEST_QUEUE: usize = 1 << 24;

/// Why a runtime did not start.
#[derive(Debug)]
#[non_exhaustive]
pub enum StartError {
    /// The workers did not start.
    Workers(BuildError),
    /// Groups could not be laid out for this machine.
    Plan(PlanError),
    /// Groups were given, and this setting, which says how to lay them out, besides.
    Contradiction(&'static str),
    /// A variable of the environment makes no sense.
    #[non_exhaustive]
    Environment {
        /// Its name.
        name: &'static str,
        /// Its value.
        value: String,
        /// What would make sense, in words.
        wanted: String,
    },
    /// No stack is so large as all were to be.
    StackSize(usize),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Workers(error) => write!(f, "{error}"),
            Self::Plan(error) => write!(f, "{error}"),
            Self::Contradiction(setting) => {
                write!(
                    f,
                    "`{setting}` says how to lay groups out, but they are given: leave one of the two out"
                )
            }
            Self::Environment { name, value, wanted } => {
                write!(f, "{name} is {value:?} in the environment: set it to {wanted}, or not at all")
            }
            Self::StackSize(size) => {
                write!(f, "stacks of {size} bytes were asked for: the largest has {LARGEST_CLASS}")
            }
        }
    }
}

impl Error for StartError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Workers(error) => Some(error),
            Self::Plan(error) => Some(error),
            Self::Contradiction(_) | Self::Environment { .. } | Self::StackSize(_) => None,
        }
    }
}

impl RuntimeBuilder {
    /// How many workers, in one group: 1 to 64; as many as the process has CPUs unless set.
    pub fn workers(self, workers: usize) -> Self {
        self.groups([workers])
    }

    /// Workers in several groups, so many in each: 1 to 64. A group has queues of its own; between groups fibers that have not begun
    /// go only when one has more than it can do.
    pub fn groups(mut self, sizes: impl IntoIterator<Item = usize>) -> Self {
        self.groups = Some(sizes.into_iter().collect());
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
        self.profile = Some(profile);
        self
    }

    /// How many workers there should be at least, in as many groups as the profile has for them: as many as the process may use
    /// CPUs unless set, by its affinity mask and its control groups.
    pub fn concurrency(mut self, workers: usize) -> Self {
        self.concurrency = Some(workers);
        self
    }

    /// How many workers a group has, 1 to 64: as the profile says unless set.
    pub fn group_size(mut self, workers: usize) -> Self {
        self.group_size = Some(workers);
        self
    }

    /// Whether groups belong to NUMA nodes, and their threads run there: as the profile says unless set.
    pub fn numa(mut self, on: bool) -> Self {
        self.numa = Some(on);
        self
    }

    /// The CPUs that the workers' threads run on: wherever the kernel puts them unless set. `"0-3"`, say, or `"-1"` for the last.
    pub fn cpus(mut self, cpus: CpuList) -> Self {
        self.cpus = Some(cpus);
        self
    }

    /// CPUs that the workers' threads do not run on.
    pub fn excluded_cpus(mut self, cpus: CpuList) -> Self {
        self.excluded_cpus = Some(cpus);
        self
    }

    /// Whether each worker has a CPU of its own; not unless set.
    pub fn worker_per_cpu(mut self, on: bool) -> Self {
        self.worker_per_cpu = Some(on);
        self
    }

    /// Where the machine is described, in `sys` and `proc` below this directory: `/` unless set. For tests of machines that one does
    /// not have.
    pub fn machine_root(mut self, root: impl Into<PathBuf>) -> Self {
        self.machine_root = Some(root.into());
        self
    }

    /// After how many rounds of searching that come to nothing a worker looks at another group of its node: 16 unless set; 0 for
    /// never.
    pub fn steal_within_node(mut self, rounds: u32) -> Self {
        self.steal_within_node = Some(rounds);
        self
    }

    /// After how many rounds of searching that come to nothing a worker looks at a group of another node: 0, for never, unless set.
    pub fn steal_across_nodes(mut self, rounds: u32) -> Self {
        self.steal_across_nodes = Some(rounds);
        self
    }

    /// How many fibers the queue of a group takes before it spills to a list: 1 to 2^24; 65,536 unless set.
    pub fn queue_capacity(mut self, fibers: usize) -> Self {
        self.queue_capacity = Some(fibers);
        self
    }

    /// What the threads are called: `sinew` unless set, with the worker's number behind it.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// How much stack a fiber has, in bytes, unless it is made with another: 128 KiB unless set, double that in debug builds; 64 MiB
    /// at most.
    pub fn stack_size(mut self, size: usize) -> Self {
        self.stack_size = Some(size);
        self
    }

    /// How many fibers there may be at a time, those included that have not begun; no limit unless set. One that is abandoned at
    /// a shutdown counts for ever.
    pub fn max_fibers(mut self, most: usize) -> Self {
        self.max_fibers = Some(most);
        self
    }

    /// How many stacks to have ready before the first fiber: a million at most.
    pub fn prewarm(mut self, stacks: usize) -> Self {
        self.prewarm = stacks;
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
        self.migrates = true;
        self
    }

    /// Leaves the panic hook alone. Unless this is called for the first runtime of a process, and for all others, the hook is
    /// wrapped once: a panic in a fiber is told with the fiber's name, and then the hook that was there is called.
    pub fn without_panic_hook(mut self) -> Self {
        self.no_panic_hook = true;
        self
    }

    /// After how long it is told on standard error that every worker is stuck: each has run one and the same fiber for so long, which
    /// blocks its thread or computes, while others wait to run. The message names those fibers. 1 s unless set; never, if none.
    ///
    /// A time below 10 ms counts as that. It is told once for each time that it happens. If a worker is idle, or lets fibers run, it is not; nor if all fibers wait
    /// for something that never comes: a thread may still bring it.
    pub fn stall_report(mut self, after: Option<Duration>) -> Self {
        self.stall_report = Some(after);
        self
    }

    /// Starts the runtime.
    ///
    /// # Errors
    ///
    /// If a setting makes no sense, or a thread or descriptor was not to be had. Nothing is left behind then.
    pub fn start(mut self) -> Result<Runtime, StartError> {
        let size = environment::number("SINEW_STACK_SIZE", 0..=LARGEST_CLASS)?;
        let settings = Settings {
            layout: self.layout()?,
            steal_within_node: rounds(self.steal_within_node, "SINEW_STEAL_WITHIN_NODE")?,
            steal_across_nodes: rounds(self.steal_across_nodes, "SINEW_STEAL_ACROSS_NODES")?,
            queue_capacity: self
                .queue_capacity
                .or(environment::number("SINEW_QUEUE_CAPACITY", 1..=LARGEST_QUEUE)?),
            name: self.name.unwrap_or_else(|| "sinew".to_owned()),
            stack_size: self.stack_size.or(size).unwrap_or(DEFAULT_STACK_SIZE).max(1),
            max_fibers: self.max_fibers,
            prewarm: self.prewarm,
            migrates: self.migrates,
            stall_report: self.stall_report.unwrap_or(Some(Duration::from_secs(1))),
            panic_hook: !self.no_panic_hook,
        };
        if settings.stack_size > LARGEST_CLASS {
            return Err(StartError::StackSize(settings.stack_size));
        }
        let (engine, pool) = Engine::start(settings).map_err(StartError::Workers)?;
        Ok(Runtime { engine, pool: Some(pool) })
    }

    /// The groups: as given, or laid out for this machine.
    fn layout(&mut self) -> Result<Layout, StartError> {
        if let Some(groups) = self.groups.take() {
            let contradiction = self.planning().into_iter().find(|(_, is_set)| *is_set);
            return match contradiction {
                Some((setting, _)) => Err(StartError::Contradiction(setting)),
                None => Ok(Layout::Given(groups)),
            };
        }
        let is_planned = self.planning().iter().any(|(_, is_set)| *is_set);
        if let Some(workers) = environment::number("SINEW_WORKERS", 1..=MOST_WORKERS)?.filter(|_| !is_planned)
        {
            return Ok(Layout::Given(vec![workers]));
        }
        let wishes = self.wishes()?;
        let root = self.machine_root.take().unwrap_or_else(|| PathBuf::from("/"));
        match Plan::for_this_process(root, &wishes) {
            Ok(plan) => Ok(Layout::Planned(Box::new(plan))),
            // Whoever wants nothing in particular gets what there is.
            Err(error) if wishes == Wishes::default() => Ok(Layout::Unknown(error.to_string())),
            Err(error) => Err(StartError::Plan(error)),
        }
    }

    /// The settings that say how to lay groups out, and whether they are set.
    fn planning(&self) -> [(&'static str, bool); 7] {
        [
            ("profile", self.profile.is_some()),
            ("concurrency", self.concurrency.is_some()),
            ("group_size", self.group_size.is_some()),
            ("numa", self.numa.is_some()),
            ("cpus", self.cpus.is_some()),
            ("excluded_cpus", self.excluded_cpus.is_some()),
            ("worker_per_cpu", self.worker_per_cpu.is_some()),
        ]
    }

    fn wishes(&mut self) -> Result<Wishes, StartError> {
        let size = environment::number("SINEW_GROUP_SIZE", 1..=MOST_WORKERS)?;
        let concurrency = environment::number("SINEW_CONCURRENCY", 1..=usize::MAX)?;
        let (allowed, excluded) = (self.cpus.take(), self.excluded_cpus.take());
        Ok(Wishes {
            profile: self.profile.or(environment::value("SINEW_PROFILE")?).unwrap_or_default(),
            concurrency: self.concurrency.or(concurrency),
            group_size: self.group_size.or(size),
            numa: self.numa.or(environment::flag("SINEW_NUMA")?),
            cpus: Selection {
                allowed: allowed.or(environment::value("SINEW_CPUS")?),
                excluded: excluded.or(environment::value("SINEW_EXCLUDED_CPUS")?),
            },
            one_per_cpu: self.worker_per_cpu.or(environment::flag("SINEW_WORKER_PER_CPU")?).unwrap_or(false),
        })
    }
}

fn rounds(set: Option<u32>, name: &'static str) -> Result<Option<u32>, StartError> {
    Ok(set.or(environment::number(name, 0..=u32::MAX as usize)?.map(|rounds| rounds as u32)))
}
