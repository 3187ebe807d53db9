//! What a running task can do with the worker that runs it, or with its core if there is no worker.
//!
//! # Safety
//!
//! Trusted with the worker that a context points to, and with the thread's pointer to its context,
//! which is valid while the frame that set it is on its thread's stack.
#![expect(unsafe_code, reason = "a context is untyped, and found by a pointer to a frame of the same thread")]

use std::fmt;
use std::ptr::NonNull;

use super::Worker;
use crate::task::{Context, Header, List, TaskRef};
use crate::tls;

impl<'a> Context<'a> {
    /// Returns the context of a worker.
    pub(crate) fn of_worker(worker: &'a Worker) -> Self {
        // SAFETY: the worker lives for `'a`, and its core with it.
        unsafe { Self::from_raw(NonNull::from(&worker.core).cast(), Some(NonNull::from(worker).cast())) }
    }

    #[inline]
    pub(crate) fn as_worker(&self) -> Option<&'a Worker> {
        // SAFETY: the caller of `from_raw` promised that the worker lives for `'a`.
        self.raw_worker().map(|worker| unsafe { worker.cast().as_ref() })
    }

    /// Runs `body` with this as the context of the thread.
    pub(crate) fn enter<R>(&self, body: impl FnOnce() -> R) -> R {
        tls::enter(self, body)
    }

    /// Calls `look` with the context of the running task, if the thread is running one.
    #[inline]
    pub(crate) fn with_current<R>(look: impl FnOnce(Option<&Context<'_>>) -> R) -> R {
        let current = tls::current().cast::<Context<'_>>();
        // SAFETY: `enter` set it from a reference that outlives its call, and resets it at the end.
        // `look` runs inside that call, on the same thread. It may call a driver or discard a task,
        // which is the user's code, but uses the context only before that.
        look(unsafe { current.as_ref() })
    }

    /// Returns the worker's number in its pool; `None`, without a pool. Spare workers have the
    /// numbers from [`Pool::workers`](crate::Pool::workers) on.
    #[inline]
    #[must_use]
    pub fn worker(&self) -> Option<usize> {
        self.as_worker().map(Worker::number)
    }

    /// Returns the number of the worker's group in the pool; `None`, without a pool.
    #[inline]
    #[must_use]
    pub fn group(&self) -> Option<usize> {
        self.as_worker().map(|worker| worker.group().number())
    }

    /// Returns the NUMA node that the worker's group is for; `None`, without a pool.
    #[must_use]
    pub fn node(&self) -> Option<usize> {
        self.as_worker().map(|worker| worker.group().node())
    }

    /// Gives up the turn of this task, which any worker may run: all tasks that wait in this
    /// worker's deque now go before it, the oldest first. Without a pool, the task goes to the end
    /// of its core's.
    ///
    /// A running task calls this for itself, as the last thing that it does. No worker is woken for
    /// it, since this worker is about to take another task in its place. A task that runs on and
    /// waits for a task that it handed over here may wait for ever. Use [`submit`](Self::submit)
    /// for that.
    #[inline]
    pub fn yield_to_others(&self, task: TaskRef) {
        match self.as_worker() {
            Some(worker) => worker.push_yielded(task),
            None => self.core().push(task),
        }
    }

    /// Submits a task that any worker may run, as the next one on this worker. The task is never
    /// refused: unlike a task that is submitted through a [`Handle`](crate::Handle), it runs while
    /// the pool drains too. Without a pool, it goes to the end of its core's.
    ///
    /// ```
    /// use sinew_sched::{Placement, Pool, TaskRef};
    /// use std::sync::mpsc;
    ///
    /// let pool = Pool::builder().workers(1).build()?;
    /// let (sender, receiver) = mpsc::channel();
    /// let parent = TaskRef::new(move |context| {
    ///     context.submit(TaskRef::new(move |_| sender.send("child").unwrap()));
    /// });
    /// pool.handle().submit(parent, Placement::Anyone).unwrap();
    /// assert_eq!(receiver.recv(), Ok("child"));
    /// # Ok::<(), sinew_sched::BuildError>(())
    /// ```
    #[inline]
    pub fn submit(&self, task: TaskRef) {
        match self.as_worker() {
            Some(worker) => worker.push(task),
            None => self.core().push(task),
        }
    }

    /// Submits many tasks that any worker may run, after all others that wait for any worker, and
    /// decides only once which workers to wake for them. Without a pool, they go to the end of its
    /// core's.
    pub fn submit_batch(&self, tasks: impl IntoIterator<Item = TaskRef>) {
        // Collected first: the iterator is the caller's code, and may submit tasks itself.
        let tasks: List = tasks.into_iter().collect();
        match self.as_worker() {
            Some(worker) => worker.push_all(tasks),
            None => self.core().push_all(tasks),
        }
    }

    /// Keeps a task that cannot run for now, until a worker tries it with
    /// [`attempt_deferred`](Self::attempt_deferred). Meanwhile it does not count as work, but the
    /// pool is not drained before it is gone, and discards it when it is over. If there was no
    /// deferred task, every worker is told, so that it calls its driver anew, to poll or to sleep:
    /// the event that the task waits for may have happened. Without a pool, it goes to the end of
    /// its core's.
    pub fn defer(&self, task: TaskRef) {
        match self.as_worker() {
            Some(worker) => worker.shared().defer(task),
            None => self.core().push(task),
        }
    }

    /// Returns how many tasks are deferred. A worker that was told sees those that were deferred
    /// before.
    #[inline]
    #[must_use]
    pub fn deferred(&self) -> usize {
        self.as_worker().map_or(0, |worker| worker.shared().deferred.len())
    }

    /// Calls `attempt` with the task that was deferred first. `attempt` makes the task run, or
    /// returns it to be deferred for longer. Returns whether the task was run; `None`, if there is
    /// no task, except those that other workers try at the moment. `attempt` must not panic.
    pub fn attempt_deferred(&self, attempt: impl FnOnce(TaskRef) -> Result<(), TaskRef>) -> Option<bool> {
        self.as_worker()?.shared().attempt_deferred(attempt)
    }

    /// Takes the task that the worker would run next, if that task must run here and it is no other
    /// queue's turn: for a task that is over and runs the next one itself, instead of returning.
    /// The worker counts it as a task that it has run.
    #[inline]
    #[must_use]
    pub fn take_next(&self) -> Option<TaskRef> {
        self.as_worker()?.take_next()
    }

    /// Gives up the turn of a task that must run here: it goes to the end of its core's. Returns
    /// the next task as [`take_next`](Self::take_next) does, which may be the same one.
    #[inline]
    #[must_use]
    pub fn exchange(&self, task: TaskRef) -> Option<TaskRef> {
        match self.as_worker() {
            Some(worker) => worker.exchange(task),
            None => {
                self.core().push(task);
                None
            }
        }
    }

    /// Takes a task back that was submitted here, if no task was submitted after it and no worker
    /// has taken it.
    #[inline]
    #[must_use]
    pub fn take_newest(&self, task: NonNull<Header>) -> Option<TaskRef> {
        self.as_worker()?.take_newest(task)
    }

    /// Notifies the pool that this core's driver has begun to watch for events that concern others:
    /// from now on its [`is_watching_for_others`](crate::Driver::is_watching_for_others) returns
    /// true. While this worker is busy, an idle one polls the driver. A worker whose driver begins
    /// to watch outside of a task need not call this.
    pub fn begin_watch(&self) {
        if let Some(worker) = self.as_worker() {
            worker.ask_for_a_watch();
        }
    }

    /// Runs a closure that may block the thread for long. Meanwhile other workers run the tasks
    /// that any worker may run, and a spare worker stands in for this one, if one can be started (a
    /// group has at most 128 workers, spare ones included). Tasks that must run here wait until the
    /// closure returns. Without a pool, the closure just runs.
    ///
    /// ```
    /// use sinew_sched::{Placement, Pool, TaskRef};
    /// use std::sync::mpsc;
    ///
    /// let pool = Pool::builder().workers(1).build()?;
    /// let (sender, receiver) = mpsc::channel();
    /// let (done, result) = mpsc::channel();
    /// let waits = TaskRef::new(move |context| {
    ///     let received = context.block(|| receiver.recv());
    ///     done.send(received).unwrap();
    /// });
    /// pool.handle().submit(waits, Placement::Worker(0)).unwrap();
    /// // The only worker is blocked; a spare worker runs this task.
    /// let sends = TaskRef::new(move |_| sender.send(7).unwrap());
    /// pool.handle().submit(sends, Placement::Anyone).unwrap();
    /// assert_eq!(result.recv(), Ok(Ok(7)));
    /// # Ok::<(), sinew_sched::BuildError>(())
    /// ```
    pub fn block<R>(&self, body: impl FnOnce() -> R) -> R {
        match self.as_worker() {
            Some(worker) => worker.block(body),
            None => body(),
        }
    }

    /// Begins a blocking section as [`block`](Self::block) does, for callers whose section is not a
    /// closure: it may end on another stack, and other tasks may run here before that. Sections are
    /// counted, and may end in any order.
    pub fn begin_block(&self) {
        if let Some(worker) = self.as_worker() {
            worker.begin_block();
        }
    }

    /// Ends a section that was begun by [`begin_block`](Self::begin_block) on this worker. Does
    /// nothing if there is none.
    pub fn end_block(&self) {
        if let Some(worker) = self.as_worker() {
            worker.end_block();
        }
    }
}

impl fmt::Debug for Context<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context").field("core", self.core()).field("worker", &self.as_worker()).finish()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

    use super::*;
    use crate::core::Core;
    use crate::driver::FutexDriver;

    #[test]
    fn a_context_is_the_threads_until_its_body_ends() {
        let cores = [(); 2].map(|()| Core::new(Box::new(FutexDriver::default())));
        let [outer, inner] = [0, 1].map(|core| Context::of_core(&cores[core]));
        let is_in = |core: &Core| {
            Context::with_current(|context| context.is_some_and(|context| std::ptr::eq(context.core(), core)))
        };
        outer.enter(|| {
            assert!(is_in(outer.core()));
            inner.enter(|| assert!(is_in(inner.core())));
            assert!(is_in(outer.core()));
            let panics = || inner.enter(|| -> () { resume_unwind(Box::new(())) });
            assert!(catch_unwind(AssertUnwindSafe(panics)).is_err());
            assert!(is_in(outer.core()));
        });
        assert!(Context::with_current(|context| context.is_none()));
    }
}
