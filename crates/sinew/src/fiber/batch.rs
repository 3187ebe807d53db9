//! Making many fibers at once.
//!
//! # Safety
//!
//! Trusted with the bounds, as the other ways to make fibers.
#![expect(unsafe_code, reason = "whether a body may go where the fiber goes is up to the bounds here")]

use std::panic::Location;
use std::sync::Arc;

use super::builder::Builder;
use super::error::SpawnError;
use super::handle::JoinHandle;
use crate::launch;
use crate::rt::{self, FiberHost};

/// Makes a fiber of each body, as [`spawn`](super::spawn) does, and returns their handles in the same order.
///
/// It is faster than one after the other: they are handed over together, and whom to wake for them is worked out once. None of
/// them runs before the iterator has come to its end. With either [strategy](crate::Strategy) they begin in about the order of the
/// iterator, behind other fibers that have not begun.
///
/// ```
/// let squares = sinew::fiber::spawn_batch((1..=4).map(|number| move || number * number));
/// let sum: u32 = squares.into_iter().map(|fiber| fiber.join().unwrap()).sum();
/// assert_eq!(sum, 30);
/// ```
///
/// # Panics
///
/// If the runtime is being shut down, or has as many fibers as it may before all are made; or if the iterator does. None of them
/// runs then: their bodies are dropped. [`try_spawn_batch`] returns an error instead.
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

/// Makes a fiber of each body, or none.
///
/// # Errors
///
/// If the runtime is being shut down, or has as many fibers as it may before all are made. The body that there was no room for is in
/// the error; those before it are dropped.
///
/// # Panics
///
/// If the iterator does; none of the fibers runs then.
#[track_caller]
pub fn try_spawn_batch<I, F, T>(bodies: I) -> Result<Vec<JoinHandle<T>>, SpawnError<F>>
where
    I: IntoIterator<Item = F>,
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let location = Location::caller();
    // Cloned: the iterator is the caller's code, and may wait, and come back on another worker.
    let host = launch::site().host().clone();
    spawn_batch_in(&host, location, bodies)
}

/// Makes fibers of a given host.
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
