//! The one place where panics of the user's code are caught.

use std::any::Any;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// How the user's code ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    Returned,
    Panicked,
}

/// Calls the user's code. A panic ends here: the panic hook has reported it. The code's own values
/// may be inconsistent after that, and this crate does not use them.
#[inline]
pub(crate) fn catch(body: impl FnOnce()) -> Ended {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(()) => Ended::Returned,
        Err(payload) => {
            drop_payload(payload);
            Ended::Panicked
        }
    }
}

/// Calls the user's code, which may fail. A panic counts as a failure, and the error names the
/// code.
pub(crate) fn catch_result<T>(whose: &str, body: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    let mut outcome = None;
    catch(|| outcome = Some(body()));
    outcome.unwrap_or_else(|| Err(io::Error::other(format!("{whose} panicked"))))
}

/// Drops a panic's payload. If its destructor panics, the payload of that panic is leaked.
#[cold]
fn drop_payload(payload: Box<dyn Any + Send>) {
    if let Err(another) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        std::mem::forget(another);
    }
}
