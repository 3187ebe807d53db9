//! Runtimes: workers, and the resources of their fibers. The default one starts by itself; others
//! are started by their builder.

mod builder;
mod describe;
mod handle;
#[cfg(all(test, not(loom)))]
mod ownership_tests;
mod report;
mod stats;
#[cfg(all(test, not(loom)))]
mod tests;

use std::ops::Deref;
use std::sync::Arc;

pub use builder::RuntimeBuilder;
pub use handle::Handle;
pub use report::{LeakedFiber, ShutdownReport, StuckWorker};
pub use stats::{RuntimeStats, WorkerFibers};

use crate::fiber;
pub use crate::launch::{Config, StartError};
use crate::rt::{Engine, impl_debug, impl_unwind_safe};

/// A set of workers that run fibers.
///
/// ```
/// let runtime = sinew::Runtime::builder().workers(2).start()?;
/// let answer = runtime.spawn(|| sinew::fiber::spawn(|| 42).join().unwrap());
/// assert_eq!(answer.join().unwrap(), 42);
/// assert!(runtime.shutdown(None).drained);
/// # Ok::<(), sinew::StartError>(())
/// ```
///
/// The operations on a runtime are the methods of its [`Handle`], to which it dereferences. Its
/// fibers spawn others in the same runtime. So, to set a fiber's name or stack size, use a
/// [`fiber::Builder`] inside [`run`](Handle::run).
///
/// Dropping a runtime [begins its shutdown](Handle::begin_shutdown) and does not wait for it.
pub struct Runtime {
    handle: Handle,
    /// Begins to shut down when it is dropped.
    _pool: sinew_sched::Pool,
}

// For the same reason as `Handle`.
impl_unwind_safe!(Runtime);

impl Runtime {
    /// Returns the default settings of a runtime, to be changed and then started.
    pub fn builder() -> RuntimeBuilder {
        RuntimeBuilder::default()
    }

    fn new((engine, pool): (Arc<Engine>, sinew_sched::Pool)) -> Self {
        Self { handle: Handle::new(engine), _pool: pool }
    }

    /// Returns a handle, through which other code uses this runtime without owning it.
    #[must_use]
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }
}

impl Deref for Runtime {
    type Target = Handle;

    fn deref(&self) -> &Handle {
        &self.handle
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        self.handle.begin_shutdown();
    }
}

impl_debug!(Runtime, |runtime| { workers: runtime.workers(), .. });

/// Runs `body` as a fiber of the calling fiber's runtime, or of the default one, waits for it, and
/// returns its value. A panic of the body continues in the caller.
///
/// The fiber inherits the [context](crate::context) of the caller, but neither its cancellation nor
/// its deadline.
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
/// Panics if the body panics, or in the same cases as [`fiber::spawn`]. Also panics if the runtime
/// is shut down meanwhile and the body does not end in time: see [`Discarded`](fiber::Discarded)
/// and [`Abandoned`](fiber::Abandoned).
#[track_caller]
pub fn run<F, T>(body: F) -> T
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    handle::value_of(fiber::spawn(body).join())
}
