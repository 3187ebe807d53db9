//! Scopes whose body may fail.

use std::panic::Location;

use super::scoped::{Scope, open};
use crate::rt::{self, ScopeFailure};

/// Runs `body` with a scope, as [`scope`](super::scope) does, and cancels the scope's fibers if it
/// fails: if the body returns an error or panics, or if one of the fibers panics. It always waits
/// for all of them.
///
/// The body itself is cancelled too when a fiber panics, or when [`Scope::cancel`] is called, so
/// that it does not wait for events that no longer come. An error that a fiber returns cancels
/// nothing, unless the body returns it:
///
/// ```
/// use sinew::fiber;
///
/// let result = fiber::try_scope(|scope| {
///     // No call unparks it: it ends because the scope fails.
///     scope.spawn(fiber::park_cancellable);
///     let first = scope.spawn(|| "twelve".parse::<u32>());
///     let number = first.join().unwrap()?;
///     Ok::<_, std::num::ParseIntError>(number)
/// });
/// assert!(result.is_err());
/// ```
///
/// # Errors
///
/// Returns the error of the body.
///
/// # Panics
///
/// Panics in the same cases as [`scope`](super::scope): with the body's panic if the body panics,
/// and otherwise if a fiber panicked that was not joined.
#[track_caller]
pub fn try_scope<'env, F, T, E>(body: F) -> Result<T, E>
where
    F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> Result<T, E>,
{
    let at = Location::caller();
    open(
        None,
        ScopeFailure::CancelsOthers,
        at,
        |scope| {
            // A cancel of the fibers cancels the body too.
            let node = scope.node();
            rt::region(|force| force.join(&node), || body(scope))
        },
        Result::is_err,
    )
}
