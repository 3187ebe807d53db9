//! Formatting, in both workspaces. Knows nothing about rustfmt's settings: they are in `rustfmt.toml`.

use crate::context::Context;
use crate::exec::Exec;
use crate::failure::Result;
use crate::job::{Depth, Job};

/// Nothing would change if everybody formatted now.
pub(crate) const JOB: Job = Job {
    name: "fmt",
    about: "rustfmt would change nothing, here and in bench/",
    depth: Depth::Quick,
    needs: &[],
    run,
};

fn run(context: &Context) -> Result {
    Exec::cargo(context, &["fmt", "--all", "--check"]).run()?;
    Exec::cargo(context, &["fmt", "--all", "--check", "--manifest-path"])
        .args([context.bench_manifest()])
        .run()
}
