//! Submits work to a pool, from any thread.

use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;
use std::time::Duration;

use super::error::{Refusal, SubmitError};
use super::report::{self, ShutdownReport};
use crate::group::Group;
use crate::lifecycle::Stage;
use crate::pool_shared::PoolShared;
use crate::stats::PoolStats;
use crate::task::{Context, List, TaskRef};
use crate::worker::Worker;

/// Which worker runs a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Placement {
    /// Any worker. If a worker of the pool submits the task, this is that worker or, if another one
    /// takes the task first, another worker of its group. Tasks of other threads go to all groups
    /// in turn.
    #[default]
    Anyone,
    /// Any worker of this group; or of another group, if this one has more work than it can do.
    Group(usize),
    /// Any worker of this group, and of no other group.
    GroupOnly(usize),
    /// The worker of this number, below [`Pool::workers`](crate::Pool::workers).
    Worker(usize),
}

/// Submits work to a pool. A handle may outlive its pool; then all work is refused.
///
/// ```
/// use sinew_sched::{Placement, Pool, Refusal, TaskRef};
///
/// let pool = Pool::builder().workers(2).build()?;
/// let handle = pool.handle();
/// let submitter = std::thread::spawn({
///     let handle = handle.clone();
///     move || handle.submit(TaskRef::new(|_| ()), Placement::Anyone)
/// });
/// assert!(submitter.join().unwrap().is_ok());
/// assert!(pool.shutdown(None).drained);
/// let error = handle.submit(TaskRef::new(|_| ()), Placement::Anyone).unwrap_err();
/// assert_eq!(error.refusal, Refusal::Closed);
/// assert_eq!(error.tasks.len(), 1);
/// # Ok::<(), sinew_sched::BuildError>(())
/// ```
#[derive(Clone)]
pub struct Handle {
    shared: Arc<PoolShared>,
}

impl Handle {
    pub(super) fn new(shared: Arc<PoolShared>) -> Self {
        Self { shared }
    }

    /// Submits a task.
    ///
    /// A task that is already running may also submit tasks while the pool shuts down, with
    /// [`Context::submit`].
    ///
    /// # Errors
    ///
    /// Returns the task in the error if the pool is being shut down, or there is no such worker or
    /// group.
    pub fn submit(&self, task: TaskRef, to: Placement) -> Result<(), SubmitError> {
        match self.refusal(to) {
            Some(refusal) => Err(SubmitError { tasks: vec![task], refusal }),
            None => {
                self.reschedule(task, to);
                Ok(())
            }
        }
    }

    /// Submits many tasks, and decides only once which workers to wake for them. Tasks for any
    /// worker go to the group's shared queue, even if a worker submits them.
    ///
    /// # Errors
    ///
    /// As [`submit`](Self::submit), for all of the tasks or none.
    ///
    /// # Examples
    ///
    /// ```
    /// use sinew_sched::{Placement, Pool, TaskRef};
    /// use std::sync::mpsc;
    ///
    /// let pool = Pool::builder().workers(2).build()?;
    /// let (sender, receiver) = mpsc::channel();
    /// let tasks = (0..100_u32).map(|number| {
    ///     let sender = sender.clone();
    ///     TaskRef::new(move |_| sender.send(number).unwrap())
    /// });
    /// pool.handle().submit_batch(tasks, Placement::Anyone).unwrap();
    /// drop(sender);
    /// assert_eq!(receiver.iter().sum::<u32>(), 4950);
    /// # Ok::<(), sinew_sched::BuildError>(())
    /// ```
    pub fn submit_batch(
        &self,
        tasks: impl IntoIterator<Item = TaskRef>,
        to: Placement,
    ) -> Result<(), SubmitError> {
        if let Some(refusal) = self.refusal(to) {
            return Err(SubmitError { tasks: tasks.into_iter().collect(), refusal });
        }
        // Collected first: the iterator is the caller's code, and may submit tasks itself.
        let tasks: List = tasks.into_iter().collect();
        match to {
            Placement::Anyone => self.with_worker(|worker| match worker {
                Some(worker) => worker.push_all(tasks),
                None => self.shared.submit_outside(self.shared.next_group(), tasks),
            }),
            Placement::Group(group) => {
                let group = self.group(group);
                self.with_worker(|worker| match worker {
                    Some(worker) => worker.put(group, tasks),
                    None => self.shared.submit_outside(group, tasks),
                });
            }
            Placement::GroupOnly(_) | Placement::Worker(_) => {
                while let Some(task) = tasks.pop_front() {
                    self.reschedule(task, to);
                }
            }
        }
        Ok(())
    }

