//! Handles, by which code uses a runtime without owning it.

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

/// A reference to a runtime, which is cloned freely and sent to any thread.
///
/// [`Runtime::handle`](super::Runtime::handle) returns one, [`Handle::current`] that of the runtime
/// where the caller makes fibers, and [`Handle::default_runtime`] that of the runtime which starts
/// by itself.
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
/// A handle keeps no runtime going. Once it is shut down, by its owner or by any handle, all
/// handles refuse to make fibers: [`try_spawn`](Self::try_spawn) returns an error, and
/// [`spawn`](Self::spawn) panics. Numbers and descriptions can still be read.
#[derive(Clone)]
pub struct Handle {
    pub(super) engine: Arc<Engine>,
}

// Nothing of a runtime is seen half done through this, whatever a panic interrupts.
impl_unwind_safe!(Handle);

impl Handle {
    pub(super) fn new(engine: Arc<Engine>) -> Self {
        Self { engine }
    }

    /// Returns a handle to the runtime where the caller makes fibers: that of the calling fiber, or
    /// the default one, which is started if need be. A call inside [`blocking`](fn@crate::blocking)
    /// is made by a plain thread, and gets the default one.
    ///
    /// # Panics
    ///
    /// If the default runtime has to be started and cannot be.
    #[must_use]
    #[track_caller]
    pub fn current() -> Self {
        match Self::try_current() {
            Some(own) => own,
            None => Self::default_runtime(),
        }
    }

    /// Returns a handle to the runtime of the calling fiber; none, if the caller is no fiber.
    #[must_use]
    pub fn try_current() -> Option<Self> {
        Engine::current().map(Self::new)
    }

