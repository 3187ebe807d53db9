//! The tests of both pillars under AddressSanitizer, with the installed nightly compiler.
//!
//! What the library tells the sanitizer about stacks is behind `cfg(sinew_asan)`; this file does
//! not know it.

use super::{LIBRARY, PLAIN_PANICS, STRATEGY, WORKERS};
use crate::context::Context;
use crate::exec::Exec;
use crate::failure::{Failure, Result};
use crate::job::{Depth, Job};

/// No stack or heap access is out of bounds.
pub(crate) const JOB: Job = Job {
    name: "asan",
    about: "the library's tests pass under AddressSanitizer (nightly toolchain)",
    depth: Depth::Deep,
    needs: &[],
    run,
};

const FLAGS: &str = "-Zsanitizer=address --cfg sinew_asan";

/// Leaks are not searched for. Some tests forget a coroutine on purpose, memory to which only its
/// stack points counts as lost, and the tests count stacks themselves. Faults are left to the
/// kernel: tests of guard pages expect its signal.
const OPTIONS: &str = "detect_leaks=0:handle_segv=0";

fn run(context: &Context) -> Result {
    require_nightly()?;
    Exec::cargo(context, &["+nightly", "test"])
        .args(LIBRARY)
        .env(PLAIN_PANICS.0, PLAIN_PANICS.1)
        .env(STRATEGY, "shared")
        .env(WORKERS, "2")
        .args(["--target", "x86_64-unknown-linux-gnu"])
        .env("RUSTFLAGS", FLAGS)
        .env("ASAN_OPTIONS", OPTIONS)
        .env("CARGO_TARGET_DIR", context.target.join("asan"))
        .run()
}

/// Checks this first: if the toolchain is missing, naming it makes rustup try to download it.
pub(super) fn require_nightly() -> Result {
    let list = Exec::new("rustup").args(["toolchain", "list"]).read()?;
    if list.lines().any(|line| line.starts_with("nightly-x86_64")) {
        return Ok(());
    }
    Err(Failure::new("no nightly toolchain is installed, and this job does not download one"))
}
