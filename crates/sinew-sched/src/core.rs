//! A core: the tasks that are ready on one thread, and the mailbox through which other threads send
//! it more. It shares nothing else. Knows no pool: a worker of a pool is a core with a seat in a
//! group, and another loop can drive a core without a pool.
//!
//! # Safety
//!
//! Trusted with the core that a context points to.
#![expect(unsafe_code, reason = "a context is untyped")]

use std::cell::Cell;
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::Duration;

use crate::driver::Driver;
use crate::mailbox::Mailbox;
use crate::stats::{Counters, WorkerStats};
use crate::task::{Context, Header, List, TaskRef};
use crate::unwind::{self, Ended};

/// The tasks of one thread.
///
/// A worker of a pool has one. A loop of your own can drive one without a pool:
///
/// ```
/// use sinew_sched::{Context, Core, FutexDriver, TaskRef};
/// use std::sync::atomic::{AtomicU32, Ordering};
/// use std::sync::Arc;
///
/// let core = Core::new(Box::new(FutexDriver::default()));
/// let sum = Arc::new(AtomicU32::new(0));
/// let (handle, copy) = (core.handle(), sum.clone());
/// // From any thread:
/// let add = move |_: &Context<'_>| drop(copy.fetch_add(1, Ordering::Relaxed));
/// handle.post(TaskRef::new(add)).expect("the core is there");
/// // On the thread whose loop drives it:
/// assert_eq!(core.run_ready(100), 1);
/// assert_eq!(sum.load(Ordering::Relaxed), 1);
/// ```
#[derive(Debug)]
pub struct Core {
    ready: List,
    mailbox: Arc<Mailbox>,
    counters: Arc<Counters>,
    /// Whether a task is running, so that a panic is the task's.
    is_in_task: Cell<bool>,
    /// Not `Sync` and not `Send`: tasks may have been promised that they run on this thread.
    stays: PhantomData<*const ()>,
}

/// Sends tasks to a core, from any thread.
#[derive(Clone, Debug)]
pub struct CoreHandle {
    mailbox: Arc<Mailbox>,
}

impl CoreHandle {
    /// Sends a task to the core, and wakes the core if it sleeps. The task runs on the core's
    /// thread, after the tasks that are there already. Spare workers of a pool come and go: unless
    /// the spare worker [owns](Core::own) a begun task, another worker may have taken its seat when
    /// the task runs, or any worker may run the task.
    ///
    /// # Errors
    ///
    /// Returns the task if the core is gone, or belonged to a pool's worker that has ended.
    pub fn post(&self, task: TaskRef) -> Result<(), TaskRef> {
        self.mailbox.post(task).map(drop)
    }
}

impl Core {
    /// Returns a new core that sleeps in this driver.
    #[must_use]
    pub fn new(driver: Box<dyn Driver>) -> Self {
        Self::with(Arc::new(Mailbox::new(driver)), Arc::default())
    }

    pub(crate) fn with(mailbox: Arc<Mailbox>, counters: Arc<Counters>) -> Self {
        Self { ready: List::new(), mailbox, counters, is_in_task: Cell::new(false), stays: PhantomData }
    }

    #[inline]
    pub(crate) fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Returns a handle that other threads can use, and that may outlive the core.
    #[must_use]
    pub fn handle(&self) -> CoreHandle {
        CoreHandle { mailbox: self.mailbox.clone() }
    }

    /// Returns the driver that the core sleeps in.
    #[must_use]
    pub fn driver(&self) -> &dyn Driver {
        self.mailbox.driver()
    }

    pub(crate) fn mailbox(&self) -> &Mailbox {
        &self.mailbox
    }

