//! Reads what this process has used so far (processor time, context switches of its threads,
//! writes) and the memory that it holds now; for some of it, also what another process has used. It
//! knows nothing of what is measured.
//!
//! # Safety
//!
//! This file is trusted with reading a clock into a structure of its own.
#![expect(unsafe_code, reason = "std has no clock of processor time")]

use std::fs;
use std::mem::MaybeUninit;
use std::path::Path;
use std::time::Duration;

/// Returns user and system time of all threads, including those that have ended. It reads a clock,
/// since `getrusage` counts in whole microseconds. It misses what a thread on another processor has
/// done since the last tick, some milliseconds at most.
pub(crate) fn cpu_time() -> Duration {
    read(libc::CLOCK_PROCESS_CPUTIME_ID)
}

/// Returns the same for another process, which must not have been waited for.
pub(crate) fn cpu_time_of(process: u32) -> Duration {
    let mut clock = 0;
    // SAFETY: the pointer is to writable memory of the type that the call fills.
    let result = unsafe { libc::clock_getcpuclockid(process as libc::pid_t, &raw mut clock) };
    assert_eq!(result, 0, "the process is there");
    read(clock)
}

fn read(clock: libc::clockid_t) -> Duration {
    let mut time = MaybeUninit::<libc::timespec>::uninit();
    // SAFETY: the pointer is to writable memory of the type that the call fills.
    let result = unsafe { libc::clock_gettime(clock, time.as_mut_ptr()) };
    assert_eq!(result, 0, "every process has this clock");
    // SAFETY: the call has succeeded, so it has filled the structure.
    let time = unsafe { time.assume_init() };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Returns how often threads went off a processor, voluntarily or not, and so came back to one. The
/// main thread is left out: it waits and asks.
pub(crate) fn context_switches() -> u64 {
    let main = std::process::id().to_string();
    let threads = fs::read_dir("/proc/self/task").expect("the kernel's list of threads").flatten();
    let others = threads.map(|thread| thread.path()).filter(|path| !path.ends_with(&main));
    others.map(|path| switches_of(&path, &["voluntary_ctxt_switches:", "nonvoluntary_ctxt_switches:"])).sum()
}

/// Returns how often threads of another process went off a processor voluntarily. Threads that have
/// ended are left out.
pub(crate) fn waits_of(process: u32) -> u64 {
    let threads = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    threads.map(|thread| switches_of(&thread.path(), &["voluntary_ctxt_switches:"])).sum()
}

/// Returns the sum of these counters of one thread, by the kernel's names; 0 if the thread has
/// ended.
fn switches_of(thread: &Path, names: &[&str]) -> u64 {
    let status = fs::read_to_string(thread.join("status")).unwrap_or_default();
    let lines = status.lines().filter(|line| names.iter().any(|name| line.starts_with(name)));
    lines.filter_map(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok()).sum()
}

/// Returns how often the process has made a system call that writes.
pub(crate) fn writes() -> u64 {
    let account = fs::read_to_string("/proc/self/io").expect("the kernel's account");
    let number = account.lines().find_map(|line| line.strip_prefix("syscw:")).expect("a line of the account");
    number.trim().parse().expect("a number")
}

/// Returns resident memory and page tables, in bytes.
pub(crate) fn memory() -> f64 {
    memory_of(std::process::id())
}

/// Returns the same for another process.
pub(crate) fn memory_of(process: u32) -> f64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).expect("the kernel's account");
    let field = |name: &str| -> f64 {
        let line = status.lines().find(|line| line.starts_with(name)).expect("a line of the account");
        let kibibytes = line.split_whitespace().nth(1).expect("a number");
        kibibytes.parse::<f64>().expect("a number") * 1024.0
    };
    field("VmRSS:") + field("VmPTE:")
}

#[cfg(test)]
mod tests {
    use super::{context_switches, cpu_time, cpu_time_of, memory, waits_of, writes};
    use crate::mapping::{PAGE, Reserve};
    use std::fs::File;
    use std::io::{Read, Write};
    use std::process::{Command, Stdio};

    #[test]
    fn processor_time_grows() {
        let before = cpu_time();
        while cpu_time() == before {}
    }

    #[test]
    fn a_thread_that_waits_is_counted() {
        let before = context_switches();
        let (sender, receiver) = std::sync::mpsc::channel::<()>();
        let thread = std::thread::spawn(move || while receiver.recv().is_ok() {});
        // The test harness runs this on a thread of its own, so both are counted. Each message
        // causes at most one wait.
        while context_switches() <= before {
            sender.send(()).expect("it waits");
            std::thread::yield_now();
        }
        drop(sender);
        thread.join().expect("it ends");
    }

    #[test]
    fn another_process_is_looked_at() {
        let mut command = Command::new("cat");
        let mut cat = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
        let (before, waits) = (cpu_time_of(cat.id()), waits_of(cat.id()));
        let mut input = cat.stdin.take().expect("it was asked for");
        let mut output = cat.stdout.take().expect("it was asked for");
        while cpu_time_of(cat.id()) == before || waits_of(cat.id()) == waits {
            input.write_all(b"x").expect("it reads");
            output.read_exact(&mut [0]).expect("it writes");
        }
        drop(input);
        cat.wait().expect("it ends");
    }

    #[test]
    fn what_is_written_is_counted() {
        let before = writes();
        let mut nowhere = File::create("/dev/null").expect("there is nowhere to write to");
        (0..10).for_each(|_| nowhere.write_all(b"something").expect("it is written"));
        // Other tests run at the same time.
        assert!(writes() >= before + 10);
    }

    #[test]
    fn memory_that_was_touched_is_held() {
        const BYTES: usize = 64 << 20;
        let before = memory();
        let reserve = Reserve::new(BYTES, PAGE);
        // Other tests run at the same time.
        assert!(memory() - before > BYTES as f64 / 2.0);
        drop(reserve);
    }
}
