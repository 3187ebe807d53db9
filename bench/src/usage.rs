//! What this process has used up so far: processor time, how often its threads went on and off processors, and how often
//! they wrote something; and the memory that it holds now.
//! Knows nothing of what is measured.
//!
//! # Safety
//!
//! Trusted with reading a clock into a structure of its own.
#![expect(unsafe_code, reason = "std has no clock of processor time")]

use std::fs;
use std::mem::MaybeUninit;
use std::path::Path;
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

/// How often threads went off a processor, by themselves or not, and so came back to one. The main thread is left out:
/// it is the one that waits and asks.
pub(crate) fn context_switches() -> u64 {
    let main = std::process::id().to_string();
    let threads = fs::read_dir("/proc/self/task").expect("the kernel's list of threads").flatten();
    let others = threads.map(|thread| thread.path()).filter(|path| !path.ends_with(&main));
    others.map(|path| switches_of(&path)).sum()
}

/// Those of one thread; none if it has ended meanwhile.
fn switches_of(thread: &Path) -> u64 {
    let status = fs::read_to_string(thread.join("status")).unwrap_or_default();
    let lines = status.lines().filter(|line| line.contains("voluntary_ctxt_switches:"));
    lines.filter_map(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok()).sum()
}

/// How often the process has called the system to write something.
pub(crate) fn writes() -> u64 {
    let account = fs::read_to_string("/proc/self/io").expect("the kernel's account");
    let number = account.lines().find_map(|line| line.strip_prefix("syscw:")).expect("a line of the account");
    number.trim().parse().expect("a number")
}

/// Resident memory and page tables, in bytes.
pub(crate) fn memory() -> f64 {
    let status = fs::read_to_string("/proc/self/status").expect("the kernel's account");
    let field = |name: &str| -> f64 {
        let line = status.lines().find(|line| line.starts_with(name)).expect("a line of the account");
        let kibibytes = line.split_whitespace().nth(1).expect("a number");
        kibibytes.parse::<f64>().expect("a number") * 1024.0
    };
    field("VmRSS:") + field("VmPTE:")
}

#[cfg(test)]
mod tests {
    use super::{context_switches, cpu_time, memory, writes};
    use crate::mapping::{PAGE, Reserve};
    use std::fs::File;
    use std::io::Write;

    #[test]
    fn processor_time_goes_on() {
        let before = cpu_time();
        while cpu_time() == before {}
    }

    #[test]
    fn a_thread_that_waits_is_counted() {
        let before = context_switches();
        let (sender, receiver) = std::sync::mpsc::channel::<()>();
        let thread = std::thread::spawn(move || while receiver.recv().is_ok() {});
        // The test harness runs this on a thread of its own, so both are counted; each message is one wait at most.
        while context_switches() <= before {
            sender.send(()).expect("it waits");
            std::thread::yield_now();
        }
        drop(sender);
        thread.join().expect("it ends");
    }

    #[test]
    fn what_is_written_is_counted() {
        let before = writes();
        let mut nowhere = File::create("/dev/null").expect("there is nowhere to write to");
        (0..10).for_each(|_| nowhere.write_all(b"something").expect("it is written"));
        // Other tests run meanwhile.
        assert!(writes() >= before + 10);
    }

    #[test]
    fn memory_that_was_touched_is_held() {
        const BYTES: usize = 64 << 20;
        let before = memory();
        let reserve = Reserve::new(BYTES, PAGE);
        // Other tests run meanwhile.
        assert!(memory() - before > BYTES as f64 / 2.0);
        drop(reserve);
    }
}
