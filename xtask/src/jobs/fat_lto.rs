//! The tests of both pillars with everything inlined into everything. The profile is in the root
//! manifest.

use super::STRATEGY;
use crate::context::Context;
use crate::exec::Exec;
use crate::failure::Result;
use crate::job::{Depth, Job};

/// The switch does not depend on what the optimiser does.
pub(crate) const JOB: Job = Job {
    name: "fat-lto",
    about: "coroutines' tests, and those of fibers that are about switches, pass under fat LTO with one codegen unit",
    depth: Depth::Deep,
    needs: &[],
    run,
};

/// Without the tests inside the crates: they switch no stacks, and linking each program takes a
/// minute. Of the fibers' tests only those about switches: all of them would take six minutes. The
/// benchmarks are built with this profile too, and check their results.
const TESTS: [&str; 6] = ["-p", "sinew-coroutine", "-p", "sinew", "--test", "it"];

fn run(context: &Context) -> Result {
    Exec::cargo(context, &["test", "--profile", "fat"])
        .args(TESTS)
        .env("RUSTFLAGS", "--cfg sinew_few --cfg sinew_fat")
        .env(STRATEGY, "local")
        .run()
}
