//! Panics at the root of a coroutine, and the unwinding of one that is dropped. Knows no stack and no switch.

use core::any::Any;
use std::io::{self, Write};
use std::panic::{self, AssertUnwindSafe};
use std::thread;

/// What a panic carries.
pub(crate) type Payload = Box<dyn Any + Send>;

/// The payload of the unwinding that a drop forces.
struct Dropped;

/// Runs the body of a coroutine and stops whatever unwinds out of it.
///
/// Unwind safety is the business of whoever resumes: the panic goes on there, as if the body had been called.
#[inline]
pub(crate) fn catch<R>(body: impl FnOnce() -> R) -> Result<R, Payload> {
    panic::catch_unwind(AssertUnwindSafe(body))
}

/// Lets a panic caught by [`catch`] go on on this stack.
#[cold]
pub(crate) fn go_on(payload: Payload) -> ! {
    panic::resume_unwind(payload)
}

/// Unwinds the stack of a coroutine that is being dropped. The panic hook is not called.
#[cold]
pub(crate) fn force() -> ! {
    if cfg!(panic = "unwind") {
        panic::resume_unwind(Box::new(Dropped))
    }
    abort(
        "a suspended coroutine was dropped, and it cannot be unwound in a program built with panic=abort: run it to \
         its end, or forget it",
    )
}

/// Whether a payload is that of [`force`].
pub(crate) fn is_forced(payload: &Payload) -> bool {
    payload.is::<Dropped>()
}

/// Whether this thread unwinds now.
pub(crate) fn is_unwinding() -> bool {
    thread::panicking()
}

/// Reports what went wrong in a drop, in words: a panic there would abort as soon as another one is under way, or the
/// coroutine is in a thread-local.
#[cold]
pub(crate) fn report(message: &str) {
    // Nobody is left to tell that standard error is closed.
    let _ = writeln!(io::stderr(), "sinew: {message}");
}

/// Hands on a panic that came out of a drop. While this thread unwinds already there is nobody to take it, and it is
/// dropped; if that panics too, the new payload is forgotten.
#[cold]
pub(crate) fn hand_on(payload: Payload) {
    if !is_unwinding() {
        go_on(payload);
    }
    if let Err(another) = catch(|| drop(payload)) {
        core::mem::forget(another);
    }
}

/// Ends the process with a message, where no caller is left to return to.
#[cold]
pub(crate) fn abort(message: &str) -> ! {
    report(message);
    std::process::abort()
}
