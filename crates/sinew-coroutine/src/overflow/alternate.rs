//! The stack that a signal handler runs on when a thread's own is full. Knows no handler.
//!
//! # Safety
//!
//! Trusted with telling the kernel where the alternate stack is, and with never unmapping one that the thread has or may
//! have again: whoever replaced ours may put it back later.
#![expect(unsafe_code, reason = "the kernel is told about raw memory")]

use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ptr;
use std::io;

use crate::stack::registry::registry;
use crate::stack::{MmapStack, Stack};

/// What the handler needs beyond what the kernel puts on the stack, and what a handler that it passes a fault on to may
/// want to print a backtrace with.
const SIZE: usize = 64 * 1024;

/// What our own handler is content with: it formats text, also by code of the stack's owner. Of the
/// 8 KiB that std gives its threads, too little is left for that in a program which is not
/// optimised.
const ENOUGH: usize = 16 * 1024;

/// Gives the calling thread an alternate signal stack, until the result is dropped, unless it has one that is large enough
/// for the overflow handler. Threads that std starts have a small one.
///
/// Several protections of a thread are best dropped in the reverse order of their making, as scopes do it. In another order,
/// or when somebody else has replaced the alternate stack meanwhile and may put it back, a stack is left behind.
///
/// # Errors
///
/// If the system has no memory for the stack; `EPERM` if the thread runs on its alternate stack, which is to say in a signal
/// handler. If a sandbox refuses `sigaltstack`, its error. An overflow is still a fault then, and ends the process, but nothing names it.
///
/// ```
/// # use sinew_coroutine::overflow;
/// overflow::install()?;
/// let protection = overflow::protect_thread()?;
/// // Coroutines that overflow on this thread are named from here on ...
/// drop(protection);
/// // ... to here, unless the thread has an alternate stack from elsewhere.
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn protect_thread() -> io::Result<ThreadProtection> {
    let before = current()?;
    let is_enough = before.ss_flags & libc::SS_DISABLE == 0 && before.ss_size >= signal_frame() + ENOUGH;
    // One of ours goes when its protection does, which need not be the last one.
    if is_enough && registry().find(before.ss_sp.addr()).is_none() {
        return Ok(ThreadProtection { ours: None, thread: PhantomData });
    }
    let stack = MmapStack::new(SIZE + signal_frame())?;
    let new = libc::stack_t { ss_sp: stack.limit().as_ptr().cast(), ss_flags: 0, ss_size: stack.size() };
    set(&new)?;
    Ok(ThreadProtection { ours: Some((stack, before)), thread: PhantomData })
}

/// An alternate signal stack of the thread that made it; see [`protect_thread`].
#[derive(Debug)]
#[must_use = "the protection ends when it is dropped"]
pub struct ThreadProtection {
    /// Our stack, and what was there before.
    ours: Option<(MmapStack, libc::stack_t)>,
    /// It belongs to its thread.
    thread: PhantomData<*mut ()>,
}

impl Drop for ThreadProtection {
    fn drop(&mut self) {
        let Some((stack, before)) = self.ours.take() else { return };
        let is_ours = current().is_ok_and(|now| now.ss_sp == stack.limit().as_ptr().cast());
        // It stays if other code has replaced it and may put it back, if this is a handler that
        // runs on it, and if the system does not say.
        if !is_ours || set(&before).is_err() {
            core::mem::forget(stack);
        }
    }
}

/// What the kernel itself puts on the stack of a handler: more on processors with more registers.
pub(super) fn signal_frame() -> usize {
    // SAFETY: no precondition.
    let size = unsafe { libc::getauxval(libc::AT_MINSIGSTKSZ) };
    usize::try_from(size).unwrap_or(0).max(libc::MINSIGSTKSZ)
}

/// The alternate stack of the calling thread.
///
/// # Errors
///
/// If the system does not say: the kernel always does, a sandbox may not.
fn current() -> io::Result<libc::stack_t> {
    let mut stack = MaybeUninit::uninit();
    // SAFETY: the kernel writes the present stack, and changes none.
    match unsafe { libc::sigaltstack(ptr::null(), stack.as_mut_ptr()) } {
        // SAFETY: the kernel has written it.
        0 => Ok(unsafe { stack.assume_init() }),
        _ => Err(io::Error::last_os_error()),
    }
}

fn set(stack: &libc::stack_t) -> io::Result<()> {
    // SAFETY: memory of ours, which stays until it is replaced, or what was there before us.
    match unsafe { libc::sigaltstack(stack, ptr::null_mut()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
