//! The coroutine tests on a kernel that lacks what newer ones have: guard pages by advice, above all, so that stacks
//! are guarded by changing their protection.
//!
//! What the library does about it is not known here: the tests are run as they are.

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
    // The debugger's tests have no debugger there; they speak about unwind tables, on any kernel alike.
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
