//! The tests of both pillars with everything inlined into everything. The profile is in the root manifest.

use super::{STACKS, STRATEGY};
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

fn run(context: &Context) -> Result {
    Exec::cargo(context, &["test", "--profile", "fat"]).args(STACKS).env(STRATEGY, "local").run()
}
