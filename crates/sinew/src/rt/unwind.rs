//! Where panics of a user's destructors end that nobody can be told of, and those that must not happen.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Calls a user's code. The panic hook has told about a panic, and nobody wants what it carries.
pub(crate) fn catch(body: impl FnOnce()) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(body)) {
        discard(payload);
    }
}

/// Drops what a panic carries. That may panic too: what such a panic carries is leaked, or this might not end.
#[cold]
pub(crate) fn discard(payload: Box<dyn Any + Send>) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        std::mem::forget(payload);
    }
}

/// Aborts the process if it is dropped: for frames that others rely on, which must not be unwound. It is to be forgotten.
pub(crate) struct AbortOnUnwind;

impl Drop for AbortOnUnwind {
    fn drop(&mut self) {
        std::process::abort();
    }
}
