//! Panics of a user's destructors: which of them go on, and which end here. Knows no container.
//!
//! A destructor of ours that drops several values of the user's drops all of them, whatever their own
//! destructors do, and lets the first panic out when it is done. A second panic that left a destructor
//! while the first one unwinds would abort the process. The panic hook has reported each of them.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Calls a user's code. The panic hook has told about a panic, and nobody wants what it carries.
pub(crate) fn catch(body: impl FnOnce()) {
    let _ = succeeds(body);
}

/// As [`catch`]. Returns false if it panicked.
#[must_use]
pub(crate) fn succeeds(body: impl FnOnce()) -> bool {
    let result = catch_unwind(AssertUnwindSafe(body));
    let succeeds = result.is_ok();
    result.err().into_iter().for_each(discard);
    succeeds
}

/// Drops what a panic carries. That may panic too: what such a panic carries is leaked, or this might not end.
#[cold]
pub(crate) fn discard(payload: Box<dyn Any + Send>) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        std::mem::forget(payload);
    }
}

/// Drops all values that `next` returns, whatever their destructors do. It must not panic itself.
///
/// # Panics
///
/// With the first panic of a destructor, after all values are dropped. Not if the caller unwinds already.
pub(crate) fn drop_each<T>(mut next: impl FnMut() -> Option<T>) {
    let mut first = FirstPanic::new();
    while let Some(value) = next() {
        // Without a destructor there is nothing to catch.
        if std::mem::needs_drop::<T>() {
            first.catch(|| drop(value));
        }
    }
    first.resume();
}

/// The first panic of several calls of a user's code. The others are discarded.
#[must_use = "a panic would be lost"]
#[derive(Default)]
pub(crate) struct FirstPanic(Option<Box<dyn Any + Send>>);

impl FirstPanic {
    pub(crate) fn new() -> Self {
        Self(None)
    }

    /// Calls a user's code.
    pub(crate) fn catch(&mut self, body: impl FnOnce()) {
        if let Err(payload) = catch_unwind(AssertUnwindSafe(body)) {
            self.note(payload);
        }
    }

    #[cold]
    fn note(&mut self, payload: Box<dyn Any + Send>) {
        match self.0 {
            None => self.0 = Some(payload),
            Some(_) => discard(payload),
        }
    }

    /// The panic, for callers that know what to do with it.
    pub(crate) fn into_payload(self) -> Option<Box<dyn Any + Send>> {
        self.0
    }

    /// Lets the panic go on, unless the caller unwinds already: a second one would abort the process.
    pub(crate) fn resume(self) {
        if let Some(payload) = self.0 {
            resume(payload);
        }
    }
}

#[cold]
fn resume(payload: Box<dyn Any + Send>) {
    if std::thread::panicking() {
        return discard(payload);
    }
    resume_unwind(payload);
}

/// Aborts the process if it is dropped: for frames that others rely on, which must not be unwound. It is to be forgotten.
pub(crate) struct AbortOnUnwind;

impl Drop for AbortOnUnwind {
    fn drop(&mut self) {
        std::process::abort();
    }
}
