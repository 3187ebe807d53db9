//! Finds the local value of the caller, which is a fiber or a thread.
//!
//! # Safety
//!
//! Trusted with the locals of the caller: those of the running fiber, or of the thread.
#![expect(unsafe_code, reason = "the running fiber is a pointer")]

use super::super::{suspend, tls};
use super::key::LocalsKey;
use super::slot::{Frame, Gone, Used};

/// Returns the caller's value of a key. If there is none, `init` makes it.
///
/// # Panics
///
/// If `init` panics, or uses the same key.
#[inline]
pub(crate) fn get<T: 'static>(key: &LocalsKey<T>, init: impl FnOnce() -> T) -> Result<Used<T>, Gone> {
    match find_within(key) {
        Some(used) => Ok(used),
        None => get_slow(key, init),
    }
}

/// Returns the value of the running fiber, if it has one.
#[cfg_attr(
    all(not(feature = "tracing"), feature = "blocking", feature = "fs", feature = "net", feature = "select"),
    expect(dead_code, reason = "what follows fibers looks for their values")
)]
pub(crate) fn find<T: 'static>(key: &LocalsKey<T>) -> Option<Used<T>> {
    let (_, fiber) = suspend::running()?;
    // SAFETY: the fiber runs, so its control block is alive, and the caller may touch its locals.
    unsafe { fiber.as_ref() }.locals.existing(key)
}

/// Returns the value of the running fiber, if it has one and the caller is on the fiber's stack.
#[inline]
fn find_within<T: 'static>(key: &LocalsKey<T>) -> Option<Used<T>> {
    let (_, fiber) = suspend::running()?;
    // SAFETY: the fiber runs, so its control block is alive, and the caller may touch its locals.
    let this = unsafe { fiber.as_ref() };
    if this.is_on_its_stack() { this.locals.ready(key) } else { None }
}

#[inline(never)]
fn get_slow<T: 'static>(key: &LocalsKey<T>, init: impl FnOnce() -> T) -> Result<Used<T>, Gone> {
    let (found, frame) = match suspend::running() {
        Some((_, fiber)) => {
            // SAFETY: as above.
            let this = unsafe { fiber.as_ref() };
            let frame = if this.is_on_its_stack() { Frame::Within } else { Frame::Anywhere };
            (this.locals.slot(key, || true), frame)
        }
        // SAFETY: the locals live as long as the thread, and are used by this thread only.
        None => (unsafe { &*tls::thread_locals() }.slot(key, tls::ends_locals), Frame::Anywhere),
    };
    found?.used_or_init(frame, init)
}
