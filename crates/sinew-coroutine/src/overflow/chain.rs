//! Passes on faults that are not overflows: to the handler that was installed before, as the kernel
//! would have called it, or to the kernel's default. Knows no stack.
//!
//! # Safety
//!
//! Trusted with calling a function whose address and kind the kernel reported. Runs in a signal
//! handler: it reads only the kernel's report and an action that is never freed.
#![expect(unsafe_code, reason = "another handler is called, and the signal mask changed")]

use core::ffi::c_void;
use core::mem::MaybeUninit;
use core::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The action that was installed before; null for the default.
///
/// # Invariant
///
/// Null, or a pointer to an action that is never freed nor changed.
static BEFORE: AtomicPtr<libc::sigaction> = AtomicPtr::new(ptr::null_mut());

/// The mark on a report while the other handler has it. Any number works that the kernel does not
/// write.
const PASSED_ON: u64 = 0x7369_6e65_7720_6261;

/// A signal, as the kernel delivers it to a handler.
///
/// # Invariant
///
/// The pointers are the arguments of a handler of the signal that has not returned.
#[derive(Clone, Copy)]
pub(super) struct Delivery {
    signal: libc::c_int,
    info: *mut libc::siginfo_t,
    context: *mut c_void,
}

/// Stores the action that was installed before. It is never freed, since a handler may be reading
/// it.
pub(super) fn remember(action: libc::sigaction) {
    BEFORE.store(Box::into_raw(Box::new(action)), Ordering::Release);
}

impl Delivery {
    /// # Safety
    ///
    /// The arguments are those of a handler that has not returned.
    pub(super) unsafe fn new(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut c_void) -> Self {
        Self { signal, info, context }
    }

    /// Returns the code that says why the signal was raised.
    pub(super) fn code(&self) -> libc::c_int {
        // SAFETY: the type's invariant.
        unsafe { (*self.info).si_code }
    }

    /// Returns whether a process or thread sent the signal. If so, no fault caused it.
    pub(super) fn was_sent(&self) -> bool {
        self.code() <= 0
    }

    /// Returns the address that could not be accessed. It has no meaning for a signal that was
    /// sent.
    pub(super) fn address(&self) -> usize {
        // SAFETY: the type's invariant.
        let info = unsafe { &*self.info };
        // SAFETY: the report of a SIGSEGV has an address.
        unsafe { info.si_addr() }.addr()
    }

    /// Returns the state of the interrupted code.
    pub(super) fn context(&self) -> &libc::ucontext_t {
        // SAFETY: the type's invariant.
        unsafe { &*self.context.cast() }
    }

    /// Passes the signal to the handler that was installed before, or to the kernel's default
    /// action if there was none.
    pub(super) fn pass_on(self) {
        let before = BEFORE.load(Ordering::Acquire);
        // SAFETY: the invariant of `BEFORE`.
        let action = unsafe { before.as_ref() };
        match action {
            Some(action) if action.sa_sigaction == libc::SIG_IGN && self.was_sent() => {}
            Some(action) if is_handler(action) && !self.is_passed_on() && may_be_called(action, before) => {
                self.set_mark(PASSED_ON);
                self.call_masked(action);
                self.set_mark(0);
            }
            _ => self.take_default(),
        }
    }

    /// Returns whether the other handler has this report already. A handler that was installed
    /// before ours, and then once more after it, passes back to us what we passed to it, and would
    /// do so forever.
    fn is_passed_on(self) -> bool {
        // SAFETY: the mark is part of the report.
        unsafe { self.mark().read() == PASSED_ON }
    }

    fn set_mark(self, mark: u64) {
        // SAFETY: as in `is_passed_on`; the kernel has no more use for its report.
        unsafe { self.mark().write(mark) };
    }

    /// Returns the last word of the report. The kernel fills 48 bytes and clears the others. So
    /// each delivery begins without a mark, even if a handler left the last delivery by a jump.
    fn mark(self) -> *mut u64 {
        let end = self.info.wrapping_add(1);
        end.cast::<u64>().wrapping_sub(1)
    }

