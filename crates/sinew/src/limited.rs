//! Waits with limits, as types have them: written once.

use std::panic::Location;

use crate::fiber::Stopped;
use crate::rt::GaveUp;

/// The result of a wait that nothing ends but what it waits for.
pub(crate) fn always<T>(result: Result<T, GaveUp>) -> T {
    result.unwrap_or_else(|_| unreachable!("this wait has no limit"))
}

/// The result of a wait that may be stopped, and has no limit of time.
///
/// # Errors
///
/// If it was stopped, with the place of the caller.
#[track_caller]
pub(crate) fn unless_stopped<T>(result: Result<T, GaveUp>) -> Result<T, Stopped> {
    let at = Location::caller();
    result.map_err(|gave_up| match gave_up {
        GaveUp::Stopped(stop) => Stopped::new(stop, at),
        GaveUp::TimedOut => unreachable!("this wait has no limit of time"),
    })
}

/// Four methods that wait for the same: without a limit, for some time, until a moment, and where
/// cancellation counts. The first has the docs that are given; all call the method that is named
/// last with their limit.
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
        /// If the caller would have to wait inside [`no_suspend`](crate::fiber::no_suspend).
        #[inline]
        pub fn $wait(&self) {
            $crate::limited::always(self.$within($crate::rt::Limit::NEVER));
        }

        #[doc = concat!("[`", stringify!($wait), "`](Self::", stringify!($wait), ") with a time limit. Returns false if")]
        /// that was reached before.
        $(#[must_use = $must_use])?
        pub fn $timeout(&self, timeout: std::time::Duration) -> bool {
            self.$within($crate::rt::Limit::lasting(timeout)).is_ok()
        }

        #[doc = concat!("[`", stringify!($wait), "`](Self::", stringify!($wait), ") with a deadline. Returns false if")]
        /// that was reached before.
        $(#[must_use = $must_use])?
        pub fn $until(&self, deadline: std::time::Instant) -> bool {
            self.$within($crate::rt::Limit::until(Some(deadline))).is_ok()
        }

        #[doc = concat!("[`", stringify!($wait), "`](Self::", stringify!($wait), ") that")]
        /// [cancellation and deadlines](crate::fiber#stopping) end.
        ///
        /// # Errors
        ///
        /// If the caller is to stop before. Nothing has changed then.
        #[track_caller]
        pub fn $cancellable(&self) -> Result<(), $crate::fiber::Stopped> {
            $crate::limited::unless_stopped(self.$within($crate::rt::Limit::STOP))
        }
    };
}

pub(crate) use limited_waits;
