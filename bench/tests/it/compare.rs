//! `compare`: flags changes, and names files that cannot be read.

use crate::{Scratch, bench};

#[test]
fn a_change_beyond_the_ranges_is_flagged() {
    let scratch = Scratch::new("compare");
    let before = scratch.figure("before.json", "sinew", [2.0, 1.9, 2.1]);
    let after = scratch.figure("after.json", "sinew", [3.0, 2.9, 3.1]);
    let worse = bench([std::ffi::OsStr::new("compare"), before.as_os_str(), after.as_os_str()]);
    assert_eq!(worse.code, Some(0));
    assert!(worse.stdout.contains("WORSE"), "{}", worse.stdout);
    let same = bench([std::ffi::OsStr::new("compare"), before.as_os_str(), before.as_os_str()]);
    assert!(same.stdout.contains("0 better, 0 worse, 1 within"), "{}", same.stdout);
}

#[test]
fn a_file_that_is_missing_is_named() {
    let outcome = bench(["compare", "/no/such/a.json", "/no/such/b.json"]);
    assert_eq!(outcome.code, Some(1));
    assert!(outcome.stderr.contains("/no/such/a.json"), "{}", outcome.stderr);
}
