//! Starts the runtimes that are linked into this program as their documentation advises, with a
//! given number of threads.
//!
//! # Safety
//!
//! This file is trusted with the promise that the fibers of the workloads hold nothing of their
//! thread across a suspension, and with handing a socket over by its number.

#![expect(unsafe_code, reason = "that fibers may move is a promise, and may takes sockets as numbers")]

use crate::workloads::Job;
use may::go;
use rayon::{ThreadPool, ThreadPoolBuilder};
use sinew::Strategy;
use sinew_sched::Pool;
use std::os::fd::{FromRawFd, IntoRawFd};
use tokio::runtime::{Builder, Runtime};

/// The settings of a flavour of ours.
#[derive(Clone, Copy)]
pub(crate) struct Flavour {
    /// The strategy, unless it is the default.
    pub(crate) strategy: Option<Strategy>,
    /// Whether fibers may continue on another worker after any suspension.
    pub(crate) migrates: bool,
    /// The number of workers in a group.
    pub(crate) group: Option<usize>,
}

impl Flavour {
    /// The default: fibers stay where they have begun.
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

    /// Returns the sizes of the groups for this number of workers.
    fn groups(self, workers: usize) -> Vec<usize> {
        let most = self.group.unwrap_or(workers);
        (0..workers).step_by(most).map(|first| most.min(workers - first)).collect()
    }
}

/// Starts our pool, without fibers.
pub(crate) fn pool(job: &Job) -> Pool {
    let strategy = job.flavour.strategy.unwrap_or_default();
    let builder = Pool::builder().groups(job.flavour.groups(job.threads)).strategy(strategy);
    builder.build().expect("a pool")
}

/// Starts our runtime.
pub(crate) fn fibers(job: &Job) -> sinew::Runtime {
    flavoured(job.flavour, job.threads)
}

/// Starts our runtime in a flavour, with this number of workers.
pub(crate) fn flavoured(flavour: Flavour, threads: usize) -> sinew::Runtime {
    let mut builder = sinew::Runtime::builder().groups(flavour.groups(threads));
    if flavour.migrates {
        // SAFETY: the fibers of the workloads hold nothing of their thread.
        builder = unsafe { builder.assume_migration_safe() };
    }
    builder.strategy(flavour.strategy.unwrap_or_default()).start().expect("a runtime")
}

/// Ends our pool, and checks that nothing was left.
pub(crate) fn end_sinew(pool: Pool) {
    let report = pool.shutdown(None);
    assert!(report.drained, "{report:?}");
}

/// Starts what `#[tokio::main]` starts: the drivers for events and time are on.
pub(crate) fn tokio(threads: usize) -> Runtime {
    Builder::new_multi_thread().worker_threads(threads).enable_all().build().expect("a runtime")
}

/// Starts what `#[tokio::main(flavor = "current_thread")]` starts.
pub(crate) fn tokio_ct() -> Runtime {
    Builder::new_current_thread().enable_all().build().expect("a runtime")
}

/// Runs the work in a task of tokio, and waits for its end.
pub(crate) fn in_tokio<T: Send + 'static>(
    runtime: &Runtime,
    work: impl Future<Output = T> + Send + 'static,
) -> T {
    runtime.block_on(runtime.spawn(work)).expect("it does not panic")
}

/// may's runtime, of which a process has one. Its first coroutine starts it, and nothing ends it.
pub(crate) struct May(());

/// Sets the number of threads that it will have.
pub(crate) fn may(threads: usize) -> May {
    may::config().set_workers(threads);
    May(())
}

impl May {
    /// Runs the work in a coroutine, and waits for its end.
    pub(crate) fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> T {
        go!(work).join().expect("it does not panic")
    }
}

/// Turns the listener into one of may's.
pub(crate) fn may_listener(listener: std::net::TcpListener) -> may::net::TcpListener {
    // SAFETY: the listener gave its socket up, so this is the only owner of the number.
    unsafe { may::net::TcpListener::from_raw_fd(listener.into_raw_fd()) }
}

/// Starts a rayon pool of its own.
pub(crate) fn rayon(threads: usize) -> ThreadPool {
    ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool")
}
