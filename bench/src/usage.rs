//! What this process has used up so far. Knows nothing of what is measured.
//!
//! # Safety
//!
//! Trusted with reading a clock into a structure of its own.
#![expect(unsafe_code, reason = "std has no clock of processor time")]

use std::mem::MaybeUninit;
use std::time::Duration;

/// User and system time of all threads, those that have ended included. A clock, since `getrusage` counts in whole
/// microseconds. What a thread on another processor has done since the last tick, some milliseconds at most, is not in it.
pub(crate) fn cpu_time() -> Duration {
    let mut time = MaybeUninit::<libc::timespec>::uninit();
    // SAFETY: the pointer is to writable memory of the type that the call fills.
    let result = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, time.as_mut_ptr()) };
    assert_eq!(result, 0, "every process has this clock");
    // SAFETY: the call has succeeded, so it has filled the structure.
    let time = unsafe { time.assume_init() };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

#[cfg(test)]
mod tests {
    use super::cpu_time;

    #[test]
    fn processor_time_goes_on() {
        let before = cpu_time();
        while cpu_time() == before {}
    }
}
