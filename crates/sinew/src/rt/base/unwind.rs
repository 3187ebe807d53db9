//! Panics of users' destructors: which of them propagate, and which end here. Knows no container.
//!
//! A destructor of this crate that drops several user values drops all of them, even if some of
//! their destructors panic, and then propagates the first panic. If a second panic left a
//! destructor while the first one unwinds, it would abort the process. The panic hook has reported
//! each of them.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Calls user code, and discards its panic, which the panic hook has reported.
pub(crate) fn catch(body: impl FnOnce()) {
    let _ = succeeds(body);
}

/// As [`catch`]. Returns false if the code panicked.
#[must_use]
pub(crate) fn succeeds(body: impl FnOnce()) -> bool {
    let result = catch_unwind(AssertUnwindSafe(body));
    let succeeds = result.is_ok();
    result.err().into_iter().for_each(discard);
    succeeds
}

/// Drops the payload of a panic. That may panic too: the payload of such a panic is leaked, since
/// otherwise this might not end.
#[cold]
pub(crate) fn discard(payload: Box<dyn Any + Send>) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        std::mem::forget(payload);
    }
}

/// Drops all values that `next` returns, even if some of their destructors panic. `next` itself
/// must not panic.
///
/// # Panics
///
/// With the first panic of a destructor, after all values are dropped. Does not panic if the caller
/// unwinds already.
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

/// The first panic of several calls of user code. The others are discarded.
#[must_use = "a panic would be lost"]
#[derive(Default)]
pub(crate) struct FirstPanic(Option<Box<dyn Any + Send>>);

impl FirstPanic {
    pub(crate) fn new() -> Self {
        Self(None)
    }

    /// Calls user code.
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

    /// Returns the payload of the panic, if there was one.
    pub(crate) fn into_payload(self) -> Option<Box<dyn Any + Send>> {
        self.0
    }

    /// Resumes the panic, unless the caller unwinds already: a second panic would abort the
    /// process.
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

/// Aborts the process if it is dropped: for frames that other threads rely on, which must not be
/// unwound. The caller forgets it at the end of such a section.
pub(crate) struct AbortOnUnwind;

impl Drop for AbortOnUnwind {
    fn drop(&mut self) {
        std::process::abort();
    }
}
