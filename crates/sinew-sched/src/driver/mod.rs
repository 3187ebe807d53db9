//! What a core sleeps in. The scheduler knows no more than this of sockets, timers or system calls.

mod futex;

use std::any::Any;
use std::io;
use std::time::Duration;

pub use futex::FutexDriver;

/// A place to sleep, and to hear of events.
///
/// Each core has one. Its thread looks into it now and then and sleeps in it when there is nothing to do; any thread may
/// end the sleep. An idle sibling may look into it too, when its own thread has not for long. The core sees to it that two
/// threads never are in [`look`](Self::look) or [`sleep`](Self::sleep) at once. A panic in
/// any of its methods counts as an error; a question that panics is answered with no.
pub trait Driver: Send + Sync {
    /// Delivers what has happened (submits the tasks that waited for it), without waiting. Returns
    /// how many events there were. Tasks of a pool go to [`reschedule`](crate::Handle::reschedule),
    /// which takes them while the pool drains too. A driver that makes new tasks does so inside
    /// [`deliver`](crate::Handle::deliver).
    ///
    /// # Errors
    ///
    /// When events cannot be had; the core goes on, counts it, and tries again at the next look.
    fn look(&self) -> io::Result<usize>;

    /// Waits until something happens, or [`unpark`](Self::unpark) is called, or the time is over; delivers what has
    /// happened, as `look` does. May return early for no reason.
    ///
    /// # Errors
    ///
    /// When it is impossible to wait; the core then waits without its driver.
    fn sleep(&self, at_most: Option<Duration>) -> io::Result<()>;

    /// Ends the present sleep, or the next one if there is none at present. Called once for each sleep at most. It has no way
    /// to fail: if it does not end the sleep, whatever the core was woken for waits.
    fn unpark(&self);

    /// Whether there is something to look for. A driver with nothing registered is not looked into.
    fn is_watching(&self) -> bool;

    /// The driver as the type that it is, for whoever made it to find it again from its core; nothing unless it says so.
    fn as_any(&self) -> Option<&dyn Any> {
        None
    }

    /// Whether some of it concerns tasks that any worker may run. If so, an idle sibling looks when the owner does not.
    fn is_watching_for_others(&self) -> bool {
        false
    }
}
