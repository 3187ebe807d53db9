//! What is behind features that the other tests do without. Knows which feature has a test of its own.

use crate::context::Context;
use crate::exec::Exec;
use crate::failure::Result;
use crate::job::{Depth, Job};

/// The library is in order with all features, fibers keep their spans, and `lock_api` has locks.
pub(crate) const JOB: Job = Job {
    name: "features",
    about: "the library is clean with all features and with none, and tracing and lock_api work",
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
    let test = |feature| {
        Exec::cargo(context, &["test", "-p", "sinew", "--features", feature, "--test", feature]).run()
    };
    test("tracing")?;
    test("lock_api")
}