    /// Returns the context that tasks of this core get when it is driven without a pool.
    #[must_use]
    pub fn context(&self) -> Context<'_> {
        Context::of_core(self)
    }

    /// Adds a task at the end of the ready ones.
    #[inline]
    pub fn push(&self, task: TaskRef) {
        self.ready.push_back(task);
    }

    /// Adds many tasks at the end of the ready ones.
    pub(crate) fn push_all(&self, tasks: List) {
        self.ready.append(tasks);
    }

    /// Takes the task that has been ready for longest.
    #[inline]
    pub(crate) fn pop(&self) -> Option<TaskRef> {
        self.ready.pop_front()
    }

    /// Adds a task at the end of the ready ones, and takes the first of them.
    #[inline]
    pub(crate) fn rotate(&self, task: TaskRef) -> TaskRef {
        self.ready.rotate(task)
    }

    /// Returns the number of ready tasks. Tasks that other threads have sent since this core last
    /// ran or slept are not counted.
    #[must_use]
    pub fn ready(&self) -> usize {
        self.ready.len()
    }

    /// Returns the task that has been ready for longest, if there is one, without taking it.
    /// Prefetches the one after it.
    #[inline]
    #[must_use]
    pub fn next_ready(&self) -> Option<NonNull<Header>> {
        self.ready.peek()
    }

    /// Moves the tasks that have arrived to the end of the ready ones.
    #[inline]
    pub(crate) fn receive(&self) {
        if !self.mailbox.is_empty() {
            let arrived = self.mailbox.take();
            self.ready.append(arrived);
        }
    }

    /// Takes all tasks, and closes the mailbox: no task arrives any more.
    pub(crate) fn close(&self) -> List {
        let all = self.ready.take(usize::MAX);
        all.append(self.mailbox.close());
        all
    }

    /// Runs up to `most` ready tasks, including tasks that arrive meanwhile. Returns how many it
    /// ran. For a loop that drives a core without a pool.
    ///
    /// A task that panics is over, and the next one runs: the panic hook has reported the panic.
    pub fn run_ready(&self, most: usize) -> usize {
        let mut left = most;
        let next = || {
            left = left.checked_sub(1)?;
            self.next()
        };
        self.run_all(&self.context(), next)
    }

    /// Runs tasks until `next` returns none. A panic of a task is counted, and has no other effect:
    /// the panic hook has reported it. Returns how many tasks it ran.
    ///
    /// Panics are caught around all tasks and not around each: catching takes a quarter of the time
    /// of a small task.
    pub(crate) fn run_all(&self, context: &Context<'_>, mut next: impl FnMut() -> Option<TaskRef>) -> usize {
        let count = Cell::new(0);
        // A task of this core may itself drive the core.
        let outer = self.is_in_task.replace(false);
        while unwind::catch(|| self.run_until_panic(context, &count, &mut next)) == Ended::Panicked {
            if !self.is_in_task.replace(false) {
                // The panic was not a task's. If it continued, no thread would run this core's
                // tasks.
                std::process::abort();
            }
            self.counters.panics.add(1);
        }
        self.is_in_task.set(outer);
        count.get()
    }

    fn run_until_panic(
        &self,
        context: &Context<'_>,
        count: &Cell<usize>,
        next: &mut impl FnMut() -> Option<TaskRef>,
    ) {
        while let Some(task) = next() {
            count.set(count.get() + 1);
            self.counters.tasks.add(1);
            self.is_in_task.set(true);
            task.run(context);
            self.is_in_task.set(false);
        }
    }

    fn next(&self) -> Option<TaskRef> {
        self.receive();
        self.pop()
    }

    /// Sleeps in the driver until a task arrives, an event happens, or the time is over. Returns at
    /// once if a task is ready.
    pub fn sleep(&self, at_most: Option<Duration>) {
        if self.ready() == 0 {
            self.mailbox.sleep(at_most, &self.counters.sleeps);
        }
        self.receive();
    }

    /// Sleeps in the driver until a task arrives, an event happens, or the time is over, even if
    /// tasks are ready: for a task that cannot let others run for a moment.
    pub fn doze(&self, at_most: Duration) {
        self.mailbox.sleep(Some(at_most), &self.counters.sleeps);
        self.receive();
    }

    /// Counts a task that has begun here and will end on this core, since it cannot move any more.
    /// The task itself calls this; a pool that is shut down waits for its end.
    #[inline]
    pub fn own(&self) {
        self.counters.owned.add(1);
    }

    /// Counts the end of such a task. Must be called once for each [`own`](Self::own): a pool with
    /// more ends than beginnings does not drain either.
    #[inline]
    pub fn disown(&self) {
        self.counters.owned.add(u64::MAX);
    }

    /// Counts a task that has begun here and may continue and end anywhere. The pool is not drained
    /// before it has ended.
    #[inline]
    pub fn own_roaming(&self) {
        self.counters.roaming.add(1);
    }

    /// Counts the end of such a task here, wherever it began.
    #[inline]
    pub fn disown_roaming(&self) {
        self.counters.roaming.add(u64::MAX);
    }

    /// Returns what this core has done so far. Some of the counters only change on workers of a
    /// pool.
    #[must_use]
    pub fn stats(&self) -> WorkerStats {
        self.counters.snapshot(self.mailbox.errors())
    }

    /// Returns how many [owned](Self::own) tasks have begun here and not ended.
    #[must_use]
    pub fn owned(&self) -> isize {
        self.counters.owned()
    }
}

impl<'a> Context<'a> {
    /// Returns the context of a core without a pool.
    pub(crate) fn of_core(core: &'a Core) -> Self {
        // SAFETY: it lives for `'a`.
        unsafe { Self::from_raw(NonNull::from(core).cast(), None) }
    }

    /// Returns the core that runs the task.
    #[inline]
    #[must_use]
    pub fn core(&self) -> &'a Core {
        // SAFETY: the caller of `from_raw` promised that the core lives for `'a`.
        unsafe { self.raw_core().cast().as_ref() }
    }
}

impl Drop for Core {
    /// Discards the tasks that are ready or have arrived. Tasks sent later are returned to their
    /// senders.
    fn drop(&mut self) {
        drop(self.close());
    }
}
