//! The actions that were installed before ours. They are kept so that a former handler is called
//! too, and so that the former action is restored when no channel receives its signal any more.
//! Knows nothing of channels.
//!
//! # Safety
//!
//! This file calls functions whose address and kind the kernel has reported. The code that runs in
//! a signal handler acquires no lock and allocates nothing: it reads the kernel's report, and an
//! action that is never freed.
#![expect(unsafe_code, reason = "another handler is called")]

use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use super::number::{HIGHEST, Signal};

/// The action before ours for each signal. Null stands for the default action without flags.
///
/// # Invariant
///
/// Each entry is null, or points to an action that is never freed or changed.
static BEFORE: [AtomicPtr<libc::sigaction>; HIGHEST as usize] =
    [const { AtomicPtr::new(ptr::null_mut()) }; HIGHEST as usize];

/// The mark in a report while the former handler has it. Any number that the kernel does not write
/// there is suitable.
const PASSED_ON: u64 = 0x7369_6e65_7720_7369;

/// All actions that were ever kept, so that none is kept twice. They are never freed, because a
/// handler may be reading them.
pub(super) struct KeptActions(Vec<&'static libc::sigaction>);

impl KeptActions {
    pub(super) const fn new() -> Self {
        Self(Vec::new())
    }

    /// Stores the action that was installed before ours.
    pub(super) fn remember(&mut self, signal: Signal, action: &libc::sigaction) {
        let place = match action.sa_sigaction == libc::SIG_DFL && action.sa_flags == 0 {
            true => ptr::null_mut(),
            false => ptr::from_ref(self.keep(action)).cast_mut(),
        };
        // Release: pairs with the acquire load in `pass_on`, which a handler runs, and in `recall`.
        // Without it, they could read an action that is not initialized.
        slot(signal).store(place, Ordering::Release);
    }

    fn keep(&mut self, action: &libc::sigaction) -> &'static libc::sigaction {
        if let Some(known) = self.0.iter().find(|known| is_same(known, action)) {
            return known;
        }
        let kept = &*Box::leak(Box::new(*action));
        self.0.push(kept);
        kept
    }
}

/// Returns the action that was installed before ours.
pub(super) fn recall(signal: Signal) -> libc::sigaction {
    // SAFETY: by the invariant of `BEFORE`, the pointer is null or valid for the rest of the
    // program.
    let action = unsafe { slot(signal).load(Ordering::Acquire).as_ref() };
    action.map_or_else(default_action, |action| *action)
}

pub(super) fn default_action() -> libc::sigaction {
    // SAFETY: `sigaction` is a C structure for which all zeros are valid: the default action.
    unsafe { MaybeUninit::zeroed().assume_init() }
}

/// Adds all signals to a set, except those that report a fault of the current instruction. The
/// kernel kills a process that causes such a fault while the signal is blocked.
pub(super) fn with_all_but_faults(mut set: libc::sigset_t) -> libc::sigset_t {
    let faults = [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGTRAP, libc::SIGSYS];
    for number in (1..=HIGHEST).filter(|number| !faults.contains(number)) {
        // The C library refuses the signals that it reserves.
        // SAFETY: `set` is an initialized set of signals.
        unsafe { libc::sigaddset(&raw mut set, number) };
    }
    set
}

fn slot(signal: Signal) -> &'static AtomicPtr<libc::sigaction> {
    // In bounds by the invariant of `Signal`.
    &BEFORE[(signal.as_raw() - 1) as usize]
}

pub(super) fn is_same(one: &libc::sigaction, other: &libc::sigaction) -> bool {
    // SAFETY: the masks of both actions are initialized sets of signals.
    let has =
        |action: &libc::sigaction, number| unsafe { libc::sigismember(&raw const action.sa_mask, number) };
    one.sa_sigaction == other.sa_sigaction
        && one.sa_flags == other.sa_flags
        && (1..=HIGHEST).all(|number| has(one, number) == has(other, number))
}

/// Calls the handler that was installed before ours, if there was one. `ours` blocks the signals
/// that it asked to be blocked.
///
/// # Safety
///
/// The arguments must be those of a handler call for this signal that has not returned.
pub(super) unsafe fn pass_on(signal: Signal, info: *mut libc::siginfo_t, context: *mut c_void) {
    let before = slot(signal).load(Ordering::Acquire);
    // SAFETY: by the invariant of `BEFORE`, the pointer is null or valid for the rest of the
    // program.
    let Some(action) = (unsafe { before.as_ref() }) else { return };
    if !is_handler(action) {
        return;
    }
    let mark = mark(info);
    // A handler that was installed before ours, and again after it, passes on to us what we pass on
    // to it. The mark ends this recursion.
    // SAFETY: the mark is part of the report, which is valid until the handler returns.
    if unsafe { mark.read() } == PASSED_ON || !may_be_called(signal, action) {
        return;
    }
    // SAFETY: as for the read above. The kernel does not use the report any more.
    unsafe { mark.write(PASSED_ON) };
    call(action, signal.as_raw(), info, context);
    // SAFETY: as for the read above.
    unsafe { mark.write(0) };
}

fn is_handler(action: &libc::sigaction) -> bool {
    action.sa_sigaction != libc::SIG_DFL && action.sa_sigaction != libc::SIG_IGN
}

/// Returns the last word of the report. The kernel fills 48 bytes and clears the rest. So each
/// delivery begins without a mark, even if a handler left the last one by `longjmp`.
fn mark(info: *mut libc::siginfo_t) -> *mut u64 {
    let words = size_of::<libc::siginfo_t>() / size_of::<u64>();
    info.cast::<u64>().wrapping_add(words - 1)
}

/// Returns whether this call may run the handler. A handler with `SA_RESETHAND` runs once, and then
/// the default action replaces it.
fn may_be_called(signal: Signal, action: &'static libc::sigaction) -> bool {
    let before = ptr::from_ref(action).cast_mut();
    let is_one_shot = action.sa_flags & libc::SA_RESETHAND != 0;
    // Relaxed: no other data depends on this exchange.
    let exchange = || {
        slot(signal).compare_exchange(before, ptr::null_mut(), Ordering::Relaxed, Ordering::Relaxed).is_ok()
    };
    !is_one_shot || exchange()
}

fn call(action: &libc::sigaction, number: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    type WithInfo = extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);
    type Plain = extern "C" fn(c_int);
    if action.sa_flags & libc::SA_SIGINFO != 0 {
        // SAFETY: `SA_SIGINFO` says that the address is that of a function of this type.
        let handler: WithInfo = unsafe { std::mem::transmute(action.sa_sigaction) };
        handler(number, info, context);
    } else {
        // SAFETY: without `SA_SIGINFO`, the address is that of a function of this type.
        let handler: Plain = unsafe { std::mem::transmute(action.sa_sigaction) };
        handler(number);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{default_action, is_same, with_all_but_faults};

    #[test]
    fn actions_are_the_same_only_if_all_fields_are() {
        let one = default_action();
        assert!(is_same(&one, &one));
        let mut other = one;
        other.sa_sigaction = libc::SIG_IGN;
        assert!(!is_same(&one, &other));
        let mut other = one;
        other.sa_flags ^= libc::SA_RESTART;
        assert!(!is_same(&one, &other));
        let mut other = one;
        other.sa_mask = with_all_but_faults(other.sa_mask);
        assert!(!is_same(&one, &other) && is_same(&other, &other));
    }
}
