//! The handler of SIGSEGV. Knows guards and the message; runs on the alternate stack, takes no lock, allocates nothing.
//!
//! # Safety
//!
//! Trusted with being called by the kernel in the middle of anything. What it reads is the kernel's report, the registry,
//! which is made for it, and the label of the stack that was interrupted.
#![expect(unsafe_code, reason = "a signal handler")]

use core::ffi::c_void;
use core::mem::MaybeUninit;
use core::ptr;
use std::io;
use std::sync::OnceLock;

use super::chain::{self, Delivery};
use super::message::{Overflow, Text};
use crate::stack::registry::{Area, registry};

/// Has this process tell overflows of coroutines' stacks from other faults. Does so once, however often it is called: a
/// handler that somebody puts in its place later stays.
///
/// The handler names the stack's [label](crate::PooledStack::set_label), its size and how deep it went, and aborts. It runs
/// on the alternate signal stack of the thread. Threads that std started have one, which is large enough unless the
/// processor has very many registers for the kernel to save; other threads have none.
/// [`protect_thread`](super::protect_thread) sees to both.
///
/// Other faults go to the handler that was there before, with the signals blocked that it asked for, and once only if it
/// asked for that; without one, to the kernel's default. One thing cannot be as before: a handler that did not ask for the
/// alternate stack runs on it nonetheless, and has what room there is. So does whatever it calls.
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
    // Remembered first, since our handler may run as soon as it is installed.
    let before = exchange(None)?;
    chain::remember(before);
    // SAFETY: all zeros is a valid value of this C struct.
    let mut action: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
    action.sa_sigaction = handle as *const () as usize;
    action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
    let replaced = exchange(Some(&action))?;
    // Another thread may have installed one meanwhile.
    if (replaced.sa_sigaction, replaced.sa_flags) != (before.sa_sigaction, before.sa_flags) {
        chain::remember(replaced);
    }
    Ok(())
}

/// Sets the action, or only asks for it. Returns the one before.
fn exchange(new: Option<&libc::sigaction>) -> io::Result<libc::sigaction> {
    let new = new.map_or(ptr::null(), ptr::from_ref);
    let mut before = MaybeUninit::uninit();
    // SAFETY: our handler may run at any time, see the top of this file; and the kernel writes what was there before.
    if unsafe { libc::sigaction(libc::SIGSEGV, new, before.as_mut_ptr()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has written it.
    Ok(unsafe { before.assume_init() })
}

/// Called by the kernel.
extern "C" fn handle(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel's own arguments.
    let delivery = unsafe { Delivery::new(signal, info, context) };
    match told(&delivery) {
        Some(overflow) => die(&overflow),
        None => delivery.pass_on(),
    }
}

/// What overflowed, if anything of ours did.
fn told(delivery: &Delivery) -> Option<Overflow> {
    if delivery.was_sent() {
        return None;
    }
    overflow(delivery.address(), stack_pointer(delivery.context()))
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

#[cfg(target_arch = "x86_64")]
fn stack_pointer(context: &libc::ucontext_t) -> usize {
    context.uc_mcontext.gregs[libc::REG_RSP as usize] as usize
}

#[cfg(target_arch = "aarch64")]
fn stack_pointer(context: &libc::ucontext_t) -> usize {
    context.uc_mcontext.sp as usize
}
