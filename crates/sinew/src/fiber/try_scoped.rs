//! Scopes that may fail.

use std::panic::Location;

use super::scoped::{Scope, open};
use crate::rt::{self, ScopeFailure};

/// [`scope`](super::scope) with a body that may fail: if it returns an error or panics, or one of its fibers panics, the others are
/// cancelled. Then, as always, all of them are waited for.
///
/// The body itself is cancelled too when a fiber panics, or when somebody calls [`Scope::cancel`]: it is not to wait for what will not
/// come. What the fibers return is theirs: an error of one is the scope's when the body returns it.
///
/// ```
/// use sinew::fiber;
///
/// let result = fiber::try_scope(|scope| {
///     // Nobody unparks it: it ends because the scope fails.
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
/// If the body returns an error, that one.
///
/// # Panics
///
/// As [`scope`](super::scope): if the body panics; else, if a fiber that nobody joined did.
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
            // What cancels its fibers counts for the body too.
            let node = scope.node();
            rt::region(|force| force.join(&node), || body(scope))
        },
        Result::is_err,
    )
}
