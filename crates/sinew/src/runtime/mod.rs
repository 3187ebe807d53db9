//! Runtimes: workers, and what their fibers need. One starts by itself; others can be made.

mod builder;
mod config;
mod default;
mod describe;
mod environment;
mod error;
mod layout;
#[cfg(all(test, not(loom)))]
mod ownership_tests;
mod report;
mod stats;
#[cfg(all(test, not(loom)))]
mod tests;

use std::fmt;
use std::ops::ControlFlow;
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::sync::Arc;
use std::time::Duration;

pub use builder::RuntimeBuilder;
pub use config::Config;
pub(crate) use default::site;
pub use error::StartError;
pub use report::{LeakedFiber, ShutdownReport, StuckWorker};
pub use stats::{RuntimeStats, WorkerFibers};

use crate::fiber::SpawnError;
use crate::fiber::{self, JoinHandle};
use crate::rt::{Engine, Site};

/// Workers that run fibers.
///
/// ```
/// let runtime = sinew::Runtime::builder().workers(2).start()?;
/// let answer = runtime.spawn(|| sinew::fiber::spawn(|| 42).join().unwrap());
/// assert_eq!(answer.join().unwrap(), 42);
/// assert!(runtime.shutdown(None).drained);
/// # Ok::<(), sinew::StartError>(())
/// ```
///
/// Its fibers make others in the same runtime, so what has no method here (a name, a stack size, a scope) is had inside
/// [`run`](Self::run).
///
/// Dropping one begins its shutdown and does not wait.
pub struct Runtime {
    engine: Arc<Engine>,
    pool: Option<sinew_sched::Pool>,
}

// Nothing of a runtime is seen half done through this, whatever a panic interrupts.
impl UnwindSafe for Runtime {}
impl RefUnwindSafe for Runtime {}

impl Runtime {
    /// Settings of one's own.
    pub fn builder() -> RuntimeBuilder {
        RuntimeBuilder::default()
    }

    /// Makes a fiber in this runtime.
    ///
    /// # Panics
    ///
    /// As [`fiber::spawn`].
    #[track_caller]
    pub fn spawn<F, T>(&self, body: F) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        match fiber::spawn_in(&self.engine, body) {
            Ok(handle) => handle,
            Err(error) => panic!("{error}"),
        }
    }

    /// Makes a fiber in this runtime, or gives the body back.
    ///
    /// # Errors
    ///
    /// As [`fiber::try_spawn`].
    #[track_caller]
    pub fn try_spawn<F, T>(&self, body: F) -> Result<JoinHandle<T>, SpawnError<F>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        fiber::spawn_in(&self.engine, body)
    }

    /// Makes a fiber in steps in this runtime, as [`fiber::spawn_steps`].
    ///
    /// # Panics
    ///
    /// As [`fiber::spawn`].
    #[track_caller]
    pub fn spawn_steps<S, F, T>(&self, state: S, step: F) -> JoinHandle<T>
    where
        S: Send + 'static,
        F: FnMut(&mut S) -> ControlFlow<T> + Send + 'static,
        T: Send + 'static,
    {
        match fiber::spawn_steps_at(Site::of(&self.engine), Location::caller(), state, step) {
            Ok(handle) => handle,
            Err(error) => panic!("{error}"),
        }
    }

    /// Makes fibers in this runtime, as [`fiber::spawn_batch`].
    ///
    /// # Panics
    ///
    /// As [`fiber::spawn_batch`].
    #[track_caller]
    pub fn spawn_batch<I, F, T>(&self, bodies: I) -> Vec<JoinHandle<T>>
    where
        I: IntoIterator<Item = F>,
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        match fiber::spawn_batch_in(&self.engine, Location::caller(), bodies) {
            Ok(handles) => handles,
            Err(error) => panic!("{error}"),
        }
    }

    /// Runs `body` as a fiber, and returns what it does. A panic goes on here. As with [`run`], it has the caller's context and no more.
    ///
    /// # Panics
    ///
    /// If the body does, or as [`fiber::spawn`].
    #[track_caller]
    pub fn run<F, T>(&self, body: F) -> T
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        match self.spawn(body).join() {
            Ok(value) => value,
            Err(payload) => std::panic::resume_unwind(payload),
        }
    }

    /// Where the caller makes something in this runtime.
    pub(crate) fn site(&self) -> Site<'_> {
        Site::of(&self.engine)
    }

    /// How many workers there are.
    #[must_use]
    pub fn workers(&self) -> usize {
        self.engine.workers()
    }

    /// How many groups of workers there are.
    #[must_use]
    pub fn groups(&self) -> usize {
        self.engine.groups()
    }

    /// How many workers a group has; none, if there is no such group.
    #[must_use]
    pub fn group_size(&self, group: usize) -> Option<usize> {
        self.engine.group_size(group)
    }

    /// The NUMA node that a group is for, by the kernel's number: 0, if groups do not belong to nodes; none, if there is no such group.
    #[must_use]
    pub fn group_node(&self, group: usize) -> Option<usize> {
        self.engine.group_node(group)
    }

    /// Refuses new fibers, waits until all have ended, and ends the threads; without a limit for as long as that takes. After
    /// `at_most` it discards those that have not begun, abandons those that wait, and gives those that run a moment more, some
    /// 200 ms. Tells what came of it. Called by one of the runtime's own fibers, it does not wait.
    ///
    /// A fiber that is abandoned keeps what it has, as a thread would that never runs again: locks stay locked, also one that was about to be taken by
    /// it, and permits and messages that it was just given are lost, as is word of a descriptor that it was just told to be ready: one of another runtime
    /// that waits for the same one hears of the next.
    ///
    /// [Queues of work](crate::work#the-end-of-the-runtime) are stopped when this begins, and what they have is done as fibers are.
    ///
    /// [Timers](crate::time) are not waited for: nobody is called back once this has begun, and what they hold is dropped here.
    ///
    /// A fiber that makes another one meanwhile is refused: [`spawn`](crate::fiber::spawn) panics in it, and
    /// [`try_spawn`](crate::fiber::try_spawn) returns an error. Join what makes fibers before.
    pub fn shutdown(mut self, at_most: Option<Duration>) -> ShutdownReport {
        let pool = self.pool.take().expect("it is taken once");
        let (report, fates) = self.engine.shutdown(pool, at_most);
        ShutdownReport::new(report, fates)
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        if let Some(pool) = self.pool.take() {
            self.engine.close();
            drop(pool);
        }
    }
}

impl fmt::Debug for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runtime").field("workers", &self.workers()).finish_non_exhaustive()
    }
}

/// Runs `body` as a fiber of the calling fiber's runtime, or of the default one, and returns what it does. A panic goes on here.
///
/// It has the [context](crate::context) of the caller. It is not cancelled with the caller, nor has it the deadline.
///
/// ```
/// let sum: u32 = sinew::run(|| {
///     let fibers: Vec<_> = (0..10).map(|number| sinew::fiber::spawn(move || number)).collect();
///     fibers.into_iter().map(|fiber| fiber.join().unwrap()).sum()
/// });
/// assert_eq!(sum, 45);
/// ```
///
/// # Panics
///
/// If the body does, or as [`fiber::spawn`].
#[track_caller]
pub fn run<F, T>(body: F) -> T
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    match fiber::spawn(body).join() {
        Ok(value) => value,
        Err(payload) => std::panic::resume_unwind(payload),
    }
}
