//! Making fibers.
//!
//! # Safety
//!
//! Trusted with the bounds: what may move is `Send`, what does not end with its maker is `'static`.
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

/// Makes a fiber that runs `body`, in the runtime of the calling fiber or in the default one.
///
/// The body may run on any worker, and stays on the one where it first runs.
///
/// ```
/// let fiber = sinew::fiber::spawn(|| 6 * 7);
/// assert_eq!(fiber.join().unwrap(), 42);
/// ```
///
/// # What moves is `Send`
///
/// The body may begin on another thread than the caller's, so what it holds is `Send`:
///
/// ```compile_fail,E0277
/// let rc = std::rc::Rc::new(1);
/// sinew::fiber::spawn(move || assert_eq!(*rc, 1));
/// ```
///
/// The result goes back to whoever joins, so it is `Send` as well:
///
/// ```compile_fail,E0277
/// sinew::fiber::spawn(|| std::rc::Rc::new(1));
/// ```
///
/// What is made and dropped inside need not be:
///
/// ```
/// sinew::fiber::spawn(|| {
///     let rc = std::rc::Rc::new(1);
///     sinew::fiber::yield_now();
///     assert_eq!(*rc, 1);
/// });
/// ```
///
/// The fiber may outlive its maker, so it borrows nothing; [`scope`](super::scope) has fibers that do:
///
/// ```compile_fail,E0373
/// let text = String::from("borrowed");
/// sinew::fiber::spawn(|| text.len());
/// ```
///
/// # Panics
///
/// If the runtime is being shut down or has as many fibers as it may; [`try_spawn`] returns an error instead. std panics
/// if there is no thread to be had. Also if the default runtime is to start and cannot, as every call may that starts it: its
/// variables in the environment make no sense, say.
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

/// Makes a fiber, or gives the body back.
///
/// # Errors
///
/// If the runtime is being shut down or has as many fibers as it may.
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
    // SAFETY: they own what they use.
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
    // SAFETY: body and result may be sent, and the caller's promise; the site is the caller's.
    let made = unsafe { rt::spawn(launch::site(), attributes, body) };
    made.map(JoinHandle::new).map_err(SpawnError::new)
}

/// Makes a fiber for a given host.
#[track_caller]
pub(crate) fn spawn_in<F, T>(host: &Arc<FiberHost>, body: F) -> Result<JoinHandle<T>, SpawnError<F>>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    spawn_at(host, Builder::new().attributes(Location::caller()), body)
}

/// Makes a fiber that is as these say, for a given host.
pub(crate) fn spawn_at<F, T>(
    host: &Arc<FiberHost>,
    attributes: Attributes,
    body: F,
) -> Result<JoinHandle<T>, SpawnError<F>>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    // SAFETY: body and result may be sent, and own what they use; the site is the caller's.
    let made = unsafe { rt::spawn(Site::of(host), attributes, body) };
    made.map(JoinHandle::new).map_err(SpawnError::new)
}

/// Makes a fiber that runs on this worker and no other, so that it need not be `Send`.
///
/// ```
/// sinew::run(|| {
///     let rc = std::rc::Rc::new(1);
///     let shared = rc.clone();
///     assert_eq!(sinew::fiber::spawn_local(move || *shared).join().unwrap(), *rc);
/// });
/// ```
///
/// Nor does its handle go anywhere else, since the result may not:
///
/// ```compile_fail,E0277
/// let local = sinew::fiber::spawn_local(|| 1);
/// sinew::fiber::spawn(move || local.join());
/// ```
///
/// # Panics
///
/// If the caller is no fiber, or as [`spawn`]; [`try_spawn_local`] returns an error instead.
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

/// Makes a fiber that runs on this worker and no other, or gives the body back.
///
/// # Errors
///
/// If the caller is no fiber, or as [`try_spawn`].
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
    // SAFETY: it never leaves this worker, nor does its handle.
    let made = unsafe { rt::spawn(site, attributes, body) };
    made.map(|handle| LocalJoinHandle::new(handle, PhantomData)).map_err(SpawnError::new)
}

/// How many fibers can run at the same time: the number of workers of the calling fiber's runtime, or of the default one.
///
/// # Errors
///
/// Never; the signature is std's.
#[track_caller]
pub fn available_parallelism() -> io::Result<NonZero<usize>> {
    Ok(NonZero::new(launch::engine().workers()).unwrap_or(NonZero::<usize>::MIN))
}
