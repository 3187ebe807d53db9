//! The handler of SIGSEGV. Knows guards and the message; runs on the alternate stack, takes no lock, allocates nothing.
//!
//! # Safety
//!
//! Trusted with being called by the kernel in the middle of anything. What it reads is the kernel's report, the registry,
//! which is made for it, the label of the stack that was interrupted, and the handler that was there before, which is
//! written once, before this one can run.
#![expect(unsafe_code, reason = "a signal handler")]

use core::ffi::c_void;
use core::mem::MaybeUninit;
use core::ptr;
use std::io;
use std::sync::OnceLock;

use super::message::{Overflow, Text};
use crate::stack::registry::{Area, registry};

/// The handler that was there before.
static BEFORE: OnceLock<libc::sigaction> = OnceLock::new();

/// Has this process tell overflows of coroutines' stacks from other faults. Does so once, however often it is called: a
/// handler that somebody puts in its place later stays.
///
/// The handler names the stack's [label](crate::PooledStack::set_label), its size and how deep it went, and aborts. Other
/// faults go to the handler that was there before, or to none. It works on threads that have an alternate signal stack:
/// those that std started, and those with a [`protect_thread`](super::protect_thread).
///
/// # Errors
///
/// If the kernel refuses the handler.
pub fn install() -> io::Result<()> {
    static DONE: OnceLock<Result<(), i32>> = OnceLock::new();
    let done = DONE.get_or_init(|| install_now().map_err(|error| error.raw_os_error().unwrap_or(0)));
    done.map_err(io::Error::from_raw_os_error)
}

fn install_now() -> io::Result<()> {
    let before = action_now()?;
    BEFORE.get_or_init(|| before);
    // SAFETY: all zeros is a valid value of this C struct.
    let mut action: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
    action.sa_sigaction = handle as *const () as usize;
    action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
    // SAFETY: the handler may run at any time; see the top of this file.
    check(unsafe { libc::sigaction(libc::SIGSEGV, &raw const action, ptr::null_mut()) })
}

fn action_now() -> io::Result<libc::sigaction> {
    let mut action = MaybeUninit::uninit();
    // SAFETY: the kernel writes the present action, and changes none.
    check(unsafe { libc::sigaction(libc::SIGSEGV, ptr::null(), action.as_mut_ptr()) })?;
    // SAFETY: the kernel has written it.
    Ok(unsafe { action.assume_init() })
}

fn check(result: libc::c_int) -> io::Result<()> {
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Called by the kernel.
extern "C" fn handle(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel passes a report of this signal.
    let report = unsafe { &*info };
    // SAFETY: which for SIGSEGV has an address.
    let address = unsafe { report.si_addr() }.addr();
    // SAFETY: the kernel passes the context that it interrupted.
    let stack_pointer = stack_pointer(unsafe { &*context.cast() });
    match overflow(address, stack_pointer) {
        Some(overflow) => die(&overflow),
        None => pass_on(signal, info, context),
    }
}

/// What overflowed, if the fault is in the guard of a stack of ours, and the interrupted code ran on that very stack. A
/// stray access to a guard from elsewhere is no overflow.
fn overflow(address: usize, stack_pointer: usize) -> Option<Overflow> {
    let area = registry().find(address)?;
    let (index, offset) = area.slot(address);
    let low = address - offset;
    let top = low + area.stride;
    // A large frame may have moved the stack pointer below the guard already, by less than a page more than it touched.
    let runs_here = (low.saturating_sub(area.guard)..=top).contains(&stack_pointer);
    let is_overflow = offset < area.guard && runs_here;
    is_overflow.then(|| Overflow { size: area.size, depth: top - address, label: label(&area, index) })
}

fn label(area: &Area, index: usize) -> Option<crate::stack::Label> {
    if area.slots.is_null() {
        return None;
    }
    // SAFETY: somebody runs on a stack of the area, so its slab is alive, with a slot for each of its stacks.
    let slot = unsafe { &*area.slots.wrapping_add(index) };
    // SAFETY: this handler interrupted the code that runs on the stack.
    unsafe { slot.label() }
}

fn die(overflow: &Overflow) -> ! {
    let mut text = Text::new();
    overflow.write(&mut text);
    let bytes = text.as_bytes();
    // SAFETY: `write` may be called in a signal handler; the buffer is as long as is said.
    unsafe { libc::write(libc::STDERR_FILENO, bytes.as_ptr().cast(), bytes.len()) };
    // SAFETY: `abort` may be called in a signal handler.
    unsafe { libc::abort() }
}

/// Has the handler that was there before deal with the fault, or the kernel if there was none.
fn pass_on(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let before = BEFORE.get();
    match before {
        Some(action) if action.sa_sigaction != libc::SIG_DFL && action.sa_sigaction != libc::SIG_IGN => {
            call(action, signal, info, context);
        }
        // Back to the default: the instruction is run again, faults again, and the kernel does what it does.
        _ => {
            // SAFETY: all zeros is the default action.
            let action: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
            // SAFETY: the default action needs no care.
            unsafe { libc::sigaction(signal, &raw const action, ptr::null_mut()) };
        }
    }
}

fn call(action: &libc::sigaction, signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    type WithInfo = extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut c_void);
    type Plain = extern "C" fn(libc::c_int);
    if action.sa_flags & libc::SA_SIGINFO != 0 {
        // SAFETY: the flag says that the address is that of such a function.
        let handler: WithInfo = unsafe { core::mem::transmute(action.sa_sigaction) };
        handler(signal, info, context);
    } else {
        // SAFETY: without the flag it is that of such a function.
        let handler: Plain = unsafe { core::mem::transmute(action.sa_sigaction) };
        handler(signal);
    }
}

#[cfg(target_arch = "x86_64")]
fn stack_pointer(context: &libc::ucontext_t) -> usize {
    context.uc_mcontext.gregs[libc::REG_RSP as usize] as usize
}

#[cfg(target_arch = "aarch64")]
fn stack_pointer(context: &libc::ucontext_t) -> usize {
    context.uc_mcontext.sp as usize
}
