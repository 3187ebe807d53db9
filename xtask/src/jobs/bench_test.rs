//! The benchmark program's own tests. It is a workspace of its own, so the job `test` does not run
//! them.

use crate::context::Context;
use crate::exec::Exec;
use crate::failure::Result;
use crate::job::{Depth, Job};

/// The benchmark program measures correctly.
pub(crate) const JOB: Job = Job {
    name: "bench-test",
    about: "the tests of the benchmark program pass",
    depth: Depth::Deep,
    needs: &[],
    run,
};

fn run(context: &Context) -> Result {
    // Optimised, because the other jobs of the benchmarks have built every peer with this profile.
    Exec::cargo(context, &["test", "--release", "--manifest-path"]).args([context.bench_manifest()]).run()
}
