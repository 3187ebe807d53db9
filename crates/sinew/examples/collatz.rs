//! Finds the longest Collatz chain below a number, in a runtime with two groups of workers. Each
//! group checks half of the numbers.

use sinew::Runtime;
use sinew::fiber::{self, Builder, JoinHandle};
use std::error::Error;
use std::io;
use std::ops::Range;

/// How many numbers a fiber checks.
const PART: u64 = 1_000;

fn main() -> Result<(), Box<dyn Error>> {
    let below = std::env::args().nth(1).map_or(Ok(1_000_000), |argument| argument.parse())?;
    let (length, start) = longest(below)?;
    println!("below {below} the longest chain begins with {start} and has {length} numbers");
    Ok(())
}

/// Returns the length of the longest chain that begins below a number, and its first number.
pub fn longest(below: u64) -> Result<(u64, u64), Box<dyn Error>> {
    let runtime = Runtime::builder().groups([2, 2]).start()?;
    // Inside `run`, fibers are spawned in this runtime. Outside, they would be in the default one.
    let found = runtime.run(move || {
        let middle = below / 2;
        let halves = [in_group(0, 1..middle)?, in_group(1, middle..below)?];
        Ok::<_, io::Error>(longest_in(halves))
    })?;
    let report = runtime.shutdown(None);
    assert!(report.drained, "{report:?}");
    found.ok_or_else(|| "there is no chain".into())
}

/// Spawns a fiber that stays in a group and checks a range. Its children begin in that group too,
/// but may move to the other group if that is idle.
fn in_group(group: usize, numbers: Range<u64>) -> io::Result<JoinHandle<Option<(u64, u64)>>> {
    let parts = move || {
        let end = numbers.end;
        let starts = numbers.step_by(PART as usize);
        longest_in(fiber::spawn_batch(starts.map(|start| move || longest_of(start..end.min(start + PART)))))
    };
    Builder::new().name(format!("group {group}")).group(group).group_local(true).spawn(parts)
}

fn longest_in(fibers: impl IntoIterator<Item = JoinHandle<Option<(u64, u64)>>>) -> Option<(u64, u64)> {
    fibers.into_iter().filter_map(|fiber| fiber.join().expect("no number is too large")).max()
}

fn longest_of(starts: Range<u64>) -> Option<(u64, u64)> {
    starts.filter(|start| *start != 0).map(|start| (length(start), start)).max()
}

fn length(start: u64) -> u64 {
    let next = |number: &u64| match *number {
        1 => None,
        even if even.is_multiple_of(2) => Some(even / 2),
        odd => Some(3 * odd + 1),
    };
    std::iter::successors(Some(start), next).count() as u64
}
