//! Formatting, in all workspaces. It knows nothing about rustfmt's settings, which are in
//! `rustfmt.toml`.

use crate::context::Context;
use crate::exec::Exec;
use crate::failure::Result;
use crate::job::{Depth, Job};

/// Formatting now would change nothing.
pub(crate) const JOB: Job = Job {
    name: "fmt",
    about: "rustfmt would change nothing, here, in bench/ and in fuzz/",
    depth: Depth::Quick,
    needs: &[],
    run,
};

fn run(context: &Context) -> Result {
    let check = ["fmt", "--all", "--check"];
    Exec::cargo(context, &check).run()?;
    for manifest in [context.bench_manifest(), context.fuzz_manifest()] {
        Exec::cargo(context, &check).args(["--manifest-path".into(), manifest]).run()?;
    }
    Ok(())
}