    /// Takes the kernel's default action. The instruction that caused the signal runs again and
    /// faults again. A signal without such an instruction is sent again; it is delivered when this
    /// handler returns.
    fn take_default(self) {
        // SAFETY: all zeros is the default action.
        let action: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
        // SAFETY: the default action runs no code of this process.
        unsafe { libc::sigaction(self.signal, &raw const action, ptr::null_mut()) };
        // The kernel uses its own code, among other cases, for a signal whose frame did not fit on
        // the stack.
        if self.was_sent() || self.code() == libc::SI_KERNEL {
            // SAFETY: may be called in a signal handler.
            unsafe { libc::raise(self.signal) };
        }
    }

    /// Calls a handler with the signals blocked that it asked for.
    fn call_masked(self, action: &libc::sigaction) {
        let mut before = MaybeUninit::uninit();
        // SAFETY: both sets are valid for the call.
        unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &raw const action.sa_mask, before.as_mut_ptr()) };
        // SAFETY: the action has a set of signals.
        let is_masked = unsafe { libc::sigismember(&raw const action.sa_mask, self.signal) } == 1;
        if has_flag(action, libc::SA_NODEFER) && !is_masked {
            self.unblock();
        }
        self.call(action);
        // SAFETY: the first call has written it.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), ptr::null_mut()) };
    }

    /// Unblocks the signal while its handler runs.
    fn unblock(self) {
        let mut set = MaybeUninit::uninit();
        // SAFETY: the call writes an empty set.
        unsafe { libc::sigemptyset(set.as_mut_ptr()) };
        // SAFETY: the set was initialized above.
        unsafe { libc::sigaddset(set.as_mut_ptr(), self.signal) };
        // SAFETY: as above.
        unsafe { libc::pthread_sigmask(libc::SIG_UNBLOCK, set.as_ptr(), ptr::null_mut()) };
    }

    fn call(self, action: &libc::sigaction) {
        type WithInfo = extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut c_void);
        type Plain = extern "C" fn(libc::c_int);
        if has_flag(action, libc::SA_SIGINFO) {
            // SAFETY: the flag says that the address is that of such a function.
            let handler: WithInfo = unsafe { core::mem::transmute(action.sa_sigaction) };
            handler(self.signal, self.info, self.context);
        } else {
            // SAFETY: without the flag it is that of such a function.
            let handler: Plain = unsafe { core::mem::transmute(action.sa_sigaction) };
            handler(self.signal);
        }
    }
}

fn has_flag(action: &libc::sigaction, flag: libc::c_int) -> bool {
    action.sa_flags & flag != 0
}

fn is_handler(action: &libc::sigaction) -> bool {
    !matches!(action.sa_sigaction, libc::SIG_DFL | libc::SIG_IGN)
}

/// Returns whether this call may run the handler. A handler that asked to be called once is called
/// once, and then the default takes its place.
fn may_be_called(action: &libc::sigaction, before: *mut libc::sigaction) -> bool {
    let exchange =
        || BEFORE.compare_exchange(before, ptr::null_mut(), Ordering::AcqRel, Ordering::Acquire).is_ok();
    !has_flag(action, libc::SA_RESETHAND) || exchange()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A call of one of these numbers would fault in the handler. That ends the process as the
    /// default does, but at an address that has nothing to do with the first fault.
    #[test]
    fn the_default_and_ignoring_are_not_called() {
        // SAFETY: all zeros is a valid value of this C struct.
        let mut action: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
        for (address, expected) in [(libc::SIG_DFL, false), (libc::SIG_IGN, false), (0x1000, true)] {
            action.sa_sigaction = address;
            assert_eq!(is_handler(&action), expected, "{address}");
        }
    }

    #[test]
    fn a_mark_is_the_last_word_of_a_report() {
        let mut words = [0_u64; size_of::<libc::siginfo_t>() / size_of::<u64>() + 2];
        let last = words.len() - 3;
        // SAFETY: nothing but the mark is used, which lies within the words.
        let delivery = unsafe { Delivery::new(libc::SIGSEGV, words.as_mut_ptr().cast(), ptr::null_mut()) };
        assert!(!delivery.is_passed_on());
        delivery.set_mark(PASSED_ON);
        assert!(delivery.is_passed_on());
        let marked: Vec<_> = (0..words.len()).filter(|&index| words[index] != 0).collect();
        assert_eq!(marked, [last]);
    }
}
