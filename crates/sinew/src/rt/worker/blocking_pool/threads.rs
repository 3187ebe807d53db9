//! Threads for blocking jobs: as many as are needed, up to a limit. An idle thread ends after a
//! while. Knows no fiber.
//!
//! All state is under one lock that is held for a few steps. A job goes to the idle thread that
//! parked last, so that the others reach the end of their patience. If no thread is idle, the job
//! is queued, and a thread is started for it unless the limit is reached. A thread that has done a
//! job takes the oldest one from the queue, or parks. Only then does it wake the waiter, so that a
//! fiber that makes call after call needs one thread.
//!
//! No job is lost when a thread cannot be started. Running threads take all queued jobs before they
//! park. If there is no running or starting thread, the caller that failed last to start one gets
//! all queued jobs back, and runs them. A job relies on a starting thread only while that thread is
//! counted, under the lock. So the last caller to fail finds every job that relied on its thread.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;
use std::{io, mem};

use sinew_sched::spawn_thread;

use super::job::BlockingJob;
use super::parker::Parker;
use crate::rt::base::sync::Lock;
use crate::rt::base::{clock, impl_debug, unwind};

/// The blocking threads of an engine.
pub(crate) struct BlockingPool {
    /// The name of the threads, before their number.
    name: String,
    most: usize,
    /// How long an idle thread stays.
    patience: Duration,
    inside: Lock<PoolState>,
    /// Simulates that no threads can be started.
    #[cfg(test)]
    pub(super) refuses: std::sync::atomic::AtomicBool,
}

#[derive(Debug, Default)]
struct PoolState {
    /// Queued jobs, the oldest first.
    jobs: VecDeque<BlockingJob>,
    /// Idle threads. The last one parked last. Empty while a job is queued.
    resting: Vec<Arc<Parker>>,
    /// How many threads run.
    live: usize,
    /// How many threads are starting.
    starting: usize,
    /// How many threads were started so far.
    number: u64,
    is_closed: bool,
}

/// The next action of a thread.
enum ThreadTask {
    Run(BlockingJob),
    Rest,
    End,
}

impl BlockingPool {
    pub(crate) fn new(runtime: &str, most: usize, patience: Duration) -> Arc<Self> {
        Arc::new(Self {
            name: format!("{runtime}-block"),
            most,
            patience,
            inside: Lock::default(),
            #[cfg(test)]
            refuses: std::sync::atomic::AtomicBool::new(false),
        })
    }

    /// Returns how many threads there are, and how many jobs are queued.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let inside = self.inside.lock();
        (inside.live + inside.starting, inside.jobs.len())
    }

    /// Submits a job.
    ///
    /// # Errors
    ///
    /// Returns all jobs that no thread will run: the caller has to run them. If this job is not
    /// among them, it is being done.
    pub(super) fn submit(self: &Arc<Self>, job: BlockingJob) -> Result<(), VecDeque<BlockingJob>> {
        let mut inside = self.inside.lock();
        if let Some(parker) = inside.resting.pop() {
            drop(inside);
            parker.call(Some(job));
            return Ok(());
        }
        inside.jobs.push_back(job);
        if inside.is_closed {
            return Err(mem::take(&mut inside.jobs));
        }
        if inside.live + inside.starting >= self.most {
            return Ok(());
        }
        inside.starting += 1;
        inside.number += 1;
        let number = inside.number;
        drop(inside);
        self.start(number)
    }

    #[cold]
    fn start(self: &Arc<Self>, number: u64) -> Result<(), VecDeque<BlockingJob>> {
        let (name, blocking_pool) = (format!("{}-{number}", self.name), self.clone());
        if self.start_thread(name, move || blocking_pool.serve()).is_ok() {
            return Ok(());
        }
        let mut inside = self.inside.lock();
        inside.starting -= 1;
        if inside.live + inside.starting > 0 {
            return Ok(());
        }
        Err(mem::take(&mut inside.jobs))
    }

    fn start_thread(&self, name: String, body: impl FnOnce() + Send + 'static) -> io::Result<()> {
        #[cfg(test)]
        if self.refuses.load(std::sync::atomic::Ordering::Relaxed) {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        // std panics for some names.
        let start = AssertUnwindSafe(|| spawn_thread(name, None, body));
        catch_unwind(start).unwrap_or_else(|_| Err(io::ErrorKind::InvalidInput.into()))
    }

    /// The main function of a thread.
    fn serve(&self) {
        let parker = Arc::new(Parker::new());
        let mut next = {
            let mut inside = self.inside.lock();
            inside.starting -= 1;
            inside.live += 1;
            inside.next(&parker)
        };
        loop {
            next = match next {
                ThreadTask::Run(job) => {
                    let done = job.run();
                    let next = self.inside.lock().next(&parker);
                    done.tell();
                    next
                }
                ThreadTask::Rest => self.rest(&parker),
                ThreadTask::End => return,
            };
        }
    }

    /// Parks until the thread is called, or has been idle for too long.
    fn rest(&self, parker: &Arc<Parker>) -> ThreadTask {
        if !parker.rest(clock::now().checked_add(self.patience)) {
            if self.inside.lock().leave(parker) {
                return ThreadTask::End;
            }
            // Another thread is about to call it.
            parker.rest(None);
        }
        match parker.take() {
            Some(job) => ThreadTask::Run(job),
            None => {
                self.inside.lock().live -= 1;
                ThreadTask::End
            }
        }
    }

    /// Closes the pool, when no fiber waits for a job any more. Idle threads end; other threads end
    /// when they have done their jobs. Queued jobs are not run, and later ones are returned to
    /// their callers.
    pub(crate) fn close(&self) {
        let (resting, jobs) = {
            let mut inside = self.inside.lock();
            inside.is_closed = true;
            (mem::take(&mut inside.resting), mem::take(&mut inside.jobs))
        };
        resting.into_iter().for_each(|parker| parker.call(None));
        // Their users' destructors may panic.
        jobs.into_iter().for_each(|job| unwind::catch(|| drop(job)));
    }
}

impl PoolState {
    /// Returns what a thread without a job does next.
    fn next(&mut self, parker: &Arc<Parker>) -> ThreadTask {
        if let Some(job) = self.jobs.pop_front() {
            return ThreadTask::Run(job);
        }
        if self.is_closed {
            self.live -= 1;
            return ThreadTask::End;
        }
        parker.make();
        self.resting.push(parker.clone());
        ThreadTask::Rest
    }

    /// Removes a thread that has been idle for too long. Returns false if it was called.
    fn leave(&mut self, parker: &Arc<Parker>) -> bool {
        let place = self.resting.iter().position(|other| Arc::ptr_eq(other, parker));
        if let Some(place) = place {
            self.resting.remove(place);
            self.live -= 1;
        }
        place.is_some()
    }
}

impl_debug!(BlockingPool, |pool| { name: pool.name, .. });
