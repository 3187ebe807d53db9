//! What is behind features that the other tests do without. Knows which feature has a test of its own.

use crate::context::Context;
use crate::exec::Exec;
use crate::failure::Result;
use crate::job::{Depth, Job};

/// The library is in order with all features, and fibers keep their spans.
pub(crate) const JOB: Job = Job {
    name: "features",
    about: "the library is clean with all features and with none, and fibers keep their spans of tracing",
    depth: Depth::Quick,
    needs: &[],
    run,
};

fn run(context: &Context) -> Result {
    let clippy = |feature| {
        Exec::cargo(context, &["clippy", "-p", "sinew", feature, "--lib", "--", "-D", "warnings"]).run()
    };
    clippy("--all-features")?;
    clippy("--no-default-features")?;
    Exec::cargo(context, &["test", "-p", "sinew", "--features", "tracing", "--test", "tracing"]).run()
}
