//! The actions that were there before ours: kept, so that a handler among them is called, too, and that each comes back when nobody
//! waits for its signal any more. Knows nothing of who waits.
//!
//! # Safety
//!
//! Trusted with calling functions whose address and kind the kernel told us. What runs in a handler of signals takes no lock and allocates
//! nothing: it reads the kernel's report and an action that is never freed.
#![expect(unsafe_code, reason = "another handler is called")]

use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use super::number::{HIGHEST, Signal};

/// For each signal the action before ours, and null for the default without any flags.
///
/// # Invariant
///
/// Each is null, or an action that is never freed nor changed.
static BEFORE: [AtomicPtr<libc::sigaction>; HIGHEST as usize] =
    [const { AtomicPtr::new(ptr::null_mut()) }; HIGHEST as usize];

/// What a report is marked with while it is with the other handler. Any number will do that the kernel does not write.
const PASSED_ON: u64 = 0x7369_6e65_7720_7369;

/// All actions that were ever kept, so that none is kept twice: they are never freed, since a handler may be reading them.
pub(super) struct KeptActions(Vec<&'static libc::sigaction>);

impl KeptActions {
    pub(super) const fn new() -> Self {
        Self(Vec::new())
    }

    /// Remembers that this was there before ours.
    pub(super) fn remember(&mut self, signal: Signal, action: &libc::sigaction) {
        let place = match action.sa_sigaction == libc::SIG_DFL && action.sa_flags == 0 {
            true => ptr::null_mut(),
            false => ptr::from_ref(self.keep(action)).cast_mut(),
        };
        // Release: pairs with the acquire of whoever reads it in a handler.
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

/// What was there before ours.
pub(super) fn recall(signal: Signal) -> libc::sigaction {
    // SAFETY: the invariant of `BEFORE`.
    let action = unsafe { slot(signal).load(Ordering::Acquire).as_ref() };
    action.map_or_else(default_action, |action| *action)
}

pub(super) fn default_action() -> libc::sigaction {
    // SAFETY: all zeros is the default action.
    unsafe { MaybeUninit::zeroed().assume_init() }
}

/// A set with all signals added, but for those that tell of a fault of the instruction that is executed: whoever blocks one of these, and has it, is killed.
pub(super) fn with_all_but_faults(mut set: libc::sigset_t) -> libc::sigset_t {
    let faults = [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGTRAP, libc::SIGSYS];
    for number in (1..=HIGHEST).filter(|number| !faults.contains(number)) {
        // The C library refuses those that it keeps for itself.
        // SAFETY: it is a set of signals.
        unsafe { libc::sigaddset(&raw mut set, number) };
    }
    set
}

fn slot(signal: Signal) -> &'static AtomicPtr<libc::sigaction> {
    // The invariant of the number.
    &BEFORE[(signal.as_raw() - 1) as usize]
}

pub(super) fn is_same(one: &libc::sigaction, other: &libc::sigaction) -> bool {
    // SAFETY: both actions have a set of signals.
    let has =
        |action: &libc::sigaction, number| unsafe { libc::sigismember(&raw const action.sa_mask, number) };
    one.sa_sigaction == other.sa_sigaction
        && one.sa_flags == other.sa_flags
        && (1..=HIGHEST).all(|number| has(one, number) == has(other, number))
}

/// Calls the handler that was there before ours, if there was one. It asked for signals to be blocked meanwhile: ours asks for the same.
///
/// # Safety
///
/// These are the arguments of a handler of the signal that has not returned.
pub(super) unsafe fn pass_on(signal: Signal, info: *mut libc::siginfo_t, context: *mut c_void) {
    let before = slot(signal).load(Ordering::Acquire);
    // SAFETY: the invariant of `BEFORE`.
    let Some(action) = (unsafe { before.as_ref() }) else { return };
    if !is_handler(action) {
        return;
    }
    let mark = mark(info);
    // One that was installed before ours and then once more in front of it passes on to us what we passed on to it, and would do so for ever.
    // SAFETY: the mark is part of the report.
    if unsafe { mark.read() } == PASSED_ON || !may_be_called(signal, action) {
        return;
    }
    // SAFETY: as above; the kernel has no more use for its report.
    unsafe { mark.write(PASSED_ON) };
    call(action, signal.as_raw(), info, context);
    // SAFETY: as above.
    unsafe { mark.write(0) };
}

fn is_handler(action: &libc::sigaction) -> bool {
    action.sa_sigaction != libc::SIG_DFL && action.sa_sigaction != libc::SIG_IGN
}

/// The last word of the report. The kernel fills 48 bytes and clears the others, so that each delivery begins without a mark, even if a
/// handler left the last one by a jump.
fn mark(info: *mut libc::siginfo_t) -> *mut u64 {
    let words = size_of::<libc::siginfo_t>() / size_of::<u64>();
    info.cast::<u64>().wrapping_add(words - 1)
}

/// Whether it is this call's turn: a handler that asked for one call gets one, and the default takes its place.
fn may_be_called(signal: Signal, action: &'static libc::sigaction) -> bool {
    let before = ptr::from_ref(action).cast_mut();
    let is_one_shot = action.sa_flags & libc::SA_RESETHAND != 0;
    // Relaxed: nothing is read because of it.
    let exchange = || {
        slot(signal).compare_exchange(before, ptr::null_mut(), Ordering::Relaxed, Ordering::Relaxed).is_ok()
    };
    !is_one_shot || exchange()
}

fn call(action: &libc::sigaction, number: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    type WithInfo = extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);
    type Plain = extern "C" fn(c_int);
    if action.sa_flags & libc::SA_SIGINFO != 0 {
        // SAFETY: the flag says that the address is that of such a function.
        let handler: WithInfo = unsafe { std::mem::transmute(action.sa_sigaction) };
        handler(number, info, context);
    } else {
        // SAFETY: without the flag it is that of such a function.
        let handler: Plain = unsafe { std::mem::transmute(action.sa_sigaction) };
        handler(number);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{default_action, is_same, with_all_but_faults};

    #[test]
    fn actions_are_the_same_if_all_of_them_is() {
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
