//! The models of lock-free protocols, run by loom. The models are beside the code that they check.

use crate::context::Context;
use crate::exec::Exec;
use crate::failure::Result;
use crate::job::{Depth, Job};

/// No interleaving breaks a protocol.
pub(crate) const JOB: Job = Job {
    name: "loom",
    about: "the models of lock-free protocols hold in every interleaving",
    depth: Depth::Deep,
    needs: &[],
    run,
};

fn run(context: &Context) -> Result {
    Exec::cargo(
        context,
        &["test", "--release", "-p", "sinew-coroutine", "-p", "sinew-sched", "-p", "sinew", "--lib", "model"],
    )
    .env("RUSTFLAGS", "--cfg loom")
    .env("CARGO_TARGET_DIR", context.target.join("loom"))
    .run()
}
