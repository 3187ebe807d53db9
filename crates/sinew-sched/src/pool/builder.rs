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

/// Tasks that the shared queue holds before it spills.
const QUEUE: usize = 65_536;
const LARGEST_QUEUE: usize = 1 << 24;

/// Workers of a group.
const MOST_WORKERS: usize = 64;
/// Groups of a pool.
const MOST_GROUPS: usize = 1024;
/// Numbers for the spare workers of a group, of which there are fewer.
const MOST_SPARES: usize = 128;

/// After so many vain rounds, workers look at other groups of their node.
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
    /// How many workers, in one group: 1 to 64; as many as the process has CPUs, and 64 at most, unless set.
    #[must_use]
    pub fn workers(self, workers: usize) -> Self {
        self.groups([workers])
    }

    /// Workers in several groups, so many in each: 1 to 64. A group has a queue of its own, and its workers wake and rob one
    /// another; between groups work goes only when one has more than it can do.
    ///
    /// ```
    /// use sinew_sched::{Placement, Pool, TaskRef};
    /// use std::sync::mpsc;
    ///
    /// let pool = Pool::builder().groups([2, 1]).build()?;
    /// let (sender, receiver) = mpsc::channel();
    /// let task = TaskRef::new(move |context| sender.send((context.worker(), context.group())).unwrap());
    /// pool.handle().submit(task, Placement::GroupOnly(1)).unwrap();
    /// assert_eq!(receiver.recv(), Ok((Some(2), Some(1))));
    /// # Ok::<(), sinew_sched::BuildError>(())
    /// ```
    #[must_use]
    pub fn groups(mut self, sizes: impl IntoIterator<Item = usize>) -> Self {
        self.groups = Some(sizes.into_iter().collect());
        self
    }

    /// Groups as a plan has them: their sizes, nodes, and the CPUs that their threads run on, if it chose some. With NUMA on, what a
    /// group's workers share is made on a thread of its node, so that the memory is there.
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

    /// The NUMA node of each group, in their order: 0 where none is given. Those of one node take work from one another, others
    /// only if [that is on](Self::steal_across_nodes).
    #[must_use]
    pub fn nodes(mut self, nodes: impl IntoIterator<Item = usize>) -> Self {
        self.nodes = nodes.into_iter().collect();
        self
    }

    /// After how many rounds of searching that come to nothing a worker looks at another group of its node: 16 unless set; 0 for
    /// never.
    #[must_use]
    pub fn steal_within_node(mut self, rounds: u32) -> Self {
        self.steal_near = rounds;
        self
    }

    /// After how many rounds of searching that come to nothing a worker looks at a group of another node: 0, for never, unless
    /// set.
    #[must_use]
    pub fn steal_across_nodes(mut self, rounds: u32) -> Self {
        self.steal_far = rounds;
        self
    }

    /// What the threads are called, with the worker's number behind it: `sinew-0` and so on unless set. The kernel shows the
    /// first 15 bytes.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.starter.name = name.into();
        self
    }

    /// How the workers of a group share what anyone may run: [`Local`](Strategy::Local) unless set.
    #[must_use]
    pub fn strategy(mut self, strategy: Strategy) -> Self {
        self.strategy = strategy;
        self
    }

    /// How many tasks the shared queue takes before it spills to a list: 1 to 2^24; 65,536 unless set. Memory for it is
    /// taken at once.
    #[must_use]
    pub fn queue_capacity(mut self, capacity: usize) -> Self {
        self.queue = capacity;
        self
    }

    /// Called by each worker before its first task. A worker whose hook fails or panics runs no task:
    /// [`build`](Self::build) waits for the hooks, and returns the error.
    ///
    /// Spare workers call the hooks too: they come when a worker [blocks](Context::block), and go when they are not needed any more. If
    /// the start hook of one fails, the worker goes at once, as if its thread could not be had.
    #[must_use]
    pub fn on_start(mut self, hook: impl Fn(&Context<'_>) -> io::Result<()> + Send + Sync + 'static) -> Self {
        self.hooks.start = Some(Arc::new(hook));
        self
    }

    /// Called by each worker after its last task. What it submits at the end of the pool is discarded, and reported.
    #[must_use]
    pub fn on_stop(mut self, hook: impl Fn(&Context<'_>) + Send + Sync + 'static) -> Self {
        self.hooks.stop = Some(Arc::new(hook));
        self
    }

    /// Called, in place of the one on stop, by a worker that has begun tasks which have not ended when all is over: its thread
    /// stays for ever after this, and what the tasks hold stays with it.
    #[must_use]
    pub fn on_stay(mut self, hook: impl Fn(&Context<'_>) + Send + Sync + 'static) -> Self {
        self.hooks.stay = Some(Arc::new(hook));
        self
    }

    /// Called by a worker that has found a task after it had none, before it runs the task. By then
    /// it has stored that its state is [`Running`](crate::WorkerState::Running). The hook may be
    /// called often, and by several workers at a time.
    #[must_use]
    pub fn on_work(mut self, hook: impl Fn() + Send + Sync + 'static) -> Self {
        self.hooks.on_work = Some(Arc::new(hook));
        self
    }

    /// Called by a worker that has found nothing to do, each time before it sleeps. It may submit work; if it always
    /// does, the pool never drains.
    #[must_use]
    pub fn before_sleep(mut self, hook: impl Fn(&Context<'_>) + Send + Sync + 'static) -> Self {
        self.hooks.before_sleep = Some(Arc::new(hook));
        self
    }

    /// What the worker of a number sleeps in: a [`FutexDriver`](crate::FutexDriver) unless set. Those of spare workers are
    /// made when they are needed.
    #[must_use]
    pub fn driver(
        mut self,
        make: impl Fn(usize) -> io::Result<Box<dyn Driver>> + Send + Sync + 'static,
    ) -> Self {
        self.starter.driver = Box::new(make);
        self
    }

    /// How a thread is started: by std unless set. It is given the thread's name and what to run there, which returns when
    /// the worker has ended. If it says that it has started a thread and has not, the pool has a worker less and does not
    /// know. With a [start hook](Self::on_start), what is to run must be run or dropped without waiting for the pool, which waits for that
    /// to be built.
    #[must_use]
    pub fn spawn_with(
        mut self,
        spawn: impl Fn(String, Box<dyn FnOnce() + Send>) -> io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        self.starter.spawner = Box::new(spawn);
        self
    }

    /// Sets the function that the pool reads the time from: `Instant::now` unless set.
    ///
    /// Workers measure with it how long they search and sleep, and a [shutdown](Pool::shutdown)
    /// when it has to end. Sleeps take their time from the [driver](Self::driver): it gets the
    /// durations that the pool computes. While the function returns the same time, workers that
    /// find nothing search on and do not sleep. It must not panic. A time before one that it has
    /// returned counts as no time passed.
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
    /// If a setting makes no sense, a driver or thread was not to be had, or a start hook has failed. Nothing is left behind then.
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

    /// All groups, those of a node made on a thread that runs there, if that matters.
    fn groups_on_their_nodes(&self, sizes: &[usize]) -> Result<Vec<Arc<Group>>, BuildError> {
        let make = |groups: &[usize]| groups.iter().map(|group| self.group(sizes, *group)).collect();
        let all: Vec<_> = (0..sizes.len()).collect();
        match self.starter.pinning.as_ref().filter(|_| self.is_numa) {
            Some(pinning) => makers::make_on_nodes(pinning, &all, make),
            None => make(&all),
        }
    }

    /// One of the groups, with its seats.
    fn group(&self, sizes: &[usize], group: usize) -> Result<Arc<Group>, BuildError> {
        let (first, workers) = (sizes[..group].iter().sum(), sizes.iter().sum::<usize>());
        let numbers = Numbers { first, first_spare: workers + group * MOST_SPARES };
        let seats =
            (first..first + sizes[group]).map(|worker| self.seat(worker)).collect::<Result<_, _>>()?;
        // Here and nowhere else: a group has words that all of its workers use, and moving it would leave them elsewhere.
        Ok(Arc::new(Group::new(self.place_of(sizes.len(), group), numbers, seats, self.queue)))
    }

    /// Where a group is, and which others it takes work from.
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
    // An error: all have begun, and nobody can fail any more.
    failures.recv().map_or(Ok(()), |(worker, error)| Err(BuildError::Start(worker, error)))
}

/// CPUs that this process may use, at most as many as a pool may have workers.
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
