//! The signal handler. It notes the signal, rings the bell, and calls the handler that was
//! installed before. Knows nothing of channels.
//!
//! It may interrupt any code on any thread, and runs on the thread's alternate stack if there is
//! one. No thread's signal mask is ever changed.
//!
//! # Safety
//!
//! This file installs a function that the kernel calls, and restores former actions. The handler
//! acquires no lock, allocates nothing, and preserves `errno`.
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

/// The eventfd that the handler writes to, after `prepare` has made it. It is never closed, because
/// a handler may write to it at any time.
///
/// Reads block. Writes never do: the counter does not come near its limit of 2⁶⁴.
static BELL: OnceLock<OwnedFd> = OnceLock::new();

/// The right to change actions. There is one value of this type, and its holder has exclusive
/// access.
pub(super) struct Actions {
    kept: KeptActions,
}

impl Actions {
    pub(super) const fn new() -> Self {
        Self { kept: KeptActions::new() }
    }

    /// Ensures that there is a bell.
    ///
    /// # Errors
    ///
    /// Returns an error if the process has no descriptor left.
    pub(super) fn prepare(&mut self) -> io::Result<()> {
        if BELL.get().is_none() {
            let bell = eventfd(0, EventfdFlags::CLOEXEC)?;
            assert!(BELL.set(bell).is_ok(), "one call at a time");
        }
        Ok(())
    }

    /// Installs the handler for all these signals, or for none of them.
    ///
    /// # Errors
    ///
    /// Returns an error if the kernel refuses.
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
        // Discard signals that arrived before this waiter.
        PENDING.forget(Set::of(signal));
        // Stored before, because our handler may run as soon as it is installed.
        let before = exchange(signal, None)?;
        self.remember(signal, &before);
        let replaced = exchange(signal, Some(&ours(signal, &before)))?;
        // Another thread may have installed another action meanwhile.
        if !before::is_same(&replaced, &before) {
            self.remember(signal, &replaced);
        }
        Ok(())
    }

    /// Stores a former action, but never our own.
    fn remember(&mut self, signal: Signal, action: &libc::sigaction) {
        if !is_ours(action) {
            self.kept.remember(signal, action);
        }
    }

    /// Restores the former actions. Another handler that was installed over ours stays.
    pub(super) fn restore(&mut self, signals: Set) {
        signals.signals().for_each(restore_one);
    }
}

fn restore_one(signal: Signal) {
    if !exchange(signal, None).is_ok_and(|action| is_ours(&action)) {
        return;
    }
    let replaced = exchange(signal, Some(&before::recall(signal)));
    // Another thread may have installed another action meanwhile.
    if let Ok(other) = replaced
        && !is_ours(&other)
    {
        let put_back = exchange(signal, Some(&other));
        debug_assert!(put_back.is_ok(), "it was there: {put_back:?}");
    }
}

/// Waits for the bell, and takes the signals that have arrived. Only one thread calls this.
///
/// # Panics
///
/// Panics if `prepare` was never called, or if the eventfd cannot be read.
pub(super) fn wait() -> Set {
    PENDING.take(|| {
        let bell = BELL.get().expect("`prepare` runs before the first wait");
        let heard = retry_on_intr(|| read(bell, &mut [0; size_of::<u64>()]));
        assert!(heard.is_ok(), "the bell cannot be read: {heard:?}");
    })
}

/// Returns the action that installs our handler. Interrupted system calls are restarted. The flags
/// and the mask of the former action are kept as far as they concern child processes and blocked
/// signals.
///
/// Signals that arrive together are handled one after the other. Otherwise the kernel would put a
/// frame for each on the alternate stack before the first handler runs. std makes that stack 8 KiB
/// large, and a frame takes 3 KiB of it on CPUs with wide registers, so that the third signal would
/// end the process. A former handler that allowed interruption (`SA_NODEFER`) can be interrupted.
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
        // The kernel reaps the children of a process that ignores this signal.
        action.sa_flags |= libc::SA_NOCLDWAIT;
    }
    action
}

fn is_ours(action: &libc::sigaction) -> bool {
    action.sa_sigaction == handle as *const () as usize
}

/// Sets the action, or only reads it if `new` is `None`. Returns the former action.
fn exchange(signal: Signal, new: Option<&libc::sigaction>) -> io::Result<libc::sigaction> {
    let new = new.map_or(ptr::null(), ptr::from_ref);
    let mut before = MaybeUninit::uninit();
    // SAFETY: our handler may run at any time, see the top of this file; other actions were
    // installed before. `before` has room for the action that the kernel writes.
    if unsafe { libc::sigaction(signal.as_raw(), new, before.as_mut_ptr()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call has succeeded, so the kernel has written it.
    Ok(unsafe { before.assume_init() })
}

/// The signal handler, called by the kernel.
extern "C" fn handle(number: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: every thread has an `errno`.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: the pointer is to this thread's `errno`.
    let was = unsafe { errno.read() };
    if (1..=HIGHEST).contains(&number) {
        let signal = Signal(number);
        PENDING.note(Set::of(signal), ring);
        // SAFETY: the arguments are the kernel's, and this handler call has not returned.
        unsafe { before::pass_on(signal, info, context) };
    }
    // SAFETY: the pointer is to this thread's `errno`.
    unsafe { errno.write(was) };
}

/// Rings the bell: a load and a system call, both allowed in a signal handler.
fn ring() {
    if let Some(bell) = BELL.get() {
        // This cannot fail, see `BELL`.
        let _rung = write(bell, &1_u64.to_ne_bytes());
    }
}
