//! What is behind features that the other tests do without. Knows which feature has a test of its
//! own.

use crate::context::Context;
use crate::exec::Exec;
use crate::failure::Result;
use crate::job::{Depth, Job};

/// The library is in order with all features, fibers keep their spans, and `lock_api` has locks.
pub(crate) const JOB: Job = Job {
    name: "features",
    about: "the library is clean with all features, with none, and with sets of them; tracing and lock_api work",
    depth: Depth::Quick,
    needs: &[],
    run,
};

/// Each feature that is on by default alone, each left out of all, and pairs that share code. All
/// 48 sets would take minutes and find no more: what two features share is named in one of these.
const SETS: [&str; 12] = [
    "blocking",
    "fs",
    "net",
    "select",
    "signal",
    "topology",
    "blocking,net",
    "fs,net",
    "net,select,signal,topology",
    "blocking,net,select,signal,topology",
    "fs,select,signal,topology",
    "fs,net,signal,topology",
];

fn run(context: &Context) -> Result {
    let clippy = |features: &[&str]| {
        Exec::cargo(context, &["clippy", "-p", "sinew", "--lib"])
            .args(features)
            .args(["--", "-D", "warnings"])
            .run()
    };
    clippy(&["--all-features"])?;
    clippy(&["--no-default-features"])?;
    SETS.iter().try_for_each(|set| clippy(&["--no-default-features", "--features", set]))?;
    let test = |feature| {
        Exec::cargo(context, &["test", "-p", "sinew", "--features", feature, "--test", feature]).run()
    };
    test("tracing")?;
    test("lock_api")
}
