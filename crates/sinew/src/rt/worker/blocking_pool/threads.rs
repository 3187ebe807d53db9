//! Threads that do what may block: as many as are needed, up to a limit, and gone when they have had nothing to do for a while. Knows no fiber.
//!
//! All is under one lock that is held for a few steps. A job goes to the thread that was called last of those that rest, so that the others come to their
//! end. If none rests, the job is queued, and a thread started for it unless there are as many as may be. A thread that has done a job takes the
//! oldest of the queue, or lies down; only then does it tell whoever waits, so that one who asks again and again needs one thread.
//!
//! No job is lost when a thread cannot be started. Those that are there take all that is queued before they lie down. If none is there and none is being
//! started, whoever was the last to try gets all that is queued back, and sees to it. A job counts on a thread that is being started only while
//! that is counted, under the lock; so the last one to fail finds every job that counted on it.

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

/// The threads of an engine.
pub(crate) struct BlockingPool {
    /// What threads are called, before their number.
    name: String,
    most: usize,
    /// How long one stays that has nothing to do.
    patience: Duration,
    inside: Lock<PoolState>,
    /// Threads are not to be had.
    #[cfg(test)]
    pub(super) refuses: std::sync::atomic::AtomicBool,
}

#[derive(Debug, Default)]
struct PoolState {
    /// The oldest first.
    jobs: VecDeque<BlockingJob>,
    /// Those that rest; the last one was the last to lie down. There is none, if a job is queued.
    resting: Vec<Arc<Parker>>,
    /// Threads that have begun.
    live: usize,
    /// Threads that are about to.
    starting: usize,
    /// How many there have been.
    number: u64,
    is_closed: bool,
}

/// What a thread does next.
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

    /// How many threads there are, and how many jobs wait for one.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let inside = self.inside.lock();
        (inside.live + inside.starting, inside.jobs.len())
    }

    /// Has a job done.
    ///
    /// # Errors
    ///
    /// If no thread will, with all the jobs of which that is so: the caller has to see to them. That this one is not among them means that it is being
    /// done.
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

    /// What a thread does from its beginning to its end.
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

    /// Rests until it is called, or has rested for too long.
    fn rest(&self, parker: &Arc<Parker>) -> ThreadTask {
        if !parker.rest(clock::now().checked_add(self.patience)) {
            if self.inside.lock().leave(parker) {
                return ThreadTask::End;
            }
            // Somebody is about to call it.
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

    /// Nobody waits for a job any more: threads that rest end, and others when they have done theirs. What is queued will not be done, and what comes
    /// later is given back.
    pub(crate) fn close(&self) {
        let (resting, jobs) = {
            let mut inside = self.inside.lock();
            inside.is_closed = true;
            (mem::take(&mut inside.resting), mem::take(&mut inside.jobs))
        };
        resting.into_iter().for_each(|parker| parker.call(None));
        // With what users have in them.
        jobs.into_iter().for_each(|job| unwind::catch(|| drop(job)));
    }
}

impl PoolState {
    /// A thread has nothing to do.
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

    /// A thread has rested for too long. False, if it was called.
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
