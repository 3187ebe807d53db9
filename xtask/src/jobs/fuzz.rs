//! Requests that a fuzzer finds, for the reader of `sinew serve` and the reference reader, which
//! must agree. The fuzzer tries a million requests, or as many as fit into a minute.
//!
//! The seed files and the seed of the random numbers are the same each time, so that a finding
//! repeats. The requests that the fuzzer keeps are below `target/`.

use super::asan::require_nightly;
use crate::context::Context;
use crate::exec::Exec;
use crate::failure::{Result, While};
use crate::job::{Depth, Job, Tool};

/// No request makes the server fail or disagree with the reference reader, and no answer depends on
/// how its request was split.
pub(crate) const JOB: Job = Job {
    name: "fuzz",
    about: "a fuzzer finds no request that the server and the reference read differently (nightly toolchain)",
    depth: Depth::Deep,
    // The fuzzer's library is compiled with it.
    needs: &[Tool { probe: "c++", package: "g++" }],
    run,
};

const TARGET: &str = "x86_64-unknown-linux-gnu";

/// Counters at every edge, and tracing of comparisons, as cargo-fuzz sets them.
const FLAGS: &str = "--cfg fuzzing -Ccodegen-units=1 -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
     -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
     -Cllvm-args=-sanitizer-coverage-trace-compares";

/// A million requests, or as many as fit into a minute on a slow machine.
const LIMITS: [&str; 4] = ["-runs=1000000", "-max_total_time=60", "-max_len=4096", "-seed=1"];

fn run(context: &Context) -> Result {
    require_nightly()?;
    let (fuzz, target) = (context.root.join("fuzz"), context.target.join("fuzz"));
    Exec::cargo(context, &["+nightly", "build", "--release", "--target", TARGET, "--manifest-path"])
        .args([context.fuzz_manifest()])
        .env("RUSTFLAGS", FLAGS)
        .env("CARGO_TARGET_DIR", &target)
        .run()?;
    let found = target.join("found");
    std::fs::create_dir_all(&found).while_doing("making room for what is found")?;
    Exec::new(target.join(TARGET).join("release/serve"))
        .args([&found, &fuzz.join("seeds/serve")])
        .args([format!("-dict={}", fuzz.join("serve.dict").display())])
        .args([format!("-artifact_prefix={}/", target.display())])
        .args(LIMITS)
        .args(["-print_final_stats=1", "-verbosity=0"])
        .run()
}
