//! Spawning many fibers at once.
//!
//! # Safety
//!
//! Trusted to demand the bounds that make a body safe to run where the fiber runs, as the other
//! functions that spawn fibers.
#![expect(unsafe_code, reason = "whether a body may go where the fiber goes is up to the bounds here")]

use std::panic::Location;
use std::sync::Arc;

use super::builder::Builder;
use super::error::SpawnError;
use super::handle::JoinHandle;
use crate::launch;
use crate::rt::{self, FiberHost};

/// Spawns a fiber for each body, as [`spawn`](super::spawn) does, and returns their handles in the
/// same order.
///
/// This is faster than spawning them one by one: the fibers are queued together, and the workers to
/// wake for them are determined once. No fiber runs before the iterator has ended. With either
/// [strategy](crate::Strategy) they begin in about the order of the iterator, after other fibers
/// that have not begun.
///
/// ```
/// let squares = sinew::fiber::spawn_batch((1..=4).map(|number| move || number * number));
/// let sum: u32 = squares.into_iter().map(|fiber| fiber.join().unwrap()).sum();
/// assert_eq!(sum, 30);
/// ```
///
/// # Panics
///
/// Panics if the runtime is being shut down, if it reaches its limit of fibers before all are
/// spawned, or if the iterator panics. None of the fibers runs then: their bodies are dropped.
/// [`try_spawn_batch`] returns an error instead.
///
/// # What moves is `Send`
///
/// ```compile_fail,E0277
/// let rc = std::rc::Rc::new(1);
/// sinew::fiber::spawn_batch([move || drop(rc)]);
/// ```
#[track_caller]
pub fn spawn_batch<I, F, T>(bodies: I) -> Vec<JoinHandle<T>>
where
    I: IntoIterator<Item = F>,
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    match try_spawn_batch(bodies) {
        Ok(handles) => handles,
        Err(error) => panic!("{error}"),
    }
}

/// Spawns a fiber for each body, or none at all.
///
/// # Errors
///
/// Returns an error if the runtime is being shut down, or if it reaches its limit of fibers before
/// all are spawned. The error holds the body that was refused. The bodies before it are dropped.
///
/// # Panics
///
/// Panics if the iterator panics. None of the fibers runs then.
#[track_caller]
pub fn try_spawn_batch<I, F, T>(bodies: I) -> Result<Vec<JoinHandle<T>>, SpawnError<F>>
where
    I: IntoIterator<Item = F>,
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let location = Location::caller();
    // Cloned, because the iterator is the caller's code: it may wait, and continue on another
    // worker.
    let host = launch::site().host().clone();
    spawn_batch_in(&host, location, bodies)
}

/// Spawns the fibers in a given host.
pub(crate) fn spawn_batch_in<I, F, T>(
    host: &Arc<FiberHost>,
    location: &'static Location<'static>,
    bodies: I,
) -> Result<Vec<JoinHandle<T>>, SpawnError<F>>
where
    I: IntoIterator<Item = F>,
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let attributes = || Builder::new().attributes(location);
    // SAFETY: bodies and results may be sent, and own what they use.
    let made = unsafe { rt::spawn_batch(host, attributes, bodies.into_iter()) };
    made.map(|handles| handles.into_iter().map(JoinHandle::new).collect()).map_err(SpawnError::new)
}
