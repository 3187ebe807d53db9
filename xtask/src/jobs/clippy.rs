//! Lints, in both workspaces. The manifests choose the lints.

use crate::context::Context;
use crate::exec::Exec;
use crate::failure::Result;
use crate::job::{Depth, Job};

/// There are no warnings of the compiler or of clippy.
pub(crate) const JOB: Job = Job {
    name: "clippy",
    about: "no warning in any target, here and in bench/",
    depth: Depth::Quick,
    needs: &[],
    run,
};

fn run(context: &Context) -> Result {
    let deny = ["--", "-D", "warnings"];
    Exec::cargo(context, &["clippy", "--workspace", "--all-targets"]).args(deny).run()?;
    Exec::cargo(context, &["clippy", "--workspace", "--all-targets", "--manifest-path"])
        .args([context.bench_manifest()])
        .args(deny)
        .run()
}
