//! The handler of SIGSEGV. Knows guards and the message. It runs on the alternate stack, takes no
//! lock and does not allocate.
//!
//! # Safety
//!
//! Trusted with being called by the kernel at any instruction. It reads only the kernel's report,
//! the registry, which is made for that, and the slot of the interrupted stack.
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

/// The bytes below its stack pointer that the interrupted code may use on x86-64. The kernel leaves
/// them alone.
const RED_ZONE: usize = 128;

/// Installs the handler that tells overflows of coroutines' stacks from other faults.
///
/// Further calls have no effect: a handler that other code installs later stays. Call this at the
/// start of `main`:
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
/// The handler writes the stack's [label](crate::PooledStack::set_label), its size and the depth
/// that was touched to standard error, and aborts. It runs on the alternate signal stack of the
/// thread. Threads that C code starts have none: an overflow there ends the process without a
/// message. Threads that std starts have one, as does the main thread, but it may be too small for
/// the message in an unoptimized program. Call [`protect_thread`](super::protect_thread) on each
/// thread that resumes coroutines: it replaces an alternate stack that is missing or too small.
///
/// Other faults go to the handler that was installed before. It runs with the signals blocked that
/// it asked for, and only once if it asked for that. If there was none, the kernel's default
/// applies. There is one difference: a handler that did not ask for the alternate stack runs on it
/// nonetheless, and has only the room there. The same holds for the functions that it calls.
///
/// # Errors
///
/// Returns an error if the kernel refuses the handler.
pub fn install() -> io::Result<()> {
    static DONE: OnceLock<Result<(), i32>> = OnceLock::new();
    let done = DONE.get_or_init(|| install_now().map_err(|error| error.raw_os_error().unwrap_or(0)));
    done.map_err(io::Error::from_raw_os_error)
}

fn install_now() -> io::Result<()> {
    // Stored first, since our handler may run as soon as it is installed.
    let before = exchange(None)?;
    chain::remember(before);
    // SAFETY: all zeros is a valid value of this C struct.
    let mut action: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
    action.sa_sigaction = handle as *const () as usize;
    action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
    let replaced = exchange(Some(&action))?;
    // Another thread may have installed a handler meanwhile.
    if (replaced.sa_sigaction, replaced.sa_flags) != (before.sa_sigaction, before.sa_flags) {
        chain::remember(replaced);
    }
    Ok(())
}

/// Sets the action, or only reads it. Returns the previous one.
fn exchange(new: Option<&libc::sigaction>) -> io::Result<libc::sigaction> {
    let new = new.map_or(ptr::null(), ptr::from_ref);
    let mut before = MaybeUninit::uninit();
    // SAFETY: our handler may run at any time, see the top of this file. The kernel writes the
    // previous action.
    if unsafe { libc::sigaction(libc::SIGSEGV, new, before.as_mut_ptr()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has written it.
    Ok(unsafe { before.assume_init() })
}

/// Called by the kernel.
extern "C" fn handle(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: these are the kernel's own arguments.
    let delivery = unsafe { Delivery::new(signal, info, context) };
    match told(&delivery) {
        Some(overflow) => die(&overflow),
        None => delivery.pass_on(),
    }
}

/// Returns the overflow that caused the signal, if one did.
fn told(delivery: &Delivery) -> Option<Overflow> {
    if delivery.was_sent() {
        return None;
    }
    let stack_pointer = stack_pointer(delivery.context());
    let by_kernel = || (delivery.code() == libc::SI_KERNEL).then(|| no_room(stack_pointer)).flatten();
    overflow(delivery.address(), stack_pointer).or_else(by_kernel)
}

/// Returns an overflow if the fault is in the guard of one of our stacks, and the interrupted code
/// ran on that same stack. A stray access to a guard from elsewhere is not an overflow.
fn overflow(address: usize, stack_pointer: usize) -> Option<Overflow> {
    let area = registry().find(address)?;
    let (index, offset) = area.slot(address);
    let low = address - offset;
    // A large frame may have moved the stack pointer into the guard already, but not below it: code
    // compiled by rustc touches each page before it moves further. Foreign code without such probes
    // dies without a message if its stack pointer is below the guard. Counting that case would
    // blame this stack for a stray access from the top of the neighbor below.
    let runs_here = (low..=low + area.stride).contains(&stack_pointer);
    let is_overflow = offset < area.guard && runs_here;
    is_overflow.then(|| describe(&area, index, address))
}

/// Returns an overflow if the kernel had to deliver a signal on one of our stacks and had no room
/// for its frame. In that case it reports no address.
fn no_room(stack_pointer: usize) -> Option<Overflow> {
    let area = registry().find(stack_pointer)?;
    let (index, offset) = area.slot(stack_pointer);
    // The kernel reports the size of the largest frame, which may be larger than this one.
    let frame = signal_frame() + RED_ZONE;
    let is_overflow = offset < area.guard + frame;
    is_overflow.then(|| describe(&area, index, stack_pointer.saturating_sub(frame)))
}

/// Describes the overflow of a stack that a thread runs on, and that was touched at an address
/// below its limit.
fn describe(area: &Area, index: usize, touched: usize) -> Overflow {
    let (limit, top, label) = match slot(area, index) {
        // SAFETY: this handler interrupted the code that runs on the stack.
        Some(slot) => (slot.limit.addr().get(), slot.top.addr().get(), unsafe { slot.label() }),
        // An area without slots is a single stack.
        None => (area.start + area.guard, area.start + area.length, None),
    };
    Overflow { size: top - limit, depth: top - touched, label, advice: message::advice() }
}

/// Returns the pool's record of a stack that a thread runs on.
fn slot(area: &Area, index: usize) -> Option<&Slot> {
    if area.slots.is_null() {
        return None;
    }
    // SAFETY: a thread runs on a stack of the area, so the stack's slab is alive, and has a slot
    // for each of its stacks.
    Some(unsafe { &*area.slots.wrapping_add(index) })
}

fn die(overflow: &Overflow) -> ! {
    let mut text = Text::new();
    overflow.write(&mut text);
    let bytes = text.as_bytes();
    // SAFETY: `write` may be called in a signal handler. The buffer has the given length.
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

    /// Returns the size and the depth that an overflow reports.
    fn numbers(overflow: Option<Overflow>) -> Option<(usize, usize)> {
        overflow.map(|overflow| (overflow.size, overflow.depth))
    }

    /// Runs a test on a stack of its own mapping, and on neighboring stacks of a pool.
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
