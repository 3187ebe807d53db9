//! Where panics of a user's destructors end that nobody can be told of.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Calls a user's code. The panic hook has told about a panic; what it carries is leaked, since dropping it may panic too.
pub(crate) fn catch(body: impl FnOnce()) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(body)) {
        std::mem::forget(payload);
    }
}
