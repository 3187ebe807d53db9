//! Calls a function when the process exits. Knows not what it does.
//!
//! # Safety
//!
//! Trusted with a function that the C library calls when the process exits: it is there for as long
//! as the program, and does not unwind into C, since a panic ends the process there.
#![expect(unsafe_code, reason = "tells the C library what to call")]

use std::sync::{Once, OnceLock};

static CALL: OnceLock<fn()> = OnceLock::new();

extern "C" fn call() {
    if let Some(call) = CALL.get() {
        call();
    }
}

/// Has `f` called when the process exits by a return from `main` or by
/// [`exit`](std::process::exit). Only the first call counts.
pub(super) fn at_exit(f: fn()) {
    static REGISTERED: Once = Once::new();
    REGISTERED.call_once(|| {
        let _ = CALL.set(f);
        // SAFETY: this file's promise. If the C library has no memory for it, `f` is not called.
        unsafe { libc::atexit(call) };
    });
}
