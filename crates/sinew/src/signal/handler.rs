//! The handler of signals: notes what came, rings, and has the handler before it do its part. Knows nothing of who waits.
//!
//! It runs in the middle of anything, on any thread, and on the alternate stack of that thread, if it has one. No thread's mask is ever changed.
//!
//! # Safety
//!
//! Trusted with being called by the kernel, and with what was there before being put back. The handler takes no lock and allocates nothing, and
//! leaves `errno` as it was.
#![expect(unsafe_code, reason = "a signal handler")]

use std::ffi::{c_int, c_void};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::ptr;
use std::sync::OnceLock;

use rustix::event::{EventfdFlags, eventfd};
use rustix::io::{read, retry_on_intr, write};

use super::before::{self, KeptActions};
use super::number::{HIGHEST, Signal};
use super::pending::Pending;
use super::set::Set;

static PENDING: Pending = Pending::new();

/// What the handler rings, once there is one: never closed, since handlers may write to it at any time.
///
/// It blocks, for the one who reads. Who writes is never blocked: the counter does not get near its limit of 2⁶⁴.
static BELL: OnceLock<OwnedFd> = OnceLock::new();

/// Our handler, where it is installed. There is one of these, and whoever has it changes actions alone.
pub(super) struct Actions {
    kept: KeptActions,
}

impl Actions {
    pub(super) const fn new() -> Self {
        Self { kept: KeptActions::new() }
    }

    /// Sees to it that there is something to ring.
    ///
    /// # Errors
    ///
    /// If there are no descriptors left.
    pub(super) fn prepare(&mut self) -> io::Result<()> {
        if BELL.get().is_none() {
            let bell = eventfd(0, EventfdFlags::CLOEXEC)?;
            assert!(BELL.set(bell).is_ok(), "one at a time comes here");
        }
        Ok(())
    }

    /// From now on these signals are noted, or none of them.
    ///
    /// # Errors
    ///
    /// If the kernel refuses.
    pub(super) fn install(&mut self, signals: Set) -> io::Result<()> {
        for signal in signals.signals() {
            if let Err(error) = self.install_one(signal) {
                let done = signals.signals().take_while(|other| *other != signal);
                self.restore(done.collect());
                return Err(error);
            }
        }
        Ok(())
    }

    fn install_one(&mut self, signal: Signal) -> io::Result<()> {
        // What came before is none of whoever begins to wait.
        PENDING.forget(Set::of(signal));
        // Remembered first, since our handler may run as soon as it is installed.
        let before = exchange(signal, None)?;
        self.remember(signal, &before);
        let replaced = exchange(signal, Some(&ours(signal, &before)))?;
        // Another thread may have installed one meanwhile.
        if !before::is_same(&replaced, &before) {
            self.remember(signal, &replaced);
        }
        Ok(())
    }

    /// Ours is never before ours.
    fn remember(&mut self, signal: Signal, action: &libc::sigaction) {
        if !is_ours(action) {
            self.kept.remember(signal, action);
        }
    }

    /// What was there before is there again. If somebody has installed another one over ours, that stays.
    pub(super) fn restore(&mut self, signals: Set) {
        signals.signals().for_each(restore_one);
    }
}

fn restore_one(signal: Signal) {
    if !exchange(signal, None).is_ok_and(|action| is_ours(&action)) {
        return;
    }
    let replaced = exchange(signal, Some(&before::recall(signal)));
    // Another thread may have installed one meanwhile.
    if let Ok(other) = replaced
        && !is_ours(&other)
    {
        let put_back = exchange(signal, Some(&other));
        debug_assert!(put_back.is_ok(), "it was there: {put_back:?}");
    }
}

/// Waits until something may have come, and takes it. For one thread.
///
/// # Panics
///
/// If nothing was ever prepared, or the kernel does not let us read.
pub(super) fn wait() -> Set {
    PENDING.take(|| {
        let bell = BELL.get().expect("prepared before anybody waits");
        let heard = retry_on_intr(|| read(bell, &mut [0; size_of::<u64>()]));
        assert!(heard.is_ok(), "a bell can be heard: {heard:?}");
    })
}

/// The action that has our handler called. Calls that a signal interrupts go on, and what the action before asked for about children and blocked
/// signals stays.
///
/// Signals that come together are handled one after the other. Otherwise the kernel puts a frame for each on the alternate stack before the first handler
/// runs: std makes that 8 KiB large, and a frame takes three of them where registers are wide, so that the third signal would end the process. A handler before
/// ours that asked to be interrupted is interrupted.
fn ours(signal: Signal, before: &libc::sigaction) -> libc::sigaction {
    let inherited = libc::SA_NODEFER | libc::SA_NOCLDSTOP | libc::SA_NOCLDWAIT;
    let mut action = before::default_action();
    action.sa_sigaction = handle as *const () as usize;
    action.sa_mask = if before.sa_flags & libc::SA_NODEFER == 0 {
        before::with_all_but_faults(before.sa_mask)
    } else {
        before.sa_mask
    };
    action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART | (before.sa_flags & inherited);
    if signal == Signal::CHILD && before.sa_sigaction == libc::SIG_IGN {
        // Whoever ignores it has the kernel bury children.
        action.sa_flags |= libc::SA_NOCLDWAIT;
    }
    action
}

fn is_ours(action: &libc::sigaction) -> bool {
    action.sa_sigaction == handle as *const () as usize
}

/// Sets the action, or only asks for it. Returns the one before.
fn exchange(signal: Signal, new: Option<&libc::sigaction>) -> io::Result<libc::sigaction> {
    let new = new.map_or(ptr::null(), ptr::from_ref);
    let mut before = MaybeUninit::uninit();
    // SAFETY: our handler may run at any time, see the top of this file, and others were there already; the kernel writes what was there before.
    if unsafe { libc::sigaction(signal.as_raw(), new, before.as_mut_ptr()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has written it.
    Ok(unsafe { before.assume_init() })
}

/// Called by the kernel.
extern "C" fn handle(number: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: every thread has one.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: it is this thread's.
    let was = unsafe { errno.read() };
    if (1..=HIGHEST).contains(&number) {
        let signal = Signal(number);
        PENDING.note(Set::of(signal), ring);
        // SAFETY: the kernel's own arguments.
        unsafe { before::pass_on(signal, info, context) };
    }
    // SAFETY: as above.
    unsafe { errno.write(was) };
}

/// A load and a system call.
fn ring() {
    if let Some(bell) = BELL.get() {
        // It cannot fail: see `BELL`.
        let _rung = write(bell, &1_u64.to_ne_bytes());
    }
}
