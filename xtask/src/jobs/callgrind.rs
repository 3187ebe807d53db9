//! Instruction counts against the committed baseline. Counting and comparing is the benchmark program's work.

use crate::context::Context;
use crate::exec::Exec;
use crate::failure::Result;
use crate::job::{Depth, Job, Tool};

/// Nothing costs more instructions than it did.
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
