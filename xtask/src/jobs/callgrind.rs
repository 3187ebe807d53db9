//! Compares instruction counts with the committed baseline. The benchmark program counts and
//! compares.

use crate::context::Context;
use crate::exec::Exec;
use crate::failure::Result;
use crate::job::{Depth, Job, Tool};

/// No path costs more instructions than before.
pub(crate) const JOB: Job = Job {
    name: "callgrind",
    about: "instruction counts are no worse than the committed baseline",
    depth: Depth::Deep,
    needs: &[Tool { probe: "valgrind", package: "valgrind" }],
    run,
};

fn run(context: &Context) -> Result {
    Exec::cargo(context, &["run", "--release", "--manifest-path"])
        .args([context.bench_manifest()])
        .args(["--", "callgrind", "--check"])
        .run()
}
