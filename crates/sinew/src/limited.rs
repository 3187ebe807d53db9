//! The methods of types that wait with limits, written once.

use std::panic::Location;

use crate::fiber::Stopped;
use crate::rt::GaveUp;

/// Returns the result of a wait that only its event can end.
pub(crate) fn always<T>(result: Result<T, GaveUp>) -> T {
    result.unwrap_or_else(|_| unreachable!("this wait has no limit"))
}

/// Returns the result of a wait that may be stopped, and has no time limit.
///
/// # Errors
///
/// Returns an error, with the location of the caller, if the wait was stopped.
#[track_caller]
pub(crate) fn unless_stopped<T>(result: Result<T, GaveUp>) -> Result<T, Stopped> {
    let at = Location::caller();
    result.map_err(|gave_up| match gave_up {
        GaveUp::Stopped(stop) => Stopped::new(stop, at),
        GaveUp::TimedOut => unreachable!("this wait has no limit of time"),
    })
}

/// Defines four methods that wait for the same event: without a limit, with a time limit, with a
/// deadline, and with cancellation. The first has the docs that are given. All call the method that
/// is named last, with their limit.
macro_rules! limited_waits {
    (
        $(#[$doc:meta])*
        $wait:ident, $timeout:ident, $until:ident, $cancellable:ident by $within:ident
        $(, must_use $must_use:literal)?
    ) => {
        $(#[$doc])*
        ///
        /// # Panics
        ///
        /// Panics if the caller would have to wait inside [`no_suspend`](crate::fiber::no_suspend).
        #[inline]
        pub fn $wait(&self) {
            $crate::limited::always(self.$within($crate::rt::Limit::NEVER));
        }

        #[doc = concat!("[`", stringify!($wait), "`](Self::", stringify!($wait), ") with a time limit. Returns false if")]
        /// the limit is reached first.
        $(#[must_use = $must_use])?
        pub fn $timeout(&self, timeout: std::time::Duration) -> bool {
            self.$within($crate::rt::Limit::lasting(timeout)).is_ok()
        }

        #[doc = concat!("[`", stringify!($wait), "`](Self::", stringify!($wait), ") with a deadline. Returns false if")]
        /// the deadline is reached first.
        $(#[must_use = $must_use])?
        pub fn $until(&self, deadline: std::time::Instant) -> bool {
            self.$within($crate::rt::Limit::until(Some(deadline))).is_ok()
        }

        #[doc = concat!("[`", stringify!($wait), "`](Self::", stringify!($wait), "), but")]
        /// returns early when the caller is [cancelled](crate::fiber#stopping) or its deadline has
        /// passed.
        ///
        /// # Errors
        ///
        /// Returns an error if the caller was cancelled, or its deadline has passed, before the
        /// wait ended. Nothing has changed then.
        #[track_caller]
        pub fn $cancellable(&self) -> Result<(), $crate::fiber::Stopped> {
            $crate::limited::unless_stopped(self.$within($crate::rt::Limit::STOP))
        }
    };
}

pub(crate) use limited_waits;
