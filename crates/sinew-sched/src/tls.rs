//! The thread-locals of this crate: where the running task runs, and whether this crate started the
//! thread. Constant, and without destructors.
//!
//! Code on a stack that may move between threads must not keep a thread-local's address from before a suspension. Whether
//! it does is up to the compiler, so the accessors are not inlined, and what they return passes through an assembly block
//! that the compiler cannot see into.
//!
//! # Safety
//!
//! Trusted with the pointer, which is valid while the frame that set it is on its thread's stack, and reset before.
#![expect(unsafe_code, reason = "a pointer to a frame of the same thread, and an opaque barrier")]

use std::cell::Cell;
use std::ptr;

use crate::context::Context;

thread_local! {
    static CURRENT: Cell<*const ()> = const { Cell::new(ptr::null()) };
    static IS_UNCAPTURED: Cell<bool> = const { Cell::new(false) };
}

/// Runs `body` with this context as the thread's, and restores the one before: a loop that drives a core may itself be run
/// by a worker.
pub(crate) fn enter<R>(context: &Context<'_>, body: impl FnOnce() -> R) -> R {
    struct Restore(*const ());
    impl Drop for Restore {
        fn drop(&mut self) {
            replace(self.0);
        }
    }
    let _restore = Restore(replace(ptr::from_ref(context).cast()));
    body()
}

/// Calls `look` with the context of the running task, if the thread is running one.
#[inline]
pub(crate) fn with<R>(look: impl FnOnce(Option<&Context<'_>>) -> R) -> R {
    let current = current().cast::<Context<'_>>();
    // SAFETY: `enter` set it from a reference that outlives its call, and resets it at the end. `look` runs inside that
    // call, on the same thread. It may come to call a driver or discard a task, which is a user's code, but uses the
    // context only before that.
    look(unsafe { current.as_ref() })
}

/// Marks the calling thread as one that has inherited no output capture.
pub(crate) fn set_uncaptured() {
    IS_UNCAPTURED.set(true);
}

/// Returns whether the calling thread is [marked](set_uncaptured).
#[inline(never)]
pub(crate) fn is_uncaptured() -> bool {
    IS_UNCAPTURED.get()
}

#[inline(never)]
fn current() -> *const () {
    opaque(CURRENT.get())
}

#[inline(never)]
fn replace(context: *const ()) -> *const () {
    opaque(CURRENT.replace(context))
}

#[inline(always)]
fn opaque(mut pointer: *const ()) -> *const () {
    // SAFETY: no instruction; the compiler has to assume that the value changes and that memory is read and written.
    unsafe { core::arch::asm!("/* {0} */", inout(reg) pointer, options(nostack, preserves_flags)) };
    pointer
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

    use super::*;
    use crate::core::Core;
    use crate::driver::FutexDriver;

    #[test]
    fn a_context_is_the_threads_until_its_body_ends() {
        let cores = [(); 2].map(|()| Core::new(Box::new(FutexDriver::default())));
        let [outer, inner] = [0, 1].map(|core| Context::new(&cores[core], None));
        let is_in =
            |core: &Core| with(|context| context.is_some_and(|context| ptr::eq(context.core(), core)));
        enter(&outer, || {
            assert!(is_in(outer.core()));
            enter(&inner, || assert!(is_in(inner.core())));
            assert!(is_in(outer.core()));
            let panics = || enter(&inner, || -> () { resume_unwind(Box::new(())) });
            assert!(catch_unwind(AssertUnwindSafe(panics)).is_err());
            assert!(is_in(outer.core()));
        });
        assert!(with(|context| context.is_none()));
    }
}
