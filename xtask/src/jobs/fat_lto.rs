//! The tests of both pillars with everything inlined into everything. The profile is in the root manifest.

use super::STRATEGY;
use crate::context::Context;
use crate::exec::Exec;
use crate::failure::Result;
use crate::job::{Depth, Job};

/// No switch depends on the optimiser's mercy.
pub(crate) const JOB: Job = Job {
    name: "fat-lto",
    about: "the library's tests pass under fat LTO with one codegen unit",
    depth: Depth::Deep,
    needs: &[],
    run,
};

/// Not the tests inside the crates: they switch no stacks, and linking each program takes a minute.
const TESTS: [&str; 6] = ["-p", "sinew-coroutine", "-p", "sinew", "--test", "it"];

fn run(context: &Context) -> Result {
    Exec::cargo(context, &["test", "--profile", "fat"]).args(TESTS).env(STRATEGY, "local").run()
}