    /// Puts a task back into the pool that the pool has run before and that has given up its turn.
    /// The task is never refused: when the pool is over, it is discarded. The worker may be a spare
    /// one; if that worker is gone, any other worker runs the task.
    ///
    /// # Panics
    ///
    /// Panics if no worker ever had this number, or if there is no such group.
    pub fn reschedule(&self, task: TaskRef, to: Placement) {
        match to {
            Placement::Anyone => self.with_worker(|worker| match worker {
                Some(worker) => worker.push(task),
                None => self.shared.submit_outside(self.shared.next_group(), List::from(task)),
            }),
            Placement::Group(group) => {
                let group = self.group(group);
                self.with_worker(|worker| match worker {
                    Some(worker) if worker.is_of(group) => worker.push(task),
                    Some(worker) => worker.put(group, List::from(task)),
                    None => self.shared.submit_outside(group, List::from(task)),
                });
            }
            Placement::GroupOnly(group) => {
                let group = self.group(group);
                self.with_worker(|worker| match worker {
                    Some(worker) => worker.keep(group, task),
                    None => self.shared.keep_outside(group, task),
                });
            }
            Placement::Worker(number) => {
                let (group, index) = self.shared.worker(number).unwrap_or_else(|| no_worker(number));
                self.with_worker(|worker| self.place_at(worker, group, index, task));
            }
        }
    }

    fn place_at(&self, worker: Option<&Worker>, group: &Arc<Group>, index: usize, task: TaskRef) {
        let seat = group.seat(index).unwrap_or_else(|| no_worker(group.number_of(index)));
        match worker {
            Some(worker) if worker.is_at(group, index) => worker.push_here(task),
            Some(worker) => worker.post(group, seat, task),
            None => self.shared.post_outside(group, seat, task),
        }
    }

    fn group(&self, number: usize) -> &Arc<Group> {
        self.shared.groups().get(number).unwrap_or_else(|| panic!("there is no group {number}"))
    }

    fn refusal(&self, to: Placement) -> Option<Refusal> {
        match to {
            _ if self.shared.lifecycle.stage() != Stage::Open => Some(Refusal::Closed),
            Placement::Worker(index) if index >= self.shared.workers() => Some(Refusal::NoSuchWorker(index)),
            Placement::Group(group) | Placement::GroupOnly(group) if group >= self.groups() => {
                Some(Refusal::NoSuchGroup(group))
            }
            Placement::Anyone | Placement::Group(_) | Placement::GroupOnly(_) | Placement::Worker(_) => None,
        }
    }

    /// Notifies the pool that the driver of this worker has begun to watch for events that concern
    /// others: from now on its [`is_watching_for_others`](crate::Driver::is_watching_for_others)
    /// returns true. While that worker is busy, an idle worker of its group polls the driver. For
    /// any thread but that worker, which has [`Context::begin_watch`].
    pub fn begin_watch(&self, worker: usize) {
        let Some((group, _)) = self.shared.worker(worker) else { return };
        group.watch.want();
        // `work_arrived` has a fence, between what made the driver watch and the read of the idle
        // workers.
        if group.watch.may_lack() {
            let _ = group.idle.work_arrived(1, || true, |idle| self.shared.wake_from_outside(group, idle));
        }
    }

