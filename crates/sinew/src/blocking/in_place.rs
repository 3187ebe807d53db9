//! Blocking where one is.

use crate::rt;

/// Makes a call that may block, here: **the other fibers that have begun on this worker wait until it returns**.
///
/// Fibers that have not begun, those in steps, and those that may [move](crate::fiber::Builder::migratable) are left to others: a spare worker stands in
/// for this one meanwhile, if a thread is to be had for it. For what can be called on another thread, [`blocking()`](fn@crate::blocking) is better: it stops nobody.
///
/// ```
/// use std::rc::Rc;
///
/// sinew::run(|| {
///     // It could not go to another thread.
///     let rc = Rc::new(21);
///     let twice = sinew::block_in_place(|| {
///         std::thread::sleep(std::time::Duration::from_millis(1));
///         2 * *rc
///     });
///     assert_eq!(twice, 42);
/// });
/// ```
///
/// A fiber that may move stays until this returns. Calls may be inside one another, and nothing more comes of that. A plain thread just makes the call.
///
/// The call may also wait as fibers do, by a lock of [`sync`](crate::sync), say. Then the worker goes on with others, as at any wait; the spare worker stays
/// nevertheless until this returns, so that there is one more than was asked for. Better wait outside.
///
/// # Panics
///
/// If the body does.
pub fn block_in_place<R>(body: impl FnOnce() -> R) -> R {
    rt::in_place(body)
}
