//! Handles, through which code uses a runtime without owning it.

use std::fmt;
use std::io;
use std::ops::ControlFlow;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use super::report::ShutdownReport;
use crate::fiber::{self, Fiber, JoinHandle, Scope, SpawnError};
use crate::launch::default_engine;
use crate::rt::{self, Engine, ScopeFailure, Site, impl_unwind_safe};

/// A reference to a runtime. It is cheap to clone, and can be sent to any thread.
///
/// [`Runtime::handle`](super::Runtime::handle) returns the handle of a runtime, [`Handle::current`]
/// that of the runtime in which the caller spawns fibers, and [`Handle::default_runtime`] that of
/// the default runtime.
///
/// ```
/// use sinew::runtime::Handle;
///
/// let stats = sinew::run(|| {
///     sinew::fiber::spawn(|| ()).join().unwrap();
///     Handle::current().stats()
/// });
/// assert!(stats.finished >= 1);
/// println!("{}", Handle::default_runtime().describe());
/// ```
///
/// A handle does not keep its runtime running. Once the runtime is shut down, by its owner or
/// through any handle, it refuses new fibers: [`try_spawn`](Self::try_spawn) returns an error, and
/// [`spawn`](Self::spawn) panics. Statistics and descriptions can still be read.
#[derive(Clone)]
pub struct Handle {
    pub(super) engine: Arc<Engine>,
}

// No panic can leave the state of a runtime inconsistent.
impl_unwind_safe!(Handle);

impl Handle {
    pub(super) fn new(engine: Arc<Engine>) -> Self {
        Self { engine }
    }

    /// Returns a handle to the runtime in which the caller spawns fibers: that of the calling
    /// fiber, or the default one, which is started if necessary. A call inside
    /// [`blocking`](fn@crate::blocking) runs on a plain thread, and gets the default one.
    ///
    /// # Panics
    ///
    /// Panics if the default runtime has to be started and cannot be.
    #[must_use]
    #[track_caller]
    pub fn current() -> Self {
        match Self::try_current() {
            Some(own) => own,
            None => Self::default_runtime(),
        }
    }

    /// Returns a handle to the runtime of the calling fiber, or `None` if the caller is not a
    /// fiber.
    #[must_use]
    pub fn try_current() -> Option<Self> {
        Engine::current().map(Self::new)
    }

    /// Returns a handle to the default runtime, which is started if necessary.
    ///
    /// The default runtime can be [shut down](Self::shutdown) like any other, for example to wait
    /// for its fibers at the end of `main`. It is not started again: later calls that use it, such
    /// as [`fiber::spawn`] on a plain thread, are refused.
    ///
    /// ```
    /// use sinew::runtime::Handle;
    ///
    /// let fiber = sinew::fiber::spawn(|| 1);
    /// assert!(Handle::default_runtime().shutdown(None).drained);
    /// assert_eq!(fiber.join().unwrap(), 1);
    /// assert!(sinew::fiber::try_spawn(|| 2).is_err());
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if it has to be started and cannot be.
    #[must_use]
    #[track_caller]
    pub fn default_runtime() -> Self {
        Self::new(default_engine().clone())
    }

