//! The tests of both pillars with everything inlined into everything. The profile is in the root manifest.

use super::STRATEGY;
use crate::context::Context;
use crate::exec::Exec;
use crate::failure::Result;
use crate::job::{Depth, Job};

/// No switch depends on the optimiser's mercy.
pub(crate) const JOB: Job = Job {
    name: "fat-lto",
    about: "coroutines' tests, and those of fibers that are about switches, pass under fat LTO with one codegen unit",
    depth: Depth::Deep,
    needs: &[],
    run,
};

/// Not the tests inside the crates: they switch no stacks, and linking each program takes a minute. Of fibers' tests those that are about switches: all of
/// them would take six. The benchmarks are built like this too, and check their results.
const TESTS: [&str; 6] = ["-p", "sinew-coroutine", "-p", "sinew", "--test", "it"];

fn run(context: &Context) -> Result {
    Exec::cargo(context, &["test", "--profile", "fat"])
        .args(TESTS)
        .env("RUSTFLAGS", "--cfg sinew_few --cfg sinew_fat")
        .env(STRATEGY, "local")
        .run()
}
