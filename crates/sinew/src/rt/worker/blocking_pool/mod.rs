//! Calls that may block, done by threads that are there for it while the fiber waits that makes them. Knows nothing of what is called.
//!
//! # Safety
//!
//! Trusted with lending what is on the caller's stack to a thread, for as long as the caller waits.
#![expect(unsafe_code, reason = "a closure is lent to another thread")]

mod cancellable_job;
mod job;
mod parker;
mod threads;

pub(crate) use threads::BlockingPool;

use std::collections::VecDeque;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::NonNull;
use std::sync::Arc;

use self::cancellable_job::CancellableJob;
use self::job::BlockingJob;
use super::engine::Engine;
use super::in_place::in_place;
use crate::rt::base::AbortOnUnwind;
use crate::rt::wait::{Ends, Force, Phase, Stop, Values, WaitKind, region, stop, suspend};

/// Has a thread call `body` while the calling fiber waits; anybody else just calls it. A panic goes on here.
pub(crate) fn blocking<R: Send>(body: impl FnOnce() -> R + Send) -> R {
    let Some(blocking_pool) = own_pool() else { return body() };
    suspend::check_may_wait();
    let (mut body, mut result) = (Some((region::current_values(), body)), None);
    let mut call = || {
        if let Some((values, body)) = body.take() {
            result = Some(catch_unwind(AssertUnwindSafe(|| with_values(values, body))));
        }
    };
    lend(&blocking_pool, &mut call);
    match result.expect("a fiber goes on when what it lent was done") {
        Ok(value) => value,
        Err(payload) => resume_unwind(payload),
    }
}

/// The same for what borrows nothing, where cancellation and deadlines count.
///
/// # Errors
///
/// If the caller is to stop: nothing is begun then, or it is done for nobody.
pub(crate) fn blocking_or_stop<F, R>(body: F) -> Result<R, Stop>
where
    F: FnOnce() -> R + Send + 'static,
    R: Send + 'static,
{
    stop::check()?;
    let Some(blocking_pool) = own_pool() else { return Ok(body()) };
    suspend::check_may_wait();
    let values = region::current_values();
    let job = CancellableJob::new(move || with_values(values, body));
    if let Err(jobs) = blocking_pool.submit(job.job()) {
        make_here(|| jobs.into_iter().for_each(|job| job.run().tell()));
    }
    job.wait()
}

/// The threads for the fiber that calls this, if it is one.
fn own_pool() -> Option<Arc<BlockingPool>> {
    suspend::running().and_then(|_| Engine::current()).map(|engine| engine.blocking_pool.clone())
}

/// Calls `body` where the values are in force that were for whoever wants it done.
fn with_values<R>(values: Values, body: impl FnOnce() -> R) -> R {
    if values.is_empty() {
        return body();
    }
    region::region(|force| *force = Force { values, ..nothing() }, body)
}

/// What is in force inside calls, apart from values: no reason to stop.
fn nothing() -> Force {
    Force { is_shielded: true, ..Force::default() }
}

/// Makes calls in place, which may be those of others: what is in force for the fiber that does is not for them.
#[cold]
fn make_here(calls: impl FnOnce()) {
    in_place(|| region::region(|force| *force = nothing(), calls));
}

/// Has a thread call this, and waits for it.
fn lend(blocking_pool: &Arc<BlockingPool>, call: &mut (dyn FnMut() + Send)) {
    let (call, mut left) = (NonNull::from(call), VecDeque::new());
    // A thread may have it from here on.
    let abort = AbortOnUnwind;
    // Decided by the caller.
    suspend::wait(Phase::Later, WaitKind::Blocking.alone(), Ends::ByEvent, None, |waiter| {
        // SAFETY: the caller's frame is there until this function returns, which is when the wait has ended: by the job, or because it came
        // back. The wait is ended by nobody else, since it has no other end. A fiber that never goes on keeps its frames. The caller, who is the only other one to have
        // it, waits here.
        let job = unsafe { BlockingJob::lent(call, waiter) };
        left = blocking_pool.submit(job).err().unwrap_or_default();
        !left.iter().any(|job| job.is(call))
    });
    mem::forget(abort);
    if !left.is_empty() {
        do_all(left, call);
    }
}

/// There are no threads: does what was to be done by them, of which one job is the caller's own.
#[cold]
fn do_all(jobs: VecDeque<BlockingJob>, own: NonNull<dyn FnMut() + Send + '_>) {
    make_here(|| {
        for job in jobs {
            let is_own = job.is(own);
            let done = job.run();
            if !is_own {
                done.tell();
            }
        }
    });
}

/// Has threads refused to the pool of the calling fiber, or not.
#[cfg(all(test, not(loom)))]
pub(crate) fn refuse_threads(refuse: bool) {
    let blocking_pool = own_pool().expect("a fiber");
    blocking_pool.refuses.store(refuse, std::sync::atomic::Ordering::Relaxed);
}
