//! The benchmark program's own tests. It is a workspace of its own, so that the `test` job never gets there.

use crate::context::Context;
use crate::exec::Exec;
use crate::failure::Result;
use crate::job::{Depth, Job};

/// What measures can be trusted to measure.
pub(crate) const JOB: Job = Job {
    name: "bench-test",
    about: "the tests of the benchmark program pass",
    depth: Depth::Deep,
    needs: &[],
    run,
};

fn run(context: &Context) -> Result {
    // Optimised, because the other jobs of the benchmarks have built every peer so already.
    Exec::cargo(context, &["test", "--release", "--manifest-path"]).args([context.bench_manifest()]).run()
}
