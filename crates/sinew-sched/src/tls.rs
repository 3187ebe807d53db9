//! The thread-locals of this crate: where the running task runs, and whether this crate started the
//! thread. Constant, and without destructors. Knows nothing of what they point to.
//!
//! Code on a stack that may move between threads must not keep a thread-local's address from before
//! a suspension. The compiler decides whether it does. So the accessors are not inlined, and what
//! they return passes through an assembly block that the compiler cannot see into.
//!
//! # Safety
//!
//! Trusted with an assembly block that does nothing.
#![expect(unsafe_code, reason = "an opaque barrier")]

use std::cell::Cell;
use std::ptr;

thread_local! {
    static CURRENT: Cell<*const ()> = const { Cell::new(ptr::null()) };
    static IS_UNCAPTURED: Cell<bool> = const { Cell::new(false) };
}

/// Runs `body` with this as the thread's context, and restores the previous one: a worker may
/// itself run a loop that drives a core.
pub(crate) fn enter<T, R>(context: &T, body: impl FnOnce() -> R) -> R {
    struct Restore(*const ());
    impl Drop for Restore {
        fn drop(&mut self) {
            replace(self.0);
        }
    }
    let _restore = Restore(replace(ptr::from_ref(context).cast()));
    body()
}

/// Marks the calling thread: it has inherited no output capture.
pub(crate) fn set_uncaptured() {
    IS_UNCAPTURED.set(true);
}

/// Returns whether the calling thread is [marked](set_uncaptured).
#[inline(never)]
pub(crate) fn is_uncaptured() -> bool {
    IS_UNCAPTURED.get()
}

/// Returns what the thread has [entered](enter), or null. Valid inside that call.
#[inline(never)]
pub(crate) fn current() -> *const () {
    opaque(CURRENT.get())
}

#[inline(never)]
fn replace(context: *const ()) -> *const () {
    opaque(CURRENT.replace(context))
}

#[inline(always)]
fn opaque(mut pointer: *const ()) -> *const () {
    // SAFETY: no instruction; the compiler has to assume that the value changes and that memory is
    // read and written.
    unsafe { core::arch::asm!("/* {0} */", inout(reg) pointer, options(nostack, preserves_flags)) };
    pointer
}
