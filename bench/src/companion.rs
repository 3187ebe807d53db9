//! Processes that a measurement needs beside itself. They end with it, and may have a processor of
//! their own.
//!
//! # Safety
//!
//! This file is trusted with the code between the fork and the start of a program. That code makes
//! system calls and does nothing else.
#![expect(unsafe_code, reason = "a function that runs between fork and exec is unsafe to register")]

use rustix::process::{Resource, Rlimit, Signal, getrlimit, set_parent_process_death_signal, setrlimit};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Ties the process that this command starts to the thread that starts it: it ends with that
/// thread. If a processor is given, the process stays on it.
pub(crate) fn tie(command: &mut Command, processor: Option<usize>) {
    let set = processor.map(only);
    let prepare = move || -> io::Result<()> {
        set_parent_process_death_signal(Some(Signal::KILL))?;
        if let Some(set) = &set {
            sched_setaffinity(None, set)?;
        }
        Ok(())
    };
    // SAFETY: the closure makes two system calls and touches only a copied set. So it takes no lock
    // and allocates no memory.
    unsafe { command.pre_exec(prepare) };
}

fn only(processor: usize) -> CpuSet {
    let mut set = CpuSet::new();
    set.set(processor);
    set
}

/// Returns the first two processors that this process may use.
pub(crate) fn two_processors() -> Result<[usize; 2], String> {
    let set = sched_getaffinity(None)
        .map_err(|error| format!("cannot read which processors are available: {error}"))?;
    let mut there = (0..CpuSet::MAX_CPU).filter(|&processor| set.is_set(processor));
    there
        .next()
        .zip(there.next())
        .map(<[usize; 2]>::from)
        .ok_or_else(|| "two processors are needed".to_owned())
}

/// Raises the limit of this process, and of those that it starts, to `many` descriptors and some
/// more.
///
/// # Errors
///
/// The system does not allow it.
pub(crate) fn allow_descriptors(many: usize) -> Result<(), String> {
    let limit = getrlimit(Resource::Nofile);
    let needed = many as u64 + 200;
    if limit.maximum.is_some_and(|maximum| maximum < needed) {
        return Err(format!("{needed} descriptors are needed, and {limit:?} is allowed"));
    }
    let raised = Rlimit { current: limit.maximum, ..limit };
    setrlimit(Resource::Nofile, raised).map_err(|error| format!("descriptors: {error}"))
}

#[cfg(test)]
mod tests {
    use super::{allow_descriptors, tie, two_processors};
    use rustix::process::{Resource, getrlimit};
    use std::process::Command;

    #[test]
    fn a_processor_to_itself() {
        let Ok([_, other]) = two_processors() else { return };
        let mut command = Command::new("grep");
        command.args(["Cpus_allowed_list", "/proc/self/status"]);
        tie(&mut command, Some(other));
        let said = String::from_utf8(command.output().expect("it starts").stdout).expect("it is text");
        assert_eq!(said.split_whitespace().nth(1), Some(other.to_string().as_str()));
    }

    #[test]
    fn descriptors_up_to_a_limit() {
        assert_eq!(allow_descriptors(10), Ok(()));
        let limit = getrlimit(Resource::Nofile);
        assert_eq!(limit.current, limit.maximum);
        if limit.maximum.is_some() {
            assert!(allow_descriptors(usize::MAX / 2).unwrap_err().contains("are needed"));
        }
    }
}
