//! Whether the kernel has a system call, and lets this process use it: found out by using it.
//!
//! # Safety
//!
//! Trusted with the arguments of two system calls, and with the descriptor that one of them makes.
#![expect(unsafe_code, reason = "system calls without a safe wrapper")]

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// What the kernel says to a system call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Works,
    /// The kernel does not know it.
    Missing,
    /// A filter or a setting forbids it.
    Forbidden,
}

/// Waits for events that are there already, with `epoll_pwait2`.
pub(crate) fn epoll_pwait2() -> Answer {
    let Ok(set) = rustix::event::epoll::create(rustix::event::epoll::CreateFlags::CLOEXEC) else {
        return Answer::Forbidden;
    };
    let mut event = [0_u64; 2];
    let at_once = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the set is empty, so nothing is written to the event, which has room for one on
    // either architecture; the time lives until the call has returned, and there is no mask.
    let result = unsafe {
        libc::syscall(
            libc::SYS_epoll_pwait2,
            set.as_raw_fd(),
            event.as_mut_ptr(),
            1,
            &raw const at_once,
            std::ptr::null::<libc::sigset_t>(),
            size_of::<u64>(),
        )
    };
    answer(result)
}

/// Makes a ring of one entry, and closes it.
pub(crate) fn io_uring() -> Answer {
    // The kernel's `struct io_uring_params`, which the C library's headers have not.
    let mut parameters = [0_u32; 30];
    // SAFETY: the kernel writes 120 bytes at most, which is the size of what is passed.
    let result = unsafe { libc::syscall(libc::SYS_io_uring_setup, 1, parameters.as_mut_ptr()) };
    if let Ok(number @ 0..) = RawFd::try_from(result) {
        // SAFETY: the call has just made this descriptor, and no one else owns it.
        drop(unsafe { OwnedFd::from_raw_fd(number) });
    }
    answer(result)
}

fn answer(result: libc::c_long) -> Answer {
    match result {
        0.. => Answer::Works,
        _ if io::Error::last_os_error().raw_os_error() == Some(libc::ENOSYS) => Answer::Missing,
        _ => Answer::Forbidden,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_no_kernel_has_is_missing() {
        // SAFETY: no kernel has a call of this number.
        let result = unsafe { libc::syscall(100_000) };
        assert_eq!(answer(result), Answer::Missing);
    }
}
