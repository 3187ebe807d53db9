//! Settings of a pool, and its start.

use std::fmt;
use std::io;
use std::mem;
use std::sync::Arc;
use std::time::Instant;

use super::Pool;
use super::error::BuildError;
use super::makers;
use super::starter::Starter;
use crate::clock::{self, Clock};
use crate::driver::Driver;
use crate::group::{Group, Nearby, Neighbourhood, Numbers, Role, Seat, Siblings};
use crate::lifecycle::Beginning;
use crate::pool_shared::{PoolShared, WorkerStarter as _};
use crate::strategy::Strategy;
use crate::task::Context;
use crate::worker::Hooks;
use sinew_topology::Plan;

/// Tasks that the shared queue holds before it spills, unless set.
const QUEUE: usize = 65_536;
const LARGEST_QUEUE: usize = 1 << 24;

/// Most workers of a group.
const MOST_WORKERS: usize = 64;
/// Most groups of a pool.
const MOST_GROUPS: usize = 1024;
/// Numbers that are reserved for the spare workers of a group, which has fewer.
const MOST_SPARES: usize = 128;

/// Rounds of searching without success after which a worker looks at other groups of its node,
/// unless set.
const STEAL_NEAR: u32 = 16;

/// Settings of a [`Pool`].
pub struct Builder {
    groups: Option<Vec<usize>>,
    nodes: Vec<usize>,
    is_numa: bool,
    steal_near: u32,
    steal_far: u32,
    strategy: Strategy,
    queue: usize,
    hooks: Hooks,
    starter: Starter,
    clock: Clock,
}

impl Default for Builder {
    fn default() -> Self {
        Self {
            groups: None,
            nodes: Vec::new(),
            is_numa: false,
            steal_near: STEAL_NEAR,
            steal_far: 0,
            strategy: Strategy::default(),
            queue: QUEUE,
            hooks: Hooks::default(),
            starter: Starter::default(),
            clock: clock::SYSTEM,
        }
    }
}

impl Builder {
    /// Sets the number of workers, in one group: 1 to 64. The default is the number of CPUs that
    /// the process may use, and at most 64.
    #[must_use]
    pub fn workers(self, workers: usize) -> Self {
        self.groups([workers])
    }

    /// Sets several groups, with these numbers of workers: 1 to 64 each. Each group has a queue of
    /// its own, and its workers wake one another and steal from one another. Work moves to another
    /// group only when its group has more than it can do.
    ///
    /// ```
    /// use sinew_sched::{Placement, Pool, TaskRef};
    /// use std::sync::mpsc;
    ///
    /// let pool = Pool::builder().groups([2, 1]).build()?;
    /// let (sender, receiver) = mpsc::channel();
    /// let task = TaskRef::new(move |context| {
    ///     sender.send((context.worker(), context.group())).unwrap();
    /// });
    /// pool.handle().submit(task, Placement::GroupOnly(1)).unwrap();
    /// assert_eq!(receiver.recv(), Ok((Some(2), Some(1))));
    /// # Ok::<(), sinew_sched::BuildError>(())
    /// ```
    #[must_use]
    pub fn groups(mut self, sizes: impl IntoIterator<Item = usize>) -> Self {
        self.groups = Some(sizes.into_iter().collect());
        self
    }

