//! Fibers that run in steps, and may move to another worker between two steps.
//!
//! # Safety
//!
//! Trusted to demand the bounds that make a body safe to run where the fiber runs, as the other
//! functions that spawn fibers.
#![expect(unsafe_code, reason = "whether a body may go where the fiber goes is up to the bounds here")]

use std::ops::ControlFlow;
use std::panic::Location;

use super::builder::Builder;
use super::error::SpawnError;
use super::handle::JoinHandle;
use crate::launch;
use crate::rt::{self, Site, SpawnRefused, Steps};

/// Spawns a fiber that calls `step` with `state` repeatedly, until it breaks with the result.
///
/// The fiber may move to another worker after each step, unlike one that [`spawn`](super::spawn)
/// creates: between two steps it has nothing on a stack, only the state, which is [`Send`]. A step
/// may wait as any fiber does, and stays on its worker meanwhile, so the values in it need not be
/// `Send`. After each step, other fibers that are ready run first.
///
/// [Fiber-locals](crate::fiber_local) last for one step: they are dropped at its end, on the worker
/// that ran it.
///
/// ```
/// use std::ops::ControlFlow;
///
/// let sum = sinew::fiber::spawn_steps((1, 0), |(next, sum)| {
///     *sum += *next;
///     *next += 1;
///     if *next > 10 { ControlFlow::Break(*sum) } else { ControlFlow::Continue(()) }
/// });
/// assert_eq!(sum.join().unwrap(), 55);
/// ```
///
/// If the runtime is shut down and its time limit is reached, a fiber between two steps is
/// discarded, as one that has not begun.
///
/// # What moves is `Send`
///
/// The state:
///
/// ```compile_fail,E0277
/// # use std::ops::ControlFlow;
/// sinew::fiber::spawn_steps(std::rc::Rc::new(1), |_| ControlFlow::Break(()));
/// ```
///
/// The step:
///
/// ```compile_fail,E0277
/// # use std::ops::ControlFlow;
/// let rc = std::rc::Rc::new(1);
/// sinew::fiber::spawn_steps((), move |()| ControlFlow::Break(drop(rc.clone())));
/// ```
///
/// The result:
///
/// ```compile_fail,E0277
/// # use std::ops::ControlFlow;
/// sinew::fiber::spawn_steps((), |()| ControlFlow::Break(std::rc::Rc::new(1)));
/// ```
///
/// None of them may borrow:
///
/// ```compile_fail,E0597
/// # use std::ops::ControlFlow;
/// let text = String::from("borrowed");
/// sinew::fiber::spawn_steps(&text, |text| ControlFlow::Break(text.len()));
/// ```
///
/// # Panics
///
/// Panics in the same cases as [`spawn`](super::spawn). If a step panics, the fiber ends, and the
/// join returns the panic.
#[track_caller]
pub fn spawn_steps<S, F, T>(state: S, step: F) -> JoinHandle<T>
where
    S: Send + 'static,
    F: FnMut(&mut S) -> ControlFlow<T> + Send + 'static,
    T: Send + 'static,
{
    match try_spawn_steps(state, step) {
        Ok(handle) => handle,
        Err(error) => panic!("{error}"),
    }
}

/// Spawns a fiber as [`spawn_steps`] does, or returns an error that contains the state and the
/// step.
///
/// # Errors
///
/// Returns the same errors as [`try_spawn`](super::try_spawn).
#[track_caller]
pub fn try_spawn_steps<S, F, T>(state: S, step: F) -> Result<JoinHandle<T>, SpawnError<(S, F)>>
where
    S: Send + 'static,
    F: FnMut(&mut S) -> ControlFlow<T> + Send + 'static,
    T: Send + 'static,
{
    let location = Location::caller();
    spawn_steps_at(launch::site(), location, state, step)
}

/// Spawns a fiber in steps at the given site.
pub(crate) fn spawn_steps_at<S, F, T>(
    site: Site<'_>,
    location: &'static Location<'static>,
    state: S,
    step: F,
) -> Result<JoinHandle<T>, SpawnError<(S, F)>>
where
    S: Send + 'static,
    F: FnMut(&mut S) -> ControlFlow<T> + Send + 'static,
    T: Send + 'static,
{
    let attributes = Builder::new().attributes(location);
    // SAFETY: state, step and result are `Send`, and own what they use.
    let made = unsafe { rt::spawn(site, attributes, Steps::new(state, step)) };
    made.map(JoinHandle::new).map_err(give_back)
}

fn give_back<S, F>(refused: SpawnRefused<Steps<S, F>>) -> SpawnError<(S, F)> {
    SpawnError::new(SpawnRefused { body: refused.body.into_parts(), reason: refused.reason })
}
