//! Panics at the root of a coroutine, and the unwinding of a coroutine that is dropped. Knows no
//! stack and no switch.

use core::any::Any;
use std::io::{self, Write};
use std::panic::{self, AssertUnwindSafe};
use std::thread;

/// The payload of a panic.
pub(crate) type Payload = Box<dyn Any + Send>;

/// The payload of the unwinding that a drop forces.
struct Dropped;

/// Runs the body of a coroutine and catches any unwinding out of it.
///
/// The panic continues in the resumer, as if the resumer had called the body, which is why the body
/// need not be unwind safe here.
#[inline]
pub(crate) fn catch<R>(body: impl FnOnce() -> R) -> Result<R, Payload> {
    panic::catch_unwind(AssertUnwindSafe(body))
}

/// Continues a panic caught by [`catch`] on this stack.
#[cold]
pub(crate) fn go_on(payload: Payload) -> ! {
    panic::resume_unwind(payload)
}

/// Unwinds the stack of a coroutine that is being dropped. Does not call the panic hook.
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

/// Returns whether a payload is that of [`force`].
pub(crate) fn is_forced(payload: &Payload) -> bool {
    payload.is::<Dropped>()
}

/// Returns whether this thread is unwinding.
pub(crate) fn is_unwinding() -> bool {
    thread::panicking()
}

/// Writes to standard error what went wrong in a drop. A panic there would abort the process if
/// another panic is under way, or if the coroutine is in a thread-local.
#[cold]
pub(crate) fn report(message: &str) {
    // If standard error is closed, there is no other place to report that.
    let _ = writeln!(io::stderr(), "sinew: {message}");
}

/// Continues a panic that left a drop. If this thread is unwinding already, the panic cannot
/// continue, and its payload is dropped. If that panics too, the new payload is forgotten.
#[cold]
pub(crate) fn hand_on(payload: Payload) {
    if !is_unwinding() {
        go_on(payload);
    }
    if let Err(another) = catch(|| drop(payload)) {
        core::mem::forget(another);
    }
}

/// Ends the process with a message, where there is no caller to return to.
#[cold]
pub(crate) fn abort(message: &str) -> ! {
    report(message);
    std::process::abort()
}
