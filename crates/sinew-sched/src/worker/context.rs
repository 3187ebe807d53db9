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
    /// That of a worker.
    pub(crate) fn of_worker(worker: &'a Worker) -> Self {
        // SAFETY: the worker lives for `'a`, and its core with it.
        unsafe { Self::from_raw(NonNull::from(&worker.core).cast(), Some(NonNull::from(worker).cast())) }
    }

    #[inline]
    pub(crate) fn as_worker(&self) -> Option<&'a Worker> {
        // SAFETY: the promise of `from_raw`.
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
        // `look` runs inside that call, on the same thread. It may come to call a driver or discard
        // a task, which is a user's code, but uses the context only before that.
        look(unsafe { current.as_ref() })
    }

    /// Its number among the workers of its pool, if it is one. Spare workers have the numbers from
    /// [`Pool::workers`](crate::Pool::workers) on.
    #[inline]
    #[must_use]
    pub fn worker(&self) -> Option<usize> {
        self.as_worker().map(Worker::number)
    }

    /// The number of its group among those of the pool, if it is a worker of one.
    #[inline]
    #[must_use]
    pub fn group(&self) -> Option<usize> {
        self.as_worker().map(|worker| worker.group().number())
    }

    /// The NUMA node that its group is for, if it is a worker of one.
    #[must_use]
    pub fn node(&self) -> Option<usize> {
        self.as_worker().map(|worker| worker.group().node())
    }

    /// Gives up the turn of this task, which any worker may run: all that wait in this worker's
    /// deque now go before it, those that have waited longest first. Without a pool, it goes to the
    /// end of its core's.
    ///
    /// This is the last thing that a running task does, for itself. Nobody is told of it, since the
    /// worker is about to take another one in its place: a task that runs on, and waits for what it
    /// handed over here, may wait for ever. Use [`submit`](Self::submit) for that.
    #[inline]
    pub fn yield_to_others(&self, task: TaskRef) {
        match self.as_worker() {
            Some(worker) => worker.push_yielded(task),
            None => self.core().push(task),
        }
    }

    /// Schedules a task that any worker may run, as the next of those here. It is never refused:
    /// unlike what is submitted through a [`Handle`](crate::Handle), it is run while the pool
    /// drains too. Without a pool, it goes to the end of its core's.
    #[inline]
    pub fn submit(&self, task: TaskRef) {
        match self.as_worker() {
            Some(worker) => worker.push(task),
            None => self.core().push(task),
        }
    }

    /// Schedules many tasks that any worker may run, after all others that wait for anyone, and
    /// works out only once whom to wake for them. Without a pool, they go to the end of its core's.
    pub fn submit_batch(&self, tasks: impl IntoIterator<Item = TaskRef>) {
        // Collected first: the iterator is the caller's code, and may submit tasks itself.
        let tasks: List = tasks.into_iter().collect();
        match self.as_worker() {
            Some(worker) => worker.push_all(tasks),
            None => self.core().push_all(tasks),
        }
    }

    /// Keeps a task that cannot run for now, until a worker has it run by
    /// [`attempt_deferred`](Self::attempt_deferred). It is no work for anyone meanwhile, but the
    /// pool is not drained before it is gone, and discards it when it is over. If there was none,
    /// every worker is told, so that it calls its driver anew, to look or to sleep: what the task
    /// waits for may be there. Without a pool, it goes to the end of its core's.
    pub fn defer(&self, task: TaskRef) {
        match self.as_worker() {
            Some(worker) => worker.shared().defer(task),
            None => self.core().push(task),
        }
    }

    /// How many tasks are deferred. A worker that was told sees those that were there before that.
    #[inline]
    #[must_use]
    pub fn deferred(&self) -> usize {
        self.as_worker().map_or(0, |worker| worker.shared().deferred.len())
    }

    /// Calls `attempt` with the task that was deferred first: it has the task run, or gives it back
    /// for longer. Returns whether it was run; none, if there is no task that nobody else tries at
    /// the moment. `attempt` does not panic.
    pub fn attempt_deferred(&self, attempt: impl FnOnce(TaskRef) -> Result<(), TaskRef>) -> Option<bool> {
        self.as_worker()?.shared().attempt_deferred(attempt)
    }

    /// The task that the worker would run next, if that is one which must run here and no other
    /// place has its turn: for a task that is over and runs the next one itself, in place of
    /// returning. It counts as one that the worker has run.
    #[inline]
    #[must_use]
    pub fn take_next(&self) -> Option<TaskRef> {
        self.as_worker()?.take_next()
    }

    /// Gives up the turn of a task that must run here: it goes to the end of its core's. Returns
    /// the next one as [`take_next`](Self::take_next) does, which may be the same.
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

    /// Takes a task back that was submitted here, if nothing was submitted after it and nobody has
    /// taken it.
    #[inline]
    #[must_use]
    pub fn take_newest(&self, task: NonNull<Header>) -> Option<TaskRef> {
        self.as_worker()?.take_newest(task)
    }

    /// Tells the pool that this core's driver has begun to watch for events that concern others, as
    /// [`is_watching_for_others`](crate::Driver::is_watching_for_others) says from now on: while
    /// this worker is busy, an idle one looks into it. Workers that begin to watch at another time
    /// than in a task of theirs need not say so.
    pub fn begin_watch(&self) {
        if let Some(worker) = self.as_worker() {
            worker.ask_for_a_watch();
        }
    }

    /// Runs something that may block the thread for long. What any worker may run is left to
    /// others, and a spare worker stands in for this one meanwhile, if one is to be had (a pool has
    /// 128 workers at most, spare ones included); tasks that must run here wait until it returns.
    /// Without a pool, it just runs.
    pub fn block<R>(&self, body: impl FnOnce() -> R) -> R {
        match self.as_worker() {
            Some(worker) => worker.block(body),
            None => body(),
        }
    }

    /// Begins what [`block`](Self::block) does around its body, for callers that cannot say by a
    /// closure where that ends: its end may come on another stack, and other tasks may run here
    /// before it. Sections are counted, and may end in any order.
    pub fn begin_block(&self) {
        if let Some(worker) = self.as_worker() {
            worker.begin_block();
        }
    }

    /// Ends a section that was begun by [`begin_block`](Self::begin_block) on this worker. Without
    /// one, it does nothing.
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
