//! What a core sleeps in. The scheduler knows no more than this of sockets, timers or system calls.

mod futex;

use std::any::Any;
use std::io;
use std::time::Duration;

pub use futex::FutexDriver;

/// Where a core sleeps, and receives events.
///
/// Each core has one. Its thread polls the driver now and then and sleeps in it when there is
/// nothing to do; any thread may end the sleep. An idle sibling may poll the driver too, when its
/// own thread has not done so for long. The core makes sure that two threads never are in
/// [`look`](Self::look) or [`sleep`](Self::sleep) at once. A panic in any of the methods counts as
/// an error; a question that panics is answered with false.
///
/// A driver that counts its sleeps, and leaves the rest to another one:
///
/// ```
/// use sinew_sched::{Driver, FutexDriver, Pool};
/// use std::io;
/// use std::sync::atomic::{AtomicUsize, Ordering};
/// use std::time::Duration;
///
/// static SLEEPS: AtomicUsize = AtomicUsize::new(0);
///
/// struct Counting(FutexDriver);
///
/// impl Driver for Counting {
///     fn look(&self) -> io::Result<usize> {
///         self.0.look()
///     }
///
///     fn sleep(&self, at_most: Option<Duration>) -> io::Result<()> {
///         SLEEPS.fetch_add(1, Ordering::Relaxed);
///         self.0.sleep(at_most)
///     }
///
///     fn unpark(&self) {
///         self.0.unpark();
///     }
///
///     fn is_watching(&self) -> bool {
///         self.0.is_watching()
///     }
/// }
///
/// let make = |_worker| Ok(Box::new(Counting(FutexDriver::default())) as Box<dyn Driver>);
/// let pool = Pool::builder().workers(1).driver(make).build()?;
/// while SLEEPS.load(Ordering::Relaxed) == 0 {
///     std::thread::yield_now();
/// }
/// assert!(pool.shutdown(None).drained);
/// # Ok::<(), sinew_sched::BuildError>(())
/// ```
pub trait Driver: Send + Sync {
    /// Delivers events that have happened (submits the tasks that waited for them), without
    /// waiting. Returns the number of events. Tasks of a pool go to
    /// [`reschedule`](crate::Handle::reschedule), which takes them while the pool drains too. A
    /// driver that makes new tasks does so inside [`deliver`](crate::Handle::deliver).
    ///
    /// # Errors
    ///
    /// Returns an error if the driver cannot get events. The core continues, counts the error, and
    /// tries again at the next poll.
    fn look(&self) -> io::Result<usize>;

    /// Waits until an event happens, or [`unpark`](Self::unpark) is called, or the time is over.
    /// Delivers events as `look` does. May return early without a reason.
    ///
    /// # Errors
    ///
    /// Returns an error if the driver cannot wait. The core then waits without its driver.
    fn sleep(&self, at_most: Option<Duration>) -> io::Result<()>;

    /// Ends the current sleep, or the next one if the owner does not sleep now. Called at most once
    /// for each sleep. It cannot fail: if it does not end the sleep, the work that the core was
    /// woken for waits.
    fn unpark(&self);

    /// Returns whether the driver watches for any event. A driver with nothing registered is not
    /// polled.
    fn is_watching(&self) -> bool;

    /// Returns the driver as its own type, so that its maker can find it again from its core.
    /// `None` by default.
    fn as_any(&self) -> Option<&dyn Any> {
        None
    }

    /// Returns whether some of the events concern tasks that any worker may run. If so, an idle
    /// sibling polls the driver when the owner does not. False by default.
    fn is_watching_for_others(&self) -> bool {
        false
    }
}
