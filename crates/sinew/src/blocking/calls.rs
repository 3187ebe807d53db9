//! Calls that are made by another thread. Knows nothing of what is called.

use std::panic::Location;

use crate::fiber::{self, JoinHandle, Stopped};
use crate::rt;

/// Makes a call that may block, without holding up the worker: another thread makes it while the calling fiber waits. Returns what it does.
///
/// It may borrow what the caller has:
///
/// ```
/// let mut text = String::from("a line that");
/// sinew::run(move || {
///     let length = sinew::blocking(|| {
///         // Something that blocks the thread.
///         std::thread::sleep(std::time::Duration::from_millis(1));
///         text.push_str(" grew");
///         text.len()
///     });
///     assert_eq!(length, text.len());
/// });
/// ```
///
/// What it uses and returns is `Send`:
///
/// ```compile_fail,E0277
/// let rc = std::rc::Rc::new(1);
/// sinew::blocking(|| assert_eq!(*rc, 1));
/// ```
///
/// The wait observes neither cancellation nor deadlines; [`blocking_cancellable`] does. A plain thread, and so a call inside another one, just calls it. How
/// many threads there are, and what is seen inside, is told [above](mod@crate::blocking).
///
/// # Panics
///
/// If the body does: the panic goes on here, and the panic hook has told of it once. Also if the caller is a fiber inside
/// [`no_suspend`](crate::fiber::no_suspend).
#[inline]
pub fn blocking<F, R>(body: F) -> R
where
    F: FnOnce() -> R + Send,
    R: Send,
{
    rt::blocking(body)
}

/// [`blocking()`](fn@blocking) where [cancellation and deadlines](crate::fiber#stopping) count. Nobody can interrupt the call, so it may go on after this has
/// returned, and borrows nothing.
///
/// ```
/// use sinew::{blocking, fiber};
/// use std::sync::mpsc;
///
/// let (release, until_released) = mpsc::channel::<()>();
/// let fiber = fiber::spawn(|| blocking::blocking_cancellable(move || until_released.recv().is_err()));
/// fiber.cancel();
/// assert!(fiber.join().unwrap().unwrap_err().is_cancelled());
/// // Only now does the call return, if it was begun.
/// drop(release);
/// ```
///
/// A call by a plain thread is made in place, and is not left once it has begun.
///
/// # Errors
///
/// If the caller is to stop before the call returns. If it was not begun, it never is, and what it holds is dropped here; else the thread drops what comes
/// of it.
///
/// # Panics
///
/// As [`blocking()`](fn@blocking). A panic of a call that nobody waits for any more is told by the panic hook alone.
#[track_caller]
pub fn blocking_cancellable<F, R>(body: F) -> Result<R, Stopped>
where
    F: FnOnce() -> R + Send + 'static,
    R: Send + 'static,
{
    let at = Location::caller();
    rt::blocking_or_stop(body).map_err(|stop| Stopped::new(stop, at))
}

/// Has a call made that may block, and does not wait for it. It is a fiber that makes the call by [`blocking()`](fn@blocking), so the handle is a fiber's:
/// cancelling it does nothing to the call, and dropping it detaches it.
///
/// ```
/// let answer = sinew::blocking::spawn(|| 6 * 7);
/// assert_eq!(answer.join().unwrap(), 42);
/// ```
///
/// # Panics
///
/// As [`fiber::spawn`].
#[track_caller]
pub fn spawn<F, T>(body: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    fiber::spawn(move || blocking(body))
}