    /// Shuts the pool down, as [`Pool::shutdown`](crate::Pool::shutdown) does.
    ///
    /// Several callers may do so. Each of them waits until the pool is over; the earliest of their
    /// deadlines counts for all.
    pub fn shutdown(&self, at_most: Option<Duration>) -> ShutdownReport {
        // A deadline beyond the clock's last time is none.
        let deadline = at_most.and_then(|time| (self.shared.clock)().checked_add(time));
        self.shared.begin_drain(deadline);
        if self.is_current() {
            return ShutdownReport::default();
        }
        if !self.shared.lifecycle.wait_until_over() {
            self.shared.end(false);
        }
        report::after_end(&self.shared, deadline.is_some())
    }

    /// Begins to shut the pool down, and does not wait: the pool refuses new work, runs the tasks
    /// that it has, and ends its threads.
    pub fn begin_shutdown(&self) {
        self.shared.begin_drain(None);
    }

    /// Calls `body`, and keeps the pool from ending a drain meanwhile. For a driver that makes new
    /// tasks of events: while the driver sleeps, its worker counts as having nothing to do, and the
    /// pool may end between the driver's decision to submit a task and the submission. The task
    /// would be discarded then.
    ///
    /// If the pool drains already, `body` may be called after its end: it has to check whether new
    /// tasks are wanted.
    pub fn deliver<R>(&self, body: impl FnOnce() -> R) -> R {
        struct Fall<'a>(&'a PoolShared);
        impl Drop for Fall<'_> {
            fn drop(&mut self) {
                self.0.fall();
            }
        }
        self.shared.awake.rise();
        let _fall = Fall(&self.shared);
        body()
    }

    /// Polls the driver of a worker, as an idle sibling does for a busy worker, unless another
    /// thread is inside it. Returns whether there was an event. Any thread may call it: events for
    /// tasks that only run on that worker are delivered to that worker, however long it takes until
    /// they run.
    pub fn look_into(&self, worker: usize) -> bool {
        let seat = self.shared.seats().nth(worker);
        seat.is_some_and(|(_, seat)| seat.mailbox.look(self.shared.now()))
    }

    /// Returns whether the calling thread is a worker of this pool.
    #[must_use]
    pub fn is_current(&self) -> bool {
        self.with_worker(|worker| worker.is_some())
    }

    /// Returns whether the pool runs nothing any more: it has drained, or its deadline has passed.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.shared.lifecycle.is_over()
    }

    /// Returns the number of workers of the pool, without spare ones.
    #[must_use]
    pub fn workers(&self) -> usize {
        self.shared.workers()
    }

    /// Returns the number of groups of the pool.
    #[must_use]
    pub fn groups(&self) -> usize {
        self.shared.groups().len()
    }

    /// Returns the number of workers of a group, without spare ones; `None`, if there is no such
    /// group.
    #[must_use]
    pub fn group_size(&self, group: usize) -> Option<usize> {
        Some(self.shared.groups().get(group)?.workers())
    }

    /// Returns the NUMA node of a group; `None`, if there is no such group.
    #[must_use]
    pub fn group_node(&self, group: usize) -> Option<usize> {
        Some(self.shared.groups().get(group)?.node())
    }

    /// Returns what the pool has done so far.
    #[must_use]
    pub fn stats(&self) -> PoolStats {
        self.shared.stats()
    }

    /// Calls `with` with the calling thread's worker, if it is one of this pool.
    #[inline]
    fn with_worker<R>(&self, with: impl FnOnce(Option<&Worker>) -> R) -> R {
        Context::with_current(|context| {
            let worker = context.and_then(Context::as_worker);
            with(worker.filter(|worker| Arc::ptr_eq(worker.shared(), &self.shared)))
        })
    }
}

#[cold]
fn no_worker(number: usize) -> ! {
    panic!("there is no worker {number}")
}

// A panic only interrupts a task: no caller sees the pool in an inconsistent state.
impl UnwindSafe for Handle {}
impl RefUnwindSafe for Handle {}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").field("shared", &self.shared).finish()
    }
}