    /// Returns a handle to the default runtime, which is started if need be.
    ///
    /// The default runtime can be [shut down](Self::shutdown) as any other, for example to wait for
    /// its fibers at the end of `main`. It is not started again: whatever uses it later, such as
    /// [`fiber::spawn`] on a plain thread, is refused.
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
    /// If it has to be started and cannot be.
    #[must_use]
    #[track_caller]
    pub fn default_runtime() -> Self {
        Self::new(default_engine().clone())
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
        match fiber::spawn_in(self.engine.host(), body) {
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
        fiber::spawn_in(self.engine.host(), body)
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
        match fiber::spawn_steps_at(Site::of(self.engine.host()), Location::caller(), state, step) {
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
        match fiber::spawn_batch_in(self.engine.host(), Location::caller(), bodies) {
            Ok(handles) => handles,
            Err(error) => panic!("{error}"),
        }
    }

    /// Runs `body` as a fiber, and returns what it does. A panic goes on here. As with
    /// [`run`](super::run), it has the caller's context and no more.
    ///
    /// # Panics
    ///
    /// If the body does, or as [`fiber::spawn`]. If the runtime is shut down meanwhile, and the
    /// body does not end in time: see [`Discarded`](fiber::Discarded) and
    /// [`Abandoned`](fiber::Abandoned).
    #[track_caller]
    pub fn run<F, T>(&self, body: F) -> T
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        value_of(self.spawn(body).join())
    }

    /// Where the caller makes something in this runtime.
    pub(crate) fn site(&self) -> Site<'_> {
        Site::of(self.engine.host())
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

    /// The NUMA node that a group is for, by the kernel's number: 0, if groups do not belong to
    /// nodes; none, if there is no such group.
    #[must_use]
    pub fn group_node(&self, group: usize) -> Option<usize> {
        self.engine.group_node(group)
    }

    /// Returns all fibers of the runtime that have not ended, those that have not begun included,
    /// in no order. Fibers that are made or end meanwhile may be among them or not.
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
    /// The runtime works on meanwhile: fibers run, wait and are woken. None begins or ends for some
    /// microseconds at a time.
    ///
    /// # Errors
    ///
    /// If the kernel refuses `membarrier`, after it has said that it has it.
    pub fn fibers(&self) -> io::Result<Vec<Fiber>> {
        let fibers = self.engine.host().fibers();
        let fibers = fibers.ok_or_else(|| io::Error::from(io::ErrorKind::Unsupported))?;
        Ok(fibers.into_iter().map(Fiber::new).collect())
    }

    /// Runs `body` with a [scope](fiber::scope) whose fibers are in this runtime, whatever the
    /// runtime of the caller. The body itself runs where this is called.
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
    /// As [`fiber::scope`].
    #[track_caller]
    pub fn scope<'env, F, T>(&self, body: F) -> T
    where
        F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
    {
        fiber::open_scope(Some(self.engine.host()), ScopeFailure::IsItsOwn, Location::caller(), body, |_| {
            false
        })
    }

    /// Refuses new fibers, waits until all have ended, and ends the threads; without a limit for as
    /// long as that takes. After `at_most` it discards those that have not begun, abandons those
    /// that wait, and gives those that run a moment more, some 200 ms. Tells what came of it.
    /// Called by one of the runtime's own fibers, it does not wait.
    ///
    /// It may be called several times, by several handles at once. Each call waits, and tells what
    /// it finds; the limit that is reached first counts for all of them.
    ///
    /// An abandoned fiber never runs again, and keeps what it has. Its locks stay locked, including
    /// one that was just handed to it. Permits, messages and readiness events that it was just
    /// given are lost; a fiber of another runtime that waits for the same descriptor is woken by
    /// the next event. A [scope](fiber::scope) around it never ends, in whichever runtime or
    /// thread: what the fiber borrows has to stay.
    ///
    /// The body of a fiber that never began is dropped by the thread that shuts down, or by a
    /// worker. Its destructors should not wait for other fibers of the runtime.
    ///
    /// [Queues of work](crate::work#the-end-of-the-runtime) are stopped when this begins, and what
    /// they have is done as fibers are.
    ///
    /// [Timers](crate::time) are not waited for: nobody is called back once this has begun, and
    /// what they hold is dropped here.
    ///
    /// A fiber that makes another one meanwhile is refused: [`spawn`](crate::fiber::spawn) panics
    /// in it, and [`try_spawn`](crate::fiber::try_spawn) returns an error. Join what makes fibers
    /// before.
    pub fn shutdown(&self, at_most: Option<Duration>) -> ShutdownReport {
        // It waits as a thread, which a fiber of another runtime leaves to a thread for calls that
        // block.
        #[cfg(not(loom))]
        if Self::try_current().is_some_and(|own| !Arc::ptr_eq(&own.engine, &self.engine)) && rt::may_wait() {
            return crate::blocking(|| self.shutdown_here(at_most));
        }
        self.shutdown_here(at_most)
    }

    fn shutdown_here(&self, at_most: Option<Duration>) -> ShutdownReport {
        let (report, fates) = self.engine.shutdown(at_most);
        ShutdownReport::new(report, fates)
    }

    /// Begins to shut the runtime down, and does not wait: it refuses new fibers, and its threads
    /// end when all fibers have.
    ///
    /// Calling [`shutdown`](Self::shutdown) later waits for that.
    pub fn begin_shutdown(&self) {
        self.engine.begin_shutdown();
    }

    /// Whether the runtime refuses new fibers, because it was shut down or is about to be.
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

/// The value that the fiber of a `run` has returned. Its panic goes on here.
#[track_caller]
pub(super) fn value_of<T>(result: std::thread::Result<T>) -> T {
    let payload = match result {
        Ok(value) => return value,
        Err(payload) => payload,
    };
    // No panic hook has told of these.
    if let Some(discarded) = payload.downcast_ref::<fiber::Discarded>() {
        panic!("{discarded}");
    }
    if let Some(abandoned) = payload.downcast_ref::<fiber::Abandoned>() {
        panic!("{abandoned}");
    }
    std::panic::resume_unwind(payload)
}
