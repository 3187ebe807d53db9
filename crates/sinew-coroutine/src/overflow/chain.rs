//! Faults that are not ours: they go to the handler that was there before, as the kernel would have called it, or to the
//! kernel's default. Knows no stack.
//!
//! # Safety
//!
//! Trusted with calling a function whose address and kind the kernel told us. Runs in a signal handler: what it reads is the
//! kernel's report and an action that is never freed.
#![expect(unsafe_code, reason = "another handler is called, and the signal mask changed")]

use core::ffi::c_void;
use core::mem::MaybeUninit;
use core::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The action that was there before; null for the default.
///
/// # Invariant
///
/// Null, or an action that is never freed nor changed.
static BEFORE: AtomicPtr<libc::sigaction> = AtomicPtr::new(ptr::null_mut());

/// What a report is marked with while it is with the other handler. Any number will do that the kernel does not write.
const PASSED_ON: u64 = 0x7369_6e65_7720_6261;

/// A signal, as the kernel hands it to a handler.
///
/// # Invariant
///
/// The pointers are those that a handler of the signal was called with and has not returned from.
#[derive(Clone, Copy)]
pub(super) struct Delivery {
    signal: libc::c_int,
    info: *mut libc::siginfo_t,
    context: *mut c_void,
}

/// Remembers what was there before. What is remembered is never freed, since a handler may be reading it.
pub(super) fn remember(action: libc::sigaction) {
    BEFORE.store(Box::into_raw(Box::new(action)), Ordering::Release);
}

impl Delivery {
    /// # Safety
    ///
    /// These are the arguments of a handler that has not returned.
    pub(super) unsafe fn new(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut c_void) -> Self {
        Self { signal, info, context }
    }

    /// Why the signal came.
    pub(super) fn code(&self) -> libc::c_int {
        // SAFETY: the type's invariant.
        unsafe { (*self.info).si_code }
    }

    /// Whether somebody sent the signal. If so, no fault caused it.
    pub(super) fn was_sent(&self) -> bool {
        self.code() <= 0
    }

    /// The address that could not be accessed. Without meaning for a signal that was sent.
    pub(super) fn address(&self) -> usize {
        // SAFETY: the type's invariant.
        let info = unsafe { &*self.info };
        // SAFETY: the report of a SIGSEGV has an address.
        unsafe { info.si_addr() }.addr()
    }

    /// What was interrupted.
    pub(super) fn context(&self) -> &libc::ucontext_t {
        // SAFETY: the type's invariant.
        unsafe { &*self.context.cast() }
    }

    /// Has the handler that was there before deal with the signal, or the kernel if there was none.
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

    /// Whether the other handler has this very report already: one that was installed before ours and then once more in
    /// front of it passes on to us what we passed on to it, and would do so for ever.
    fn is_passed_on(self) -> bool {
        // SAFETY: the mark is part of the report.
        unsafe { self.mark().read() == PASSED_ON }
    }

    fn set_mark(self, mark: u64) {
        // SAFETY: as in `is_passed_on`; the kernel has no more use for its report.
        unsafe { self.mark().write(mark) };
    }

    /// The last word of the report. The kernel fills 48 bytes and clears the others, so that each delivery begins without a
    /// mark, even if a handler left the last one by a jump.
    fn mark(self) -> *mut u64 {
        let end = self.info.wrapping_add(1);
        end.cast::<u64>().wrapping_sub(1)
    }

    /// The kernel's default: what caused the signal is run again and faults again. What does not, is sent again; it comes as
    /// soon as this handler returns.
    fn take_default(self) {
        // SAFETY: all zeros is the default action.
        let action: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
        // SAFETY: the default action needs no care.
        unsafe { libc::sigaction(self.signal, &raw const action, ptr::null_mut()) };
        // The kernel's own code is that of a signal for whose frame there was no room, among others.
        if self.was_sent() || self.code() == libc::SI_KERNEL {
            // SAFETY: may be called in a signal handler.
            unsafe { libc::raise(self.signal) };
        }
    }

    /// Calls a handler with the signals blocked that it asked for.
    fn call_masked(self, action: &libc::sigaction) {
        let mut before = MaybeUninit::uninit();
        // SAFETY: both sets are good for the call.
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

    /// Lets the signal come again while it is handled.
    fn unblock(self) {
        let mut set = MaybeUninit::uninit();
        // SAFETY: makes an empty set.
        unsafe { libc::sigemptyset(set.as_mut_ptr()) };
        // SAFETY: the set was just made.
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

/// Whether it is this call's turn: a handler that asked for one call gets one, and the default takes its place.
fn may_be_called(action: &libc::sigaction, before: *mut libc::sigaction) -> bool {
    let exchange =
        || BEFORE.compare_exchange(before, ptr::null_mut(), Ordering::AcqRel, Ordering::Acquire).is_ok();
    !has_flag(action, libc::SA_RESETHAND) || exchange()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// To call one of these numbers faults in the handler, which ends the process as the default
    /// does, but at an address that has nothing to do with the first fault.
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
