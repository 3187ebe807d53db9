//! Blocking calls: threads of their own make them while the calling fiber waits. Does not know what
//! is called.
//!
//! # Safety
//!
//! Trusted with lending data on the caller's stack to a thread while the caller waits.
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

/// Lets a blocking thread call `body` while the calling fiber waits. A plain thread calls it
/// directly. Resumes the panic of `body`, if it panics.
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
    match result.expect("a fiber continues after its lent closure was called") {
        Ok(value) => value,
        Err(payload) => resume_unwind(payload),
    }
}

/// Calls a body that borrows nothing, as [`blocking`] does, and observes cancellation and
/// deadlines.
///
/// # Errors
///
/// Returns an error if the caller is to stop. The body is not called then, or its result is
/// dropped.
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

/// Returns the pool of the calling fiber, or `None` if the caller is a thread.
fn own_pool() -> Option<Arc<BlockingPool>> {
    suspend::running().and_then(|_| Engine::current()).map(|engine| engine.blocking_pool.clone())
}

/// Calls `body` with the values that were in force for the fiber that asked for the call.
fn with_values<R>(values: Values, body: impl FnOnce() -> R) -> R {
    if values.is_empty() {
        return body();
    }
    region::region(|force| *force = Force { values, ..nothing() }, body)
}

/// Returns the ambient values of such a call, apart from values: no reason to stop.
fn nothing() -> Force {
    Force { is_shielded: true, ..Force::default() }
}

/// Makes calls on this worker, possibly those of other fibers. The ambient values of the running
/// fiber do not apply to them.
#[cold]
fn make_here(calls: impl FnOnce()) {
    in_place(|| region::region(|force| *force = nothing(), calls));
}

/// Lends a closure to a thread, and waits until it was called.
fn lend(blocking_pool: &Arc<BlockingPool>, call: &mut (dyn FnMut() + Send)) {
    let (call, mut left) = (NonNull::from(call), VecDeque::new());
    // A thread may use the closure from here on.
    let abort = AbortOnUnwind;
    // `Later`, since the caller has checked that it may wait.
    suspend::wait(Phase::Later, WaitKind::Blocking.alone(), Ends::ByEvent, None, |waiter| {
        // SAFETY: the caller's frame is alive until this function returns, which is after the wait
        // has ended: by the job, or because the job came back. Nothing else ends the wait. A fiber
        // that never continues keeps its frames. The caller, which is the only other code with
        // access to the closure, waits here.
        let job = unsafe { BlockingJob::lent(call, waiter) };
        left = blocking_pool.submit(job).err().unwrap_or_default();
        !left.iter().any(|job| job.is(call))
    });
    mem::forget(abort);
    if !left.is_empty() {
        do_all(left, call);
    }
}

/// Runs the jobs that no thread will run, one of which is the caller's own.
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

/// Simulates for the pool of the calling fiber that no threads can be started.
#[cfg(all(test, not(loom)))]
pub(crate) fn refuse_threads(refuse: bool) {
    let blocking_pool = own_pool().expect("a fiber");
    blocking_pool.refuses.store(refuse, std::sync::atomic::Ordering::Relaxed);
}
