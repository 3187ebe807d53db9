//! The runtimes linked into this program, started as their documentation has it, with a number of threads.

use rayon::{ThreadPool, ThreadPoolBuilder};
use sinew_sched::Pool;
use tokio::runtime::{Builder, Runtime};

/// Ours.
pub(crate) fn sinew(threads: usize) -> Pool {
    Pool::builder().workers(threads).build().expect("a pool")
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

/// A pool of its own.
pub(crate) fn rayon(threads: usize) -> ThreadPool {
    ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool")
}
