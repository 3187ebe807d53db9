//! The stack that a signal handler runs on when a thread's own stack is full. Knows no handler.
//!
//! # Safety
//!
//! Trusted with telling the kernel where the alternate stack is, and with never unmapping a stack
//! that the thread uses or may use again: code that replaced ours may put it back later.
#![expect(unsafe_code, reason = "the kernel is told about raw memory")]

use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ptr;
use std::io;

use crate::stack::registry::registry;
use crate::stack::{MmapStack, Stack};

/// The room that the handler needs, beyond what the kernel puts on the stack. A handler that a
/// fault is passed on to may want to print a backtrace on it.
const SIZE: usize = 64 * 1024;

/// The least room that our own handler needs: it formats text, also by code of the stack's owner.
/// The 8 KiB that std gives its threads leave too little for that in an unoptimized program.
const ENOUGH: usize = 16 * 1024;

/// Gives the calling thread an alternate signal stack until the result is dropped.
///
/// Does nothing if the thread has an alternate stack that is large enough for the overflow handler.
/// Threads that std starts have a small one.
///
/// Drop several protections of one thread in the reverse order of their creation, as scopes do. If
/// they are dropped in another order, or if other code has replaced the alternate stack meanwhile
/// and may put it back, a stack is leaked.
///
/// # Errors
///
/// Returns an error if the system has no memory for the stack. Returns `EPERM` if the thread runs
/// on its alternate stack, that is, in a signal handler. If a sandbox refuses `sigaltstack`,
/// returns its error. After an error, an overflow still faults and ends the process, but without a
/// message.
///
/// ```
/// # use sinew_coroutine::overflow;
/// overflow::install()?;
/// let protection = overflow::protect_thread()?;
/// // Coroutines that overflow on this thread are named from here on ...
/// drop(protection);
/// // ... to here, unless the thread had an alternate stack before.
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn protect_thread() -> io::Result<ThreadProtection> {
    let before = current()?;
    let is_enough = before.ss_flags & libc::SS_DISABLE == 0 && before.ss_size >= signal_frame() + ENOUGH;
    // An alternate stack of ours is unmapped with its protection, which may be dropped before this
    // one.
    if is_enough && registry().find(before.ss_sp.addr()).is_none() {
        return Ok(ThreadProtection { ours: None, thread: PhantomData });
    }
    let stack = MmapStack::new(SIZE + signal_frame())?;
    let new = libc::stack_t { ss_sp: stack.limit().as_ptr().cast(), ss_flags: 0, ss_size: stack.size() };
    set(&new)?;
    Ok(ThreadProtection { ours: Some((stack, before)), thread: PhantomData })
}

/// A guard that keeps the alternate signal stack of its thread; see [`protect_thread`].
#[derive(Debug)]
#[must_use = "the protection ends when it is dropped"]
pub struct ThreadProtection {
    /// Our stack, and the alternate stack that the thread had before.
    ours: Option<(MmapStack, libc::stack_t)>,
    /// An alternate stack belongs to its thread, so this is not `Send`.
    thread: PhantomData<*mut ()>,
}

impl Drop for ThreadProtection {
    fn drop(&mut self) {
        let Some((stack, before)) = self.ours.take() else { return };
        let is_ours = current().is_ok_and(|now| now.ss_sp == stack.limit().as_ptr().cast());
        // The stack stays mapped if other code has replaced it and may put it back, if this is a
        // handler that runs on it, and if the system does not tell.
        if !is_ours || set(&before).is_err() {
            core::mem::forget(stack);
        }
    }
}

/// Returns how many bytes the kernel puts on the stack of a handler: more on processors with more
/// registers.
pub(super) fn signal_frame() -> usize {
    // SAFETY: no precondition.
    let size = unsafe { libc::getauxval(libc::AT_MINSIGSTKSZ) };
    usize::try_from(size).unwrap_or(0).max(libc::MINSIGSTKSZ)
}

/// Returns the alternate stack of the calling thread.
///
/// # Errors
///
/// Returns an error if the system does not tell. The kernel always does; a sandbox may refuse.
fn current() -> io::Result<libc::stack_t> {
    let mut stack = MaybeUninit::uninit();
    // SAFETY: the kernel writes the present alternate stack, and changes nothing.
    match unsafe { libc::sigaltstack(ptr::null(), stack.as_mut_ptr()) } {
        // SAFETY: the kernel has written it.
        0 => Ok(unsafe { stack.assume_init() }),
        _ => Err(io::Error::last_os_error()),
    }
}

fn set(stack: &libc::stack_t) -> io::Result<()> {
    // SAFETY: the stack is memory of ours that stays mapped until it is replaced, or the alternate
    // stack that the thread had before.
    match unsafe { libc::sigaltstack(stack, ptr::null_mut()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
