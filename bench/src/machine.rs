//! The machine and the compiler in one line, for the heading of a report.

use std::fs;
use std::thread;

/// The compiler that built this program, with its target.
pub(crate) const RUSTC: &str = env!("SINEW_BENCH_RUSTC");

/// Returns the line, for example `Some CPU, 8 cores, Linux 6.1, rustc 1.95.0
/// x86_64-unknown-linux-gnu`.
pub(crate) fn line() -> String {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let cpu = model(&cpu).unwrap_or(std::env::consts::ARCH);
    format!("{cpu}, {cores} cores, Linux {}, {}", kernel.trim(), short(RUSTC))
}

/// Returns the model's name in the text of `/proc/cpuinfo`, where the architecture gives one.
fn model(cpuinfo: &str) -> Option<&str> {
    let line = cpuinfo.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim())
}

/// Returns the compiler's version without its commit, which is in brackets.
fn short(rustc: &str) -> String {
    let plain = rustc.split_once(" (").zip(rustc.split_once(')'));
    plain.map_or_else(|| rustc.to_owned(), |((version, _), (_, target))| format!("{version}{target}"))
}

#[cfg(test)]
mod tests {
    use super::{model, short};

    #[test]
    fn the_model_is_found_in_cpuinfo() {
        assert_eq!(model("processor\t: 0\nmodel name\t: Some CPU @ 2\nflags: x"), Some("Some CPU @ 2"));
        assert_eq!(model("processor\t: 0\n"), None);
    }

    #[test]
    fn the_commit_is_left_out() {
        assert_eq!(short("rustc 1.95.0 (abc 2026-04-14) x86_64"), "rustc 1.95.0 x86_64");
    }
}
