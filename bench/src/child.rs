//! Makes one measurement in a process of its own, so that peers cannot disturb one another. The
//! child prints lines `metric value`. Its processor time, as reported by the kernel, is added. The
//! caller chooses the program.
//!
//! # Safety
//!
//! This file is trusted with `wait4`, the only call that reports the resources of one particular
//! child.

#![expect(unsafe_code, reason = "only wait4 reports the processor time of one child")]

use std::fmt;
use std::io::{self, Read};
use std::mem::MaybeUninit;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

/// Metrics by name, as read from a child.
pub(crate) type Values = Vec<(String, f64)>;

/// The name of the value that holds a child's user and system time.
const CPU_MS: &str = "cpu_ms";

/// Why a measurement failed.
#[derive(Debug)]
pub(crate) struct Failure {
    /// What went wrong.
    problem: String,
    /// What the child wrote to standard error.
    stderr: String,
}

impl Failure {
    /// Makes a failure without output of a child.
    pub(crate) fn new(problem: impl Into<String>) -> Self {
        Self { problem: problem.into(), stderr: String::new() }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.problem)?;
        self.stderr.lines().try_for_each(|line| write!(f, "\n    | {line}"))
    }
}

/// Runs the child to its end and reads its metrics. A child that takes longer than `limit` is
/// killed.
pub(crate) fn measure(command: &mut Command, limit: Duration) -> Result<Values, Failure> {
    let end = finish(command, limit)?;
    if !end.status.success() {
        return Err(Failure { problem: format!("the child ended with {}", end.status), stderr: end.stderr });
    }
    let mut values = parse(&end.stdout).map_err(|problem| Failure { problem, stderr: end.stderr })?;
    // A child may measure a part of its life by itself. Then its own value counts.
    if values.iter().all(|(name, _)| name != CPU_MS) {
        values.push((CPU_MS.to_owned(), end.cpu.as_secs_f64() * 1e3));
    }
    Ok(values)
}

/// How a child ended.
struct End {
    status: ExitStatus,
    cpu: Duration,
    stdout: String,
    stderr: String,
}

/// Waits until the child closes its output, which it does at its end. This does not poll, so
/// nothing runs beside the child meanwhile.
fn finish(command: &mut Command, limit: Duration) -> Result<End, Failure> {
    let spawned = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = spawned
        .map_err(|error| Failure::new(format!("cannot start {:?}: {error}", command.get_program())))?;
    let stdout = collect(child.stdout.take());
    let stderr = collect(child.stderr.take());
    let output = stdout.recv_timeout(limit);
    if output.is_err() {
        // An error means that the child has just ended by itself.
        let _ = child.kill();
    }
    let (status, cpu) =
        reap(&child).map_err(|error| Failure::new(format!("cannot wait for the child: {error}")))?;
    // A grandchild may hold the pipe for longer. Its output is not worth the wait.
    let stderr = stderr.recv_timeout(Duration::from_secs(1)).unwrap_or_default();
    match output {
        Ok(stdout) => Ok(End { status, cpu, stdout, stderr }),
        Err(_) => {
            Err(Failure { problem: format!("the child took longer than {limit:?} and was ended"), stderr })
        }
    }
}

/// Reads a pipe to its end on a thread of its own, so that a full pipe cannot block the child.
fn collect(pipe: Option<impl Read + Send + 'static>) -> Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            // Bytes that were read before an error are still worth showing.
            let _ = pipe.read_to_end(&mut bytes);
        }
        // The receiver may have given up.
        let _ = sender.send(String::from_utf8_lossy(&bytes).into_owned());
    });
    receiver
}

/// Waits for the child's end. Returns its exit status, and its user and system time.
fn reap(child: &Child) -> io::Result<(ExitStatus, Duration)> {
    let pid = child.id() as libc::pid_t;
    let mut status = 0;
    let mut usage = MaybeUninit::<libc::rusage>::uninit();
    loop {
        // SAFETY: both pointers are to writable memory of the types that `wait4` fills.
        let result = unsafe { libc::wait4(pid, &raw mut status, 0, usage.as_mut_ptr()) };
        if result == pid {
            break;
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    // SAFETY: `wait4` has succeeded, so it has filled the structure.
    let usage = unsafe { usage.assume_init() };
    Ok((ExitStatus::from_raw(status), duration(usage.ru_utime) + duration(usage.ru_stime)))
}

fn duration(time: libc::timeval) -> Duration {
    Duration::new(time.tv_sec as u64, time.tv_usec as u32 * 1000)
}

/// Reads lines `metric value`.
fn parse(stdout: &str) -> Result<Values, String> {
    stdout.lines().filter(|line| !line.trim().is_empty()).map(parse_line).collect()
}

fn parse_line(line: &str) -> Result<(String, f64), String> {
    let garbled = || format!("the child printed '{line}', which is not 'metric value'");
    let (name, value) = line.trim().split_once(' ').ok_or_else(garbled)?;
    let value = value.trim().parse::<f64>().ok().filter(|value| value.is_finite()).ok_or_else(garbled)?;
    Ok((name.to_owned(), value))
}

#[cfg(test)]
mod tests {
    use super::measure;
    use std::process::Command;
    use std::time::Duration;

    fn shell(script: &str, limit: Duration) -> Result<super::Values, String> {
        measure(Command::new("sh").args(["-c", script]), limit).map_err(|failure| failure.to_string())
    }

    const MINUTE: Duration = Duration::from_secs(60);

    #[test]
    fn metrics_are_read_and_the_processor_time_added() {
        let values = shell("echo 'ns 1.5'; echo; echo 'late_ms 3'", MINUTE).unwrap();
        let names: Vec<_> = values.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["ns", "late_ms", "cpu_ms"]);
        assert_eq!(values[0].1, 1.5);
        assert!(values[2].1 >= 0.0);
    }

    #[test]
    fn the_processor_time_can_be_the_childs_own() {
        let values = shell("echo 'cpu_ms 0.25'", MINUTE).unwrap();
        assert_eq!(values, [("cpu_ms".to_owned(), 0.25)]);
    }

    #[test]
    fn a_failure_carries_the_status_and_the_complaint() {
        let failure = shell("echo 'ns 1'; echo 'no memory' >&2; exit 7", MINUTE).unwrap_err();
        assert!(failure.contains("exit status: 7"), "{failure}");
        assert!(failure.contains("| no memory"), "{failure}");
    }

    #[test]
    fn a_signal_is_named() {
        let failure = shell("kill -SEGV $$", MINUTE).unwrap_err();
        assert!(failure.contains("SIGSEGV"), "{failure}");
    }

    #[test]
    fn other_output_is_refused() {
        for script in ["echo hello", "echo ns fast", "echo ns NaN"] {
            let failure = shell(script, MINUTE).unwrap_err();
            assert!(failure.contains("not 'metric value'"), "{failure}");
        }
    }

    #[test]
    fn a_child_that_hangs_is_ended() {
        let failure = shell("echo begun >&2; exec sleep 600", Duration::from_millis(300)).unwrap_err();
        assert!(failure.contains("took longer than 300ms"), "{failure}");
        assert!(failure.contains("| begun"), "{failure}");
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let failure = measure(&mut Command::new("/no/such/program"), MINUTE).unwrap_err().to_string();
        assert!(failure.contains("/no/such/program"), "{failure}");
    }
}
