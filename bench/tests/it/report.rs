//! `report`: what it writes, and that it says where.

use crate::{Scratch, bench};
use std::ffi::OsStr;
use std::fs;

#[test]
fn plots_and_summary_are_written_and_named() {
    let scratch = Scratch::new("report");
    let file = scratch.figure("run.json", "sinew", [2.0, 1.9, 2.1]);
    let out = scratch.path().join("out");
    let outcome = bench([OsStr::new("report"), file.as_os_str(), OsStr::new("--out"), out.as_os_str()]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert!(
        outcome.stdout.contains("switch.svg") && outcome.stdout.contains("summary.md"),
        "{}",
        outcome.stdout
    );
    let svg = fs::read_to_string(out.join("switch.svg")).expect("the plot was written");
    assert!(svg.starts_with("<svg") && svg.contains("sinew"), "{svg}");
    assert!(fs::read_to_string(out.join("summary.md")).expect("so was the summary").contains("switch.svg"));
}
