//! The coroutine tests on a kernel that lacks features of newer ones, above all guard pages by
//! advice. There the library guards stacks by changing the protection of pages.
//!
//! This file does not know what the library does there: the tests run unchanged.

use std::time::Duration;

use crate::context::Context;
use crate::emulator::{Machine, Suite, Trial};
use crate::failure::Result;
use crate::job::{Depth, Job};

/// The fallbacks for older kernels work.
pub(crate) const JOB: Job = Job {
    name: "old-kernel",
    about: "coroutine tests pass on Linux 6.1, without guard advice (Debian's kernel, qemu)",
    depth: Depth::Deep,
    needs: &[],
    run,
};

const TRIAL: Trial = Trial {
    name: "old-kernel",
    machine: Machine { nodes: 1, processors: 2, memory: 2048 },
    // There is no debugger for the debugger's tests. They test unwind tables, which are the same on
    // any kernel.
    suites: &[Suite {
        package: "sinew-coroutine",
        targets: &["--lib", "--test", "it"],
        variables: &[],
        arguments: &["--skip", "gdb::"],
    }],
    limit: Duration::from_secs(600),
};

fn run(context: &Context) -> Result {
    TRIAL.run(context)
}
