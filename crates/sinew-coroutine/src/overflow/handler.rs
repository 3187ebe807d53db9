//! The handler of SIGSEGV. Knows guards and the message; runs on the alternate stack, takes no lock, allocates nothing.
//!
//! # Safety
//!
//! Trusted with being called by the kernel in the middle of anything. What it reads is the kernel's report, the registry,
//! which is made for it, and the slot of the stack that was interrupted.
#![expect(unsafe_code, reason = "a signal handler")]

use core::ffi::c_void;
use core::mem::MaybeUninit;
use core::ptr;
use std::io;
use std::sync::OnceLock;

use super::alternate::signal_frame;
use super::chain::{self, Delivery};
use super::message::{self, Overflow, Text};
use crate::stack::registry::{Area, registry};
use crate::stack::slot::Slot;

/// What the interrupted code may have below its stack pointer on x86-64; the kernel leaves it alone.
const RED_ZONE: usize = 128;

/// Has this process tell overflows of coroutines' stacks from other faults. Does so once, however often it is called: a
/// handler that somebody puts in its place later stays. The start of `main` is the place to call it:
///
/// ```
/// # use sinew_coroutine::overflow;
/// fn main() -> std::io::Result<()> {
///     overflow::install()?;
///     // ...
///     Ok(())
/// }
/// ```
///
/// The handler names the stack's [label](crate::PooledStack::set_label), its size and how deep it
/// went, and aborts. It runs on the alternate signal stack of the thread. Threads that C code
/// starts have none: an overflow there ends the process without a message. Threads that std starts
/// have one, the main thread included, which may be too small for the message in a program that is
/// not optimised. Call [`protect_thread`](super::protect_thread) on each thread that resumes
/// coroutines: it replaces what is missing or too small.
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
    let stack_pointer = stack_pointer(delivery.context());
    let by_kernel = || (delivery.code() == libc::SI_KERNEL).then(|| no_room(stack_pointer)).flatten();
    overflow(delivery.address(), stack_pointer).or_else(by_kernel)
}

/// What overflowed, if the fault is in the guard of a stack of ours, and the interrupted code ran on that very stack. A
/// stray access to a guard from elsewhere is no overflow.
fn overflow(address: usize, stack_pointer: usize) -> Option<Overflow> {
    let area = registry().find(address)?;
    let (index, offset) = area.slot(address);
    let low = address - offset;
    // A large frame may have moved the stack pointer into the guard already, but not below it: compiled by rustc, it touches
    // each page before it goes on. Foreign code that does not dies without a message, if it went so far. To let it count would
    // blame this stack for a stray access from the top of the neighbour below.
    let runs_here = (low..=low + area.stride).contains(&stack_pointer);
    let is_overflow = offset < area.guard && runs_here;
    is_overflow.then(|| describe(&area, index, address))
}

/// What overflowed, if the kernel had a signal to deliver on a stack of ours and no room for its frame: then it gives no
/// address.
fn no_room(stack_pointer: usize) -> Option<Overflow> {
    let area = registry().find(stack_pointer)?;
    let (index, offset) = area.slot(stack_pointer);
    // The kernel tells the largest frame, which may be larger than this one.
    let frame = signal_frame() + RED_ZONE;
    let is_overflow = offset < area.guard + frame;
    is_overflow.then(|| describe(&area, index, stack_pointer.saturating_sub(frame)))
}

/// Puts together what is known of a stack that a thread runs on, and that was touched at an address
/// too low.
fn describe(area: &Area, index: usize, touched: usize) -> Overflow {
    let (limit, top, label) = match slot(area, index) {
        // SAFETY: this handler interrupted the code that runs on the stack.
        Some(slot) => (slot.limit.addr().get(), slot.top.addr().get(), unsafe { slot.label() }),
        // An area without slots is a single stack.
        None => (area.start + area.guard, area.start + area.length, None),
    };
    Overflow { size: top - limit, depth: top - touched, label, advice: message::advice() }
}

/// What the pool knows of a stack that somebody runs on.
fn slot(area: &Area, index: usize) -> Option<&Slot> {
    if area.slots.is_null() {
        return None;
    }
    // SAFETY: somebody runs on a stack of the area, so its slab is alive, with a slot for each of its stacks.
    Some(unsafe { &*area.slots.wrapping_add(index) })
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

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::stack::{MmapStack, Stack, StackPool};

    /// The size and the depth that an overflow tells.
    fn numbers(overflow: Option<Overflow>) -> Option<(usize, usize)> {
        overflow.map(|overflow| (overflow.size, overflow.depth))
    }

    /// Runs a test on a plain stack, and on neighbours of a pool.
    fn with_stacks(test: impl Fn(&dyn Stack)) {
        test(&MmapStack::new(64 * 1024).expect("a stack"));
        let pool = StackPool::new();
        let stacks = [(); 3].map(|()| pool.acquire(64 * 1024).expect("a stack"));
        stacks.iter().for_each(|stack| test(stack));
    }

    #[test]
    fn a_fault_below_the_limit_of_a_stack_is_an_overflow() {
        with_stacks(|stack| {
            let (size, limit) = (stack.size(), stack.limit().addr().get());
            assert_eq!(numbers(overflow(limit, limit)), None);
            assert_eq!(numbers(overflow(limit - 1, limit)), Some((size, size + 1)));
            assert_eq!(numbers(overflow(limit - 8, limit - 8)), Some((size, size + 8)));
        });
        assert_eq!(numbers(overflow(0, 0)), None);
    }

    #[test]
    fn a_signal_without_room_for_its_frame_is_an_overflow() {
        with_stacks(|stack| {
            let (size, limit) = (stack.size(), stack.limit().addr().get());
            let frame = signal_frame() + RED_ZONE;
            assert_eq!(numbers(no_room(limit + frame)), None);
            assert_eq!(numbers(no_room(limit + frame - 1)), Some((size, size + 1)));
            assert_eq!(numbers(no_room(limit)), Some((size, size + frame)));
            assert_eq!(numbers(no_room(limit - 1)), Some((size, size + frame + 1)));
        });
        assert_eq!(numbers(no_room(0)), None);
    }
}
