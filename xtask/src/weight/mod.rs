//! `cargo xtask weight`: what a small server costs to build, and how large it is, beside the same
//! server on tokio.
//!
//! Each program is built with `--release` into an empty directory, and is stripped. Downloads are
//! not counted. CPU time is that of cargo and all its children. It judges no figure: it prints
//! them.

mod program;

use std::fs;
use std::path::Path;

use clap::Args;

use crate::context::Context;
use crate::exec::Exec;
use crate::failure::{Failure, Result, While};
use program::{PROGRAMS, Program};

/// How to measure.
#[derive(Args)]
pub(crate) struct Runs {
    /// How often to build each program; the least CPU time counts.
    #[arg(long, default_value_t = 1)]
    runs: usize,
}

/// What a program costs.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Cost {
    /// CPU time of the build, in hundredths of a second.
    ticks: u64,
    /// Size of the stripped program, in bytes.
    bytes: u64,
}

/// Builds all programs, and prints a table.
pub(crate) fn run(context: &Context, runs: &Runs) -> Result {
    let mut costs = Vec::new();
    for program in &PROGRAMS {
        let directory = context.target.join("weight").join(program.name);
        program.write(&directory, &context.root).while_doing(directory.display())?;
        cargo(&directory, "fetch").run()?;
        let mut cost = build(program, &directory)?;
        for _ in 1..runs.runs {
            cost.ticks = cost.ticks.min(build(program, &directory)?.ticks);
        }
        costs.push((program.title, cost));
    }
    print!("{}", table(&costs));
    Ok(())
}

/// Builds a program into an empty directory.
fn build(program: &Program, directory: &Path) -> Result<Cost> {
    let target = directory.join("target");
    if target.exists() {
        fs::remove_dir_all(&target).while_doing(target.display())?;
    }
    let before = ticks_of_children()?;
    cargo(directory, "build").args(["--release", "--offline", "--quiet"]).run()?;
    let ticks = ticks_of_children()? - before;
    let built = target.join("release").join(program.name);
    Ok(Cost { ticks, bytes: fs::metadata(&built).while_doing(built.display())?.len() })
}

/// A command line of cargo with the program's own target directory and the compiler's own flags.
fn cargo(directory: &Path, verb: &str) -> Exec {
    Exec::new("cargo")
        .args([verb])
        .directory(directory)
        .env("CARGO_TARGET_DIR", directory.join("target"))
        .env("RUSTFLAGS", "")
}

/// CPU time of the processes that this one has waited for, theirs included, in the kernel's ticks:
/// hundredths of a second.
fn ticks_of_children() -> Result<u64> {
    let stat = fs::read_to_string("/proc/self/stat").while_doing("/proc/self/stat")?;
    children(&stat).ok_or_else(|| Failure::new("/proc/self/stat: no CPU time of children"))
}

/// The fields `cutime` and `cstime` of a `stat` file, added. The name before them may contain
/// spaces.
fn children(stat: &str) -> Option<u64> {
    let (_, fields) = stat.rsplit_once(')')?;
    let mut times = fields.split_whitespace().skip(13).take(2).map(str::parse::<u64>);
    Some(times.next()?.ok()? + times.next()?.ok()?)
}

/// The figures, with their ratios to the last program's.
fn table(costs: &[(&str, Cost)]) -> String {
    let Some((_, peer)) = costs.last() else { return String::new() };
    let line = |(title, cost): &(&str, Cost)| {
        let seconds = format!("{}.{:02}", cost.ticks / 100, cost.ticks % 100);
        let ratio = |own: u64, peer: u64| own as f64 / peer.max(1) as f64;
        let (time, size) = (ratio(cost.ticks, peer.ticks), ratio(cost.bytes, peer.bytes));
        format!("{title:<28}{seconds:>9} s{time:>7.2}{:>12} B{size:>7.2}\n", cost.bytes)
    };
    let head = format!("{:<28}{:>11}{:>7}{:>14}{:>7}\n", "echo server", "CPU", "ratio", "size", "ratio");
    head + &costs.iter().map(line).collect::<String>()
}

#[cfg(test)]
mod tests {
    use super::{Cost, children, table};

    #[test]
    fn the_times_of_children_are_found_behind_a_name_with_spaces() {
        let stat = "7 (a) b) S 1 2 3 4 5 6 7 8 9 10 11 12 130 20 15 16";
        assert_eq!(children(stat), Some(150));
        assert_eq!(children("7 (x) S 1"), None);
    }

    #[test]
    fn ratios_are_those_to_the_last() {
        let text = table(&[("a", Cost { ticks: 300, bytes: 10 }), ("b", Cost { ticks: 200, bytes: 20 })]);
        let own: Vec<_> = text.lines().nth(1).unwrap().split_whitespace().collect();
        assert_eq!(own, ["a", "3.00", "s", "1.50", "10", "B", "0.50"]);
    }
}
