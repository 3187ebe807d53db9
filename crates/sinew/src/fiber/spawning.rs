//! Spawning fibers.
//!
//! # Safety
//!
//! Trusted with the bounds: what may move to another thread is `Send`, and what may outlive its
//! spawner is `'static`.
#![expect(unsafe_code, reason = "whether a body may go where the fiber goes is up to the bounds here")]

use std::io;
use std::marker::PhantomData;
use std::num::NonZero;
use std::panic::Location;
use std::sync::Arc;

use super::builder::Builder;
use super::error::SpawnError;
use super::handle::JoinHandle;
use super::local_handle::LocalJoinHandle;
use crate::launch;
use crate::rt::{self, Attributes, FiberHost, Moves, Reason, Site, SpawnRefused};

/// Spawns a fiber that runs `body`, in the runtime of the calling fiber or in the default one.
///
/// The body may begin on any worker, and then stays on that worker.
///
/// ```
/// let fiber = sinew::fiber::spawn(|| 6 * 7);
/// assert_eq!(fiber.join().unwrap(), 42);
/// ```
///
/// # What moves is `Send`
///
/// The body may begin on another thread than the caller's, so the values that it holds must be
/// `Send`:
///
/// ```compile_fail,E0277
/// let rc = std::rc::Rc::new(1);
/// sinew::fiber::spawn(move || assert_eq!(*rc, 1));
/// ```
///
/// The result goes to the thread that joins the fiber, so it must be `Send` as well:
///
/// ```compile_fail,E0277
/// sinew::fiber::spawn(|| std::rc::Rc::new(1));
/// ```
///
/// Values that are created and dropped inside the body need not be `Send`:
///
/// ```
/// sinew::fiber::spawn(|| {
///     let rc = std::rc::Rc::new(1);
///     sinew::fiber::yield_now();
///     assert_eq!(*rc, 1);
/// });
/// ```
///
/// The fiber may outlive the code that spawns it, so it borrows nothing. The fibers of a
/// [`scope`](super::scope) may borrow:
///
/// ```compile_fail,E0373
/// let text = String::from("borrowed");
/// sinew::fiber::spawn(|| text.len());
/// ```
///
/// # Panics
///
/// Panics if the runtime is being shut down or has reached its limit of fibers; [`try_spawn`]
/// returns an error instead. std panics if it cannot create a thread. Also panics if the default
/// runtime has to be started and cannot be, for example because a variable in the environment is
/// invalid. Every call that starts it may panic in this case.
#[inline]
#[track_caller]
pub fn spawn<F, T>(body: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    match spawn_with(Builder::new().attributes(Location::caller()), body) {
        Ok(handle) => handle,
        Err(error) => panic!("{error}"),
    }
}

/// Spawns a fiber, or returns an error that contains the body.
///
/// # Errors
///
/// Returns an error if the runtime is being shut down or has reached its limit of fibers.
#[track_caller]
pub fn try_spawn<F, T>(body: F) -> Result<JoinHandle<T>, SpawnError<F>>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    spawn_with(Builder::new().attributes(Location::caller()), body)
}

#[inline]
#[track_caller]
pub(super) fn spawn_with<F, T>(attributes: Attributes, body: F) -> Result<JoinHandle<T>, SpawnError<F>>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    // SAFETY: body and result are `'static`: they own what they use.
    unsafe { spawn_unchecked(attributes, body) }
}

/// # Safety
///
/// What the body and its result borrow lives until the fiber has ended and its result is dropped.
#[inline]
#[track_caller]
pub(super) unsafe fn spawn_unchecked<F, T>(
    attributes: Attributes,
    body: F,
) -> Result<JoinHandle<T>, SpawnError<F>>
where
    F: FnOnce() -> T + Send,
    T: Send,
{
    // SAFETY: body and result are `Send`, and the caller keeps the promise about what they borrow.
    // The site is the caller's.
    let made = unsafe { rt::spawn(launch::site(), attributes, body) };
    made.map(JoinHandle::new).map_err(SpawnError::new)
}

/// Spawns a fiber in a given host.
#[track_caller]
pub(crate) fn spawn_in<F, T>(host: &Arc<FiberHost>, body: F) -> Result<JoinHandle<T>, SpawnError<F>>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    spawn_at(host, Builder::new().attributes(Location::caller()), body)
}

/// Spawns a fiber with these attributes in a given host.
pub(crate) fn spawn_at<F, T>(
    host: &Arc<FiberHost>,
    attributes: Attributes,
    body: F,
) -> Result<JoinHandle<T>, SpawnError<F>>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    // SAFETY: body and result are `Send`, and own what they use. The site is the caller's.
    let made = unsafe { rt::spawn(Site::of(host), attributes, body) };
    made.map(JoinHandle::new).map_err(SpawnError::new)
}

/// Spawns a fiber that runs on this worker only, so that its body and result need not be `Send`.
///
/// ```
/// sinew::run(|| {
///     let rc = std::rc::Rc::new(1);
///     let shared = rc.clone();
///     assert_eq!(sinew::fiber::spawn_local(move || *shared).join().unwrap(), *rc);
/// });
/// ```
///
/// The handle stays on the worker too, because the result may not be sent:
///
/// ```compile_fail,E0277
/// let local = sinew::fiber::spawn_local(|| 1);
/// sinew::fiber::spawn(move || local.join());
/// ```
///
/// # Panics
///
/// Panics if the caller is not a fiber, or in the same cases as [`spawn`]. [`try_spawn_local`]
/// returns an error instead.
#[track_caller]
pub fn spawn_local<F, T>(body: F) -> LocalJoinHandle<T>
where
    F: FnOnce() -> T + 'static,
    T: 'static,
{
    match try_spawn_local(body) {
        Ok(handle) => handle,
        Err(error) => panic!("{error}"),
    }
}

/// Spawns a fiber that runs on this worker only, or returns an error that contains the body.
///
/// # Errors
///
/// Returns an error if the caller is not a fiber, or in the same cases as [`try_spawn`].
#[track_caller]
pub fn try_spawn_local<F, T>(body: F) -> Result<LocalJoinHandle<T>, SpawnError<F>>
where
    F: FnOnce() -> T + 'static,
    T: 'static,
{
    let Some(site) = rt::running().and_then(|_| Site::here()) else {
        return Err(SpawnError::new(SpawnRefused { body, reason: Reason::NoWorker }));
    };
    let attributes = Attributes { moves: Moves::Never, ..Builder::new().attributes(Location::caller()) };
    // SAFETY: neither the fiber nor its handle ever leaves this worker.
    let made = unsafe { rt::spawn(site, attributes, body) };
    made.map(|handle| LocalJoinHandle::new(handle, PhantomData)).map_err(SpawnError::new)
}

/// Returns how many fibers can run at the same time: the number of workers of the calling fiber's
/// runtime, or of the default one.
///
/// # Errors
///
/// Never returns an error; the signature is that of std.
#[track_caller]
pub fn available_parallelism() -> io::Result<NonZero<usize>> {
    Ok(NonZero::new(launch::engine().workers()).unwrap_or(NonZero::<usize>::MIN))
}
