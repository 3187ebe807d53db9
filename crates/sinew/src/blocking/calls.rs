//! Calls that another thread runs. Knows nothing of what is called.

use std::panic::Location;

use crate::fiber::{self, JoinHandle, Stopped};
use crate::rt;

/// Runs a call that may block on another thread while the calling fiber waits. Returns its result.
/// The worker runs other fibers meanwhile.
///
/// The call may borrow from the caller:
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
/// What the call uses and returns must be `Send`:
///
/// ```compile_fail,E0277
/// let rc = std::rc::Rc::new(1);
/// sinew::blocking(|| assert_eq!(*rc, 1));
/// ```
///
/// The wait observes neither cancellation nor deadlines; [`blocking_cancellable`] does. A plain
/// thread, and therefore a nested call, runs `body` itself. The [module](mod@crate::blocking)
/// describes the threads and the environment of a call.
///
/// # Panics
///
/// Resumes a panic of `body` in the caller; the panic hook has run once, on the other thread. Also
/// panics if the caller is a fiber inside [`no_suspend`](crate::fiber::no_suspend).
#[inline]
pub fn blocking<F, R>(body: F) -> R
where
    F: FnOnce() -> R + Send,
    R: Send,
{
    rt::blocking(body)
}

/// Runs a call as [`blocking()`](fn@blocking) does, and observes [cancellation and
/// deadlines](crate::fiber#stopping). A call cannot be interrupted, so it may continue after this
/// function has returned. Therefore it may not borrow.
///
/// ```
/// use sinew::{blocking, fiber};
/// use std::sync::mpsc;
///
/// let (release, until_released) = mpsc::channel::<()>();
/// let call = move || until_released.recv().is_err();
/// let fiber = fiber::spawn(|| blocking::blocking_cancellable(call));
/// fiber.cancel();
/// assert!(fiber.join().unwrap().unwrap_err().is_cancelled());
/// // The call returns only now, if it has begun.
/// drop(release);
/// ```
///
/// A plain thread runs the call itself, and does not leave it once it has begun.
///
/// # Errors
///
/// Returns an error if the caller is stopped before the call returns. If the call has not begun, it
/// never runs, and `body` is dropped here. Otherwise the thread drops its result.
///
/// # Panics
///
/// As [`blocking()`](fn@blocking). If the call panics after the caller has stopped waiting, only
/// the panic hook reports it.
#[track_caller]
pub fn blocking_cancellable<F, R>(body: F) -> Result<R, Stopped>
where
    F: FnOnce() -> R + Send + 'static,
    R: Send + 'static,
{
    let at = Location::caller();
    rt::blocking_or_stop(body).map_err(|stop| Stopped::new(stop, at))
}

/// Spawns a call that may block, and does not wait for it. A new fiber makes the call by
/// [`blocking()`](fn@blocking), so the handle is a fiber's: cancelling it has no effect on the
/// call, and dropping it detaches the fiber.
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
