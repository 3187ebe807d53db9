//! The runtimes linked into this program, started as their documentation has it, with a number of threads.
//!
//! # Safety
//!
//! Trusted with the promise that the workloads' fibers hold nothing of their thread across a suspension, and with handing a
//! socket over by its number.

#![expect(unsafe_code, reason = "that fibers may move is a promise, and may takes sockets as numbers")]

use crate::workloads::Job;
use may::go;
use rayon::{ThreadPool, ThreadPoolBuilder};
use sinew::Strategy;
use sinew_sched::Pool;
use std::os::fd::{FromRawFd, IntoRawFd};
use tokio::runtime::{Builder, Runtime};

/// How ours is set.
#[derive(Clone, Copy)]
pub(crate) struct Flavour {
    /// Unless it is the default.
    pub(crate) strategy: Option<Strategy>,
    /// Fibers may go on at another worker after any suspension.
    pub(crate) migrates: bool,
    /// Workers are in groups of so many.
    pub(crate) group: Option<usize>,
}

impl Flavour {
    /// As it comes: fibers stay where they have begun.
    pub(crate) const DEFAULT: Self = Self { strategy: None, migrates: false, group: None };

    pub(crate) const fn migrating(self) -> Self {
        Self { migrates: true, ..self }
    }

    pub(crate) const fn with(self, strategy: Strategy) -> Self {
        Self { strategy: Some(strategy), ..self }
    }

    pub(crate) const fn in_groups_of(self, workers: usize) -> Self {
        Self { group: Some(workers), ..self }
    }

    /// So many workers, in groups.
    fn groups(self, workers: usize) -> Vec<usize> {
        let most = self.group.unwrap_or(workers);
        (0..workers).step_by(most).map(|first| most.min(workers - first)).collect()
    }
}

/// Ours, without fibers.
pub(crate) fn pool(job: &Job) -> Pool {
    let strategy = job.flavour.strategy.unwrap_or_default();
    let builder = Pool::builder().groups(job.flavour.groups(job.threads)).strategy(strategy);
    builder.build().expect("a pool")
}

/// Ours.
pub(crate) fn fibers(job: &Job) -> sinew::Runtime {
    flavoured(job.flavour, job.threads)
}

/// Ours, with so many workers.
pub(crate) fn flavoured(flavour: Flavour, threads: usize) -> sinew::Runtime {
    let mut builder = sinew::Runtime::builder().groups(flavour.groups(threads));
    if flavour.migrates {
        // SAFETY: the fibers of the workloads hold nothing of their thread.
        builder = unsafe { builder.assume_migration_safe() };
    }
    builder.strategy(flavour.strategy.unwrap_or_default()).start().expect("a runtime")
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

/// What `#[tokio::main(flavor = "current_thread")]` makes.
pub(crate) fn tokio_ct() -> Runtime {
    Builder::new_current_thread().enable_all().build().expect("a runtime")
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

/// A listener of may's that is this one.
pub(crate) fn may_listener(listener: std::net::TcpListener) -> may::net::TcpListener {
    // SAFETY: the number is that of a socket which nobody else owns any more.
    unsafe { may::net::TcpListener::from_raw_fd(listener.into_raw_fd()) }
}

/// A pool of its own.
pub(crate) fn rayon(threads: usize) -> ThreadPool {
    ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool")
}