    /// Spawns a fiber in this runtime.
    ///
    /// # Panics
    ///
    /// Panics in the same cases as [`fiber::spawn`].
    #[track_caller]
    pub fn spawn<F, T>(&self, body: F) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        match fiber::spawn_in(self.engine.host(), body) {
            Ok(handle) => handle,
            Err(error) => panic!("{error}"),
        }
    }

    /// Spawns a fiber in this runtime, or returns an error that contains the body.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`fiber::try_spawn`].
    #[track_caller]
    pub fn try_spawn<F, T>(&self, body: F) -> Result<JoinHandle<T>, SpawnError<F>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        fiber::spawn_in(self.engine.host(), body)
    }

    /// Spawns a fiber in steps in this runtime, as [`fiber::spawn_steps`] does.
    ///
    /// # Panics
    ///
    /// Panics in the same cases as [`fiber::spawn`].
    #[track_caller]
    pub fn spawn_steps<S, F, T>(&self, state: S, step: F) -> JoinHandle<T>
    where
        S: Send + 'static,
        F: FnMut(&mut S) -> ControlFlow<T> + Send + 'static,
        T: Send + 'static,
    {
        match fiber::spawn_steps_at(Site::of(self.engine.host()), Location::caller(), state, step) {
            Ok(handle) => handle,
            Err(error) => panic!("{error}"),
        }
    }

    /// Spawns fibers in this runtime, as [`fiber::spawn_batch`] does.
    ///
    /// # Panics
    ///
    /// Panics in the same cases as [`fiber::spawn_batch`].
    #[track_caller]
    pub fn spawn_batch<I, F, T>(&self, bodies: I) -> Vec<JoinHandle<T>>
    where
        I: IntoIterator<Item = F>,
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        match fiber::spawn_batch_in(self.engine.host(), Location::caller(), bodies) {
            Ok(handles) => handles,
            Err(error) => panic!("{error}"),
        }
    }

    /// Runs `body` as a fiber of this runtime, waits for it, and returns its value. A panic of the
    /// body continues in the caller. As with [`run`](super::run), the fiber inherits the caller's
    /// context only.
    ///
    /// # Panics
    ///
    /// Panics if the body panics, or in the same cases as [`fiber::spawn`]. Also panics if the
    /// runtime is shut down meanwhile and the body does not end in time: see
    /// [`Discarded`](fiber::Discarded) and [`Abandoned`](fiber::Abandoned).
    #[track_caller]
    pub fn run<F, T>(&self, body: F) -> T
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        value_of(self.spawn(body).join())
    }

    /// Returns the site of a spawn in this runtime.
    pub(crate) fn site(&self) -> Site<'_> {
        Site::of(self.engine.host())
    }

    /// Returns the number of workers.
    #[must_use]
    pub fn workers(&self) -> usize {
        self.engine.workers()
    }

    /// Returns the number of groups of workers.
    #[must_use]
    pub fn groups(&self) -> usize {
        self.engine.groups()
    }

    /// Returns the number of workers of a group, or `None` if there is no such group.
    #[must_use]
    pub fn group_size(&self, group: usize) -> Option<usize> {
        self.engine.group_size(group)
    }

    /// Returns the NUMA node of a group, by the kernel's number, or `None` if there is no such
    /// group. Returns 0 if groups do not belong to nodes.
    #[must_use]
    pub fn group_node(&self, group: usize) -> Option<usize> {
        self.engine.group_node(group)
    }

    /// Returns all fibers of the runtime that have not ended, including those that have not begun,
    /// in no particular order. Fibers that are spawned or end during the call may be missing or
    /// not.
    ///
    /// ```
    /// use sinew::fiber::{self, State};
    ///
    /// let runtime = sinew::Runtime::builder().workers(1).start()?;
    /// let parked = runtime.spawn(fiber::park);
    /// while parked.thread().state() != State::Parked {
    ///     std::thread::yield_now();
    /// }
    /// let fibers = runtime.fibers()?;
    /// assert_eq!(fibers.len(), 1);
    /// assert_eq!(fibers[0].id(), parked.thread().id());
    /// parked.thread().unpark();
    /// # parked.join().unwrap();
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// The runtime continues meanwhile: fibers run, wait and are woken. Only for some microseconds
    /// at a time no fiber begins or ends.
    ///
    /// # Errors
    ///
    /// Returns an error if the kernel refuses `membarrier` although it reported support for it.
    pub fn fibers(&self) -> io::Result<Vec<Fiber>> {
        let fibers = self.engine.host().fibers();
        let fibers = fibers.ok_or_else(|| io::Error::from(io::ErrorKind::Unsupported))?;
        Ok(fibers.into_iter().map(Fiber::new).collect())
    }

    /// Runs `body` with a [scope](fiber::scope) whose fibers are in this runtime, regardless of the
    /// caller's runtime. The body itself runs in the calling fiber or thread.
    ///
    /// ```
    /// let runtime = sinew::Runtime::builder().workers(2).start()?;
    /// let numbers = [1, 2, 3];
    /// let sum: i32 = runtime.scope(|scope| {
    ///     let doubled = numbers.each_ref().map(|number| scope.spawn(move || number * 2));
    ///     doubled.into_iter().map(|fiber| fiber.join().unwrap()).sum()
    /// });
    /// assert_eq!(sum, 12);
    /// # Ok::<(), sinew::StartError>(())
    /// ```
    ///
    /// # Panics
    ///
    /// Panics in the same cases as [`fiber::scope`].
    #[track_caller]
    pub fn scope<'env, F, T>(&self, body: F) -> T
    where
        F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
    {
        fiber::open_scope(Some(self.engine.host()), ScopeFailure::IsItsOwn, Location::caller(), body, |_| {
            false
        })
    }

    /// Shuts the runtime down: refuses new fibers, waits until all fibers have ended, and ends the
    /// threads. Without a limit it waits for as long as that takes. After `at_most` it discards the
    /// fibers that have not begun, abandons those that wait, and gives those that run some 200 ms
    /// more. Returns a report of the result. If one of the runtime's own fibers calls this, it does
    /// not wait.
    ///
    /// It may be called several times, also concurrently. Each call waits, and reports what it
    /// observes; the limit that is reached first applies to all of them.
    ///
    /// An abandoned fiber never runs again, and keeps what it owns. Its locks stay locked,
    /// including a lock that was just handed to it. Permits, messages and readiness events that it
    /// was just given are lost; a fiber of another runtime that waits for the same descriptor is
    /// woken by the next event. A [scope](fiber::scope) around it never ends, in any runtime or
    /// thread: what the fiber borrows has to stay alive.
    ///
    /// The body of a fiber that never began is dropped by the calling thread, or by a worker. Its
    /// destructors should not wait for other fibers of the runtime.
    ///
    /// [Queues of work](crate::work#the-end-of-the-runtime) are stopped when the shutdown begins,
    /// and the jobs in them are completed as fibers are.
    ///
    /// [Timers](crate::time) are not waited for: no callback is called once the shutdown has begun,
    /// and what the callbacks hold is dropped here.
    ///
    /// A fiber that spawns another one meanwhile is refused: [`spawn`](crate::fiber::spawn) panics
    /// in it, and [`try_spawn`](crate::fiber::try_spawn) returns an error. Join the fibers that
    /// spawn others before.
    pub fn shutdown(&self, at_most: Option<Duration>) -> ShutdownReport {
        // The shutdown blocks its thread. A fiber of another runtime therefore runs it on a thread
        // for calls that block.
        #[cfg(not(loom))]
        if Self::try_current().is_some_and(|own| !Arc::ptr_eq(&own.engine, &self.engine)) && rt::may_wait() {
            return rt::blocking(|| self.shutdown_here(at_most));
        }
        self.shutdown_here(at_most)
    }

    fn shutdown_here(&self, at_most: Option<Duration>) -> ShutdownReport {
        let (report, fates) = self.engine.shutdown(at_most);
        ShutdownReport::new(report, fates)
    }

    /// Begins to shut the runtime down, and does not wait: the runtime refuses new fibers, and its
    /// threads end when all fibers have ended.
    ///
    /// A later call of [`shutdown`](Self::shutdown) waits for that.
    pub fn begin_shutdown(&self) {
        self.engine.begin_shutdown();
    }

    /// Returns whether the runtime refuses new fibers, because it was shut down or is shutting
    /// down.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.engine.host().is_closed()
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, workers) = (&self.engine.settings.name, self.workers());
        f.debug_struct("Handle").field("name", name).field("workers", &workers).finish_non_exhaustive()
    }
}

/// Returns the value of the fiber of a `run`, or continues its panic.
#[track_caller]
pub(super) fn value_of<T>(result: std::thread::Result<T>) -> T {
    let payload = match result {
        Ok(value) => return value,
        Err(payload) => payload,
    };
    // No panic hook has reported these.
    if let Some(discarded) = payload.downcast_ref::<fiber::Discarded>() {
        panic!("{discarded}");
    }
    if let Some(abandoned) = payload.downcast_ref::<fiber::Abandoned>() {
        panic!("{abandoned}");
    }
    std::panic::resume_unwind(payload)
}
