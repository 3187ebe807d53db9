//! The runtimes linked into this program, started as their documentation has it, with a number of threads.
//!
//! # Safety
//!
//! Trusted with the promise that the workloads' fibers hold nothing of their thread across a suspension.

#![expect(unsafe_code, reason = "that fibers may move is a promise")]

use may::go;
use rayon::{ThreadPool, ThreadPoolBuilder};
use sinew_sched::Pool;
use tokio::runtime::{Builder, Runtime};

/// Ours.
pub(crate) fn sinew(threads: usize) -> Pool {
    Pool::builder().workers(threads).build().expect("a pool")
}

/// Ours, with fibers that stay where they have begun.
pub(crate) fn fibers(threads: usize) -> sinew::Runtime {
    sinew::Runtime::builder().workers(threads).start().expect("a runtime")
}

/// Ours, with fibers that may go on at another worker after any suspension.
pub(crate) fn migrating_fibers(threads: usize) -> sinew::Runtime {
    // SAFETY: the fibers of the workloads hold nothing of their thread.
    let builder = unsafe { sinew::Runtime::builder().assume_migration_safe() };
    builder.workers(threads).start().expect("a runtime")
}

/// Ends ours, and makes sure that nothing was left.
pub(crate) fn end_sinew(pool: Pool) {
    let report = pool.shutdown(None);
    assert!(report.drained, "{report:?}");
}

/// What `#[tokio::main]` makes: the drivers for events and time are on.
pub(crate) fn tokio(threads: usize) -> Runtime {
    Builder::new_multi_thread().worker_threads(threads).enable_all().build().expect("a runtime")
}

/// Has a task of tokio's do it, and waits for its end.
pub(crate) fn in_tokio<T: Send + 'static>(
    runtime: &Runtime,
    work: impl Future<Output = T> + Send + 'static,
) -> T {
    runtime.block_on(runtime.spawn(work)).expect("it does not panic")
}

/// May, which a process has one of. Its first coroutine starts it, and nothing ends it.
pub(crate) struct May(());

/// Settles how many threads it is going to have.
pub(crate) fn may(threads: usize) -> May {
    may::config().set_workers(threads);
    May(())
}

impl May {
    /// Has a coroutine do it, and waits for its end.
    pub(crate) fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> T {
        go!(work).join().expect("it does not panic")
    }
}

/// A pool of its own.
pub(crate) fn rayon(threads: usize) -> ThreadPool {
    ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool")
}