    /// Sets the groups of a plan: their sizes, their nodes, and the CPUs that their threads run on,
    /// if the plan chooses some. With NUMA on, a thread of the group's node makes what the group's
    /// workers share, so that its memory is on that node.
    ///
    /// ```
    /// use sinew_sched::Pool;
    /// use sinew_sched::topology::{Plan, Wishes};
    ///
    /// let wishes = Wishes { concurrency: Some(2), group_size: Some(1), ..Wishes::default() };
    /// let pool = Pool::builder().plan(&Plan::for_this_process("/", &wishes)?).build()?;
    /// assert_eq!((pool.workers(), pool.handle().groups()), (2, 2));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn plan(mut self, plan: &Plan) -> Self {
        let (layout, pinning) = (plan.layout(), plan.pinning());
        let numbers = 0..layout.groups();
        self.groups = Some(numbers.clone().map(|_| layout.group_size()).collect());
        self.nodes = numbers.map(|group| pinning.node(group).unwrap_or(0) as usize).collect();
        self.is_numa = layout.is_numa();
        self.starter.pinning = plan.chooses_cpus().then(|| pinning.clone());
        self
    }

    /// Sets the NUMA node of each group, in the order of the groups; a group without a value gets
    /// node 0. Groups of one node take work from one another. Groups of different nodes do so only
    /// if [it is turned on](Self::steal_across_nodes).
    #[must_use]
    pub fn nodes(mut self, nodes: impl IntoIterator<Item = usize>) -> Self {
        self.nodes = nodes.into_iter().collect();
        self
    }

    /// Sets after how many rounds of searching without success a worker looks at another group of
    /// its node. The default is 16; 0 means never.
    #[must_use]
    pub fn steal_within_node(mut self, rounds: u32) -> Self {
        self.steal_near = rounds;
        self
    }

    /// Sets after how many rounds of searching without success a worker looks at a group of another
    /// node. The default is 0, which means never.
    #[must_use]
    pub fn steal_across_nodes(mut self, rounds: u32) -> Self {
        self.steal_far = rounds;
        self
    }

    /// Sets the name of the threads, to which the worker's number is added: by default `sinew-0`
    /// and so on. The kernel shows the first 15 bytes.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.starter.name = name.into();
        self
    }

    /// Sets how the workers of a group share the tasks that any of them may run:
    /// [`Local`](Strategy::Local) by default.
    #[must_use]
    pub fn strategy(mut self, strategy: Strategy) -> Self {
        self.strategy = strategy;
        self
    }

    /// Sets how many tasks the shared queue takes before it spills to a list: 1 to 2^24. The
    /// default is 65,536. The memory is allocated at once.
    #[must_use]
    pub fn queue_capacity(mut self, capacity: usize) -> Self {
        self.queue = capacity;
        self
    }

    /// Sets a hook that each worker calls before its first task. A worker whose hook fails or
    /// panics runs no task: [`build`](Self::build) waits for the hooks, and returns the error.
    ///
    /// Spare workers call the hooks too. A spare worker starts when a worker
    /// [blocks](Context::block), and ends when it is not needed any more. If the start hook of a
    /// spare worker fails, that worker ends at once, as if its thread could not be started.
    #[must_use]
    pub fn on_start(mut self, hook: impl Fn(&Context<'_>) -> io::Result<()> + Send + Sync + 'static) -> Self {
        self.hooks.start = Some(Arc::new(hook));
        self
    }

    /// Sets a hook that each worker calls after its last task. Tasks that the hook submits at the
    /// end of the pool are discarded, and counted in the report.
    #[must_use]
    pub fn on_stop(mut self, hook: impl Fn(&Context<'_>) + Send + Sync + 'static) -> Self {
        self.hooks.stop = Some(Arc::new(hook));
        self
    }

    /// Sets a hook that a worker calls, instead of the stop hook, if tasks that it has begun have
    /// not ended when the pool is over. After the hook, its thread stays for ever, and what the
    /// tasks hold stays with it.
    #[must_use]
    pub fn on_stay(mut self, hook: impl Fn(&Context<'_>) + Send + Sync + 'static) -> Self {
        self.hooks.stay = Some(Arc::new(hook));
        self
    }

    /// Sets a hook that a worker calls when it has found a task after it had none, before it runs
    /// the task. By then it has stored that its state is [`Running`](crate::WorkerState::Running).
    /// The hook may be called often, and by several workers at a time.
    #[must_use]
    pub fn on_work(mut self, hook: impl Fn() + Send + Sync + 'static) -> Self {
        self.hooks.on_work = Some(Arc::new(hook));
        self
    }

    /// Sets a hook that a worker calls when it has found nothing to do, each time before it sleeps.
    /// The hook may submit work; if it always does, the pool never drains.
    #[must_use]
    pub fn before_sleep(mut self, hook: impl Fn(&Context<'_>) + Send + Sync + 'static) -> Self {
        self.hooks.before_sleep = Some(Arc::new(hook));
        self
    }

    /// Sets how to make the driver in which the worker of a given number sleeps: a
    /// [`FutexDriver`](crate::FutexDriver) by default. Drivers of spare workers are made when they
    /// are needed.
    #[must_use]
    pub fn driver(
        mut self,
        make: impl Fn(usize) -> io::Result<Box<dyn Driver>> + Send + Sync + 'static,
    ) -> Self {
        self.starter.driver = Box::new(make);
        self
    }

    /// Sets how a thread is started: with std by default. The function gets the thread's name and a
    /// closure to run there, which returns when the worker has ended. If it returns `Ok` without
    /// having started a thread, the pool has one worker fewer and does not know it. With a [start
    /// hook](Self::on_start), [`build`](Self::build) waits for the closure, so the function must
    /// run or drop it without waiting for the pool.
    #[must_use]
    pub fn spawn_with(
        mut self,
        spawn: impl Fn(String, Box<dyn FnOnce() + Send>) -> io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        self.starter.spawner = Box::new(spawn);
        self
    }

    /// Sets the function that the pool reads the time from: `Instant::now` by default.
    ///
    /// Workers use it to measure how long they search and sleep, and a [shutdown](Pool::shutdown)
    /// uses it for its deadline. Sleeps take their time from the [driver](Self::driver): it gets
    /// the durations that the pool computes. While the function returns the same time, workers that
    /// find nothing search on and do not sleep. The function must not panic. If it returns an
    /// earlier time than before, no time counts as passed.
    ///
    /// ```
    /// use sinew_sched::Pool;
    /// use std::sync::atomic::{AtomicU64, Ordering};
    /// use std::time::Instant;
    ///
    /// static READS: AtomicU64 = AtomicU64::new(0);
    ///
    /// let counted = || {
    ///     READS.fetch_add(1, Ordering::Relaxed);
    ///     Instant::now()
    /// };
    /// let pool = Pool::builder().workers(1).clock(counted).build()?;
    /// assert!(pool.shutdown(None).drained);
    /// assert!(READS.load(Ordering::Relaxed) > 0);
    /// # Ok::<(), sinew_sched::BuildError>(())
    /// ```
    #[must_use]
    pub fn clock(mut self, now: fn() -> Instant) -> Self {
        self.clock = now;
        self
    }

    /// Starts the pool.
    ///
    /// # Errors
    ///
    /// Returns an error if a setting is out of range, a driver or thread cannot be made, or a start
    /// hook fails. All threads that were started have ended by then.
    pub fn build(mut self) -> Result<Pool, BuildError> {
        let sizes = self.groups.clone().unwrap_or_else(|| vec![available()]);
        if sizes.is_empty() || sizes.len() > MOST_GROUPS {
            return Err(BuildError::Groups(sizes.len()));
        }
        if let Some(size) = sizes.iter().find(|size| !(1..=MOST_WORKERS).contains(*size)) {
            return Err(BuildError::Workers(*size));
        }
        if !(1..=LARGEST_QUEUE).contains(&self.queue) {
            return Err(BuildError::QueueCapacity(self.queue));
        }
        if self.starter.name.contains('\0') {
            return Err(BuildError::Name(mem::take(&mut self.starter.name)));
        }
        let workers = sizes.iter().sum();
        let groups = self.groups_on_their_nodes(&sizes)?;
        let has_start = self.hooks.start.is_some();
        self.starter.hooks = Arc::new(self.hooks);
        let shared = Arc::new(PoolShared::new(groups, Box::new(self.starter), self.clock));
        let pool = Pool::with_shared(shared.clone());
        match start_workers(&shared, workers, has_start) {
            Ok(()) => Ok(pool),
            Err(error) => {
                pool.abandon();
                Err(error)
            }
        }
    }

    /// Makes all groups. With NUMA on, a thread on each node makes those of the node.
    fn groups_on_their_nodes(&self, sizes: &[usize]) -> Result<Vec<Arc<Group>>, BuildError> {
        let make = |groups: &[usize]| groups.iter().map(|group| self.group(sizes, *group)).collect();
        let all: Vec<_> = (0..sizes.len()).collect();
        match self.starter.pinning.as_ref().filter(|_| self.is_numa) {
            Some(pinning) => makers::make_on_nodes(pinning, &all, make),
            None => make(&all),
        }
    }

    /// Makes one of the groups, with its seats.
    fn group(&self, sizes: &[usize], group: usize) -> Result<Arc<Group>, BuildError> {
        let (first, workers) = (sizes[..group].iter().sum(), sizes.iter().sum::<usize>());
        let numbers = Numbers { first, first_spare: workers + group * MOST_SPARES };
        let seats =
            (first..first + sizes[group]).map(|worker| self.seat(worker)).collect::<Result<_, _>>()?;
        // Made in place: the words that all workers of a group use stay on the node of this thread.
        // A group that is moved later would leave them on another node.
        Ok(Arc::new(Group::new(self.place_of(sizes.len(), group), numbers, seats, self.queue)))
    }

    /// Returns where a group is, and from which others it takes work.
    fn place_of(&self, groups: usize, group: usize) -> Neighbourhood {
        let node = |group: usize| self.nodes.get(group).copied().unwrap_or(0);
        let others = |near: bool, every: u32| {
            let others = (0..groups).filter(|&other| other != group && (node(other) == node(group)) == near);
            Nearby { groups: if every == 0 { Box::default() } else { others.collect() }, every }
        };
        let siblings = Siblings { near: others(true, self.steal_near), far: others(false, self.steal_far) };
        Neighbourhood { group, strategy: self.strategy, node: node(group), siblings }
    }

    fn seat(&self, worker: usize) -> Result<Seat, BuildError> {
        let seat = self.starter.seat(worker, Role::Regular);
        seat.map_err(|error| BuildError::Driver(worker, error))
    }
}

/// Starts all workers. If there is a start hook, waits until all have called it.
fn start_workers(shared: &Arc<PoolShared>, workers: usize, has_hook: bool) -> Result<(), BuildError> {
    let (beginning, failures) = Beginning::watched();
    for worker in 0..workers {
        let Some((group, index)) = shared.worker(worker) else { continue };
        let started = shared.starter.start(shared, group, index, beginning.another());
        started.map_err(|error| BuildError::Thread(worker, error))?;
    }
    drop(beginning);
    if !has_hook {
        return Ok(());
    }
    // None means that all workers have begun, and none can fail any more.
    failures.first().map_or(Ok(()), |(worker, error)| Err(BuildError::Start(worker, error)))
}

/// Returns how many CPUs this process may use, at most as many as a group may have workers.
fn available() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get).min(MOST_WORKERS)
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("groups", &self.groups)
            .field("nodes", &self.nodes)
            .field("name", &self.starter.name)
            .field("queue", &self.queue)
            .field("hooks", &self.hooks)
            .finish_non_exhaustive()
    }
}
