//! Calls a function when the process exits. Knows nothing of the function.
//!
//! # Safety
//!
//! This file registers a function that the C library calls when the process exits. The function is
//! valid for the whole run of the program. It does not unwind into C: a panic in an `extern "C"`
//! function aborts the process.
#![expect(unsafe_code, reason = "tells the C library what to call")]

use std::sync::{Once, OnceLock};

static CALL: OnceLock<fn()> = OnceLock::new();

extern "C" fn call() {
    if let Some(call) = CALL.get() {
        call();
    }
}

/// Registers `f` to be called when the process exits by a return from `main` or by
/// [`exit`](std::process::exit). Only the first call has an effect.
pub(super) fn at_exit(f: fn()) {
    static REGISTERED: Once = Once::new();
    REGISTERED.call_once(|| {
        let _ = CALL.set(f);
        // SAFETY: `call` is valid for the whole run and does not unwind, see the top of this file.
        // If the C library has no memory for it, `f` is not called.
        unsafe { libc::atexit(call) };
    });
}
