//! The one place where panics of a user's code are caught.

use std::any::Any;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// How a user's code came back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    Returned,
    Panicked,
}

/// Calls a user's code. A panic ends here: the panic hook has told about it. What the code leaves behind is its own, so
/// nobody sees it half done.
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

/// Calls a user's code that may fail. A panic counts as failing, and the error says whose it was.
pub(crate) fn catch_result<T>(whose: &str, body: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    let mut outcome = None;
    catch(|| outcome = Some(body()));
    outcome.unwrap_or_else(|| Err(io::Error::other(format!("{whose} panicked"))))
}

/// The payload may panic too when it is dropped; what that panic carries is leaked.
#[cold]
fn drop_payload(payload: Box<dyn Any + Send>) {
    if let Err(another) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        std::mem::forget(another);
    }
}
