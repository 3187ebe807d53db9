//! Fibers in steps, which may move between them.
//!
//! # Safety
//!
//! Trusted with the bounds, as the other ways to make fibers.
#![expect(unsafe_code, reason = "whether a body may go where the fiber goes is up to the bounds here")]

use std::ops::ControlFlow;
use std::panic::Location;

use super::builder::Builder;
use super::error::SpawnError;
use super::handle::JoinHandle;
use crate::launch;
use crate::rt::{self, Site, SpawnRefused, Steps};

/// Makes a fiber that calls `step` with `state` again and again, until it breaks with the result.
///
/// The fiber may go to another worker after each step, unlike one made by [`spawn`](super::spawn), which stays where it began: between two
/// steps nothing of it is on a stack, only the state is left, and that is [`Send`]. A step may wait as any fiber does, and stays
/// on its worker meanwhile; its values need not be `Send`. Others that are ready run before the next step.
///
/// [Fiber-locals](crate::fiber_local) last for one step: they are dropped after it, on the worker that ran it.
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
/// If the runtime is shut down and the time for that is over, a fiber between two steps is discarded as one that has not begun.
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
/// And none of them borrows:
///
/// ```compile_fail,E0597
/// # use std::ops::ControlFlow;
/// let text = String::from("borrowed");
/// sinew::fiber::spawn_steps(&text, |text| ControlFlow::Break(text.len()));
/// ```
///
/// # Panics
///
/// As [`spawn`](super::spawn). A step that panics is the last: the panic comes out of the join.
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

/// Makes a fiber as [`spawn_steps`], or gives state and step back.
///
/// # Errors
///
/// As [`try_spawn`](super::try_spawn).
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

/// Makes such a fiber from where the caller is.
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
    // SAFETY: state, step and result may be sent, and own what they use.
    let made = unsafe { rt::spawn(site, attributes, Steps::new(state, step)) };
    made.map(JoinHandle::new).map_err(give_back)
}

fn give_back<S, F>(refused: SpawnRefused<Steps<S, F>>) -> SpawnError<(S, F)> {
    SpawnError::new(SpawnRefused { body: refused.body.into_parts(), reason: refused.reason })
}
