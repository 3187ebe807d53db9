//! Runs a blocking call on the current thread.

use crate::rt;

/// Runs a call that may block on the current thread: **the other fibers that have begun on this
/// worker wait until it returns**.
///
/// Fibers that have not begun, fibers in steps, and fibers that may
/// [migrate](crate::fiber::Builder::migratable) continue: a spare worker takes the place of this
/// one meanwhile, if a thread can be started for it. If the call can run on another thread, prefer
/// [`blocking()`](fn@crate::blocking), which stops no other fiber.
///
/// ```
/// use std::rc::Rc;
///
/// sinew::run(|| {
///     // An `Rc` cannot move to another thread.
///     let rc = Rc::new(21);
///     let twice = sinew::block_in_place(|| {
///         std::thread::sleep(std::time::Duration::from_millis(1));
///         2 * *rc
///     });
///     assert_eq!(twice, 42);
/// });
/// ```
///
/// A fiber that may migrate stays on this thread until this returns. Calls may be nested; an inner
/// call has no further effect. A plain thread only runs the call.
///
/// The call may also wait as fibers do, for example for a lock of [`sync`](crate::sync). Then the
/// worker runs other fibers, as at any wait. The spare worker still remains until this returns, so
/// that the group has one worker more than configured. It is better to wait outside of this call.
///
/// # Panics
///
/// Panics if `body` does.
pub fn block_in_place<R>(body: impl FnOnce() -> R) -> R {
    rt::in_place(body)
}
