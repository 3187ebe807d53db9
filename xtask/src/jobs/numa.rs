//! The pool's and the fibers' tests on a machine with two NUMA nodes, of two processors each.
//!
//! An emulated machine is slow, so only some tests run: those about groups, places, stealing,
//! stand-ins, and the beginning and end of pools, fibers and runtimes. What happens within a group
//! is the same on any machine, and is tested on the host.

use std::time::Duration;

use crate::context::Context;
use crate::emulator::{Machine, Suite, Trial};
use crate::failure::Result;
use crate::job::{Depth, Job};

/// Groups, threads and memory are on the nodes where they should be.
pub(crate) const JOB: Job = Job {
    name: "numa",
    about: "pool and fiber tests pass on two NUMA nodes, and memory is where it is used (qemu)",
    depth: Depth::Deep,
    needs: &[],
    run,
};

/// On other machines, tests that need two nodes are skipped. Here they must not be.
const VARIABLES: &[(&str, &str)] = &[("SINEW_REQUIRE_NODES", "2")];

const TRIAL: Trial = Trial {
    name: "numa",
    machine: Machine { nodes: 2, processors: 2, memory: 1024 },
    suites: &[
        // Other crates cannot know where groups are. So all unit tests run, which are few.
        Suite { package: "sinew-sched", targets: &["--lib"], variables: VARIABLES, arguments: &[] },
        Suite {
            package: "sinew-sched",
            targets: &["--test", "it"],
            variables: VARIABLES,
            arguments: OF_POOL,
        },
        Suite { package: "sinew", targets: &["--test", "it"], variables: VARIABLES, arguments: OF_FIBERS },
    ],
    limit: Duration::from_secs(400),
};

/// Modules, and the tests that are left out of them.
const OF_POOL: &[&str] = &[
    "numa::",
    "groups::",
    "pinned::",
    "balance::",
    "spares::",
    "surplus::",
    "blocking::",
    "starting::",
    "shutdown::",
    // Thousands of wake-ups one after the other: close to the minute that counts as a hang.
    "--skip",
    "groups::no_wake_is_lost_between_groups",
    // Up to 64 workers that block at once, over and over: as long as all other tests together.
    "--skip",
    "spares::a_spare_worker_that_was_not_to_be_had_is_asked_for_again",
];

/// Modules, and the tests that are left out of them.
const OF_FIBERS: &[&str] = &[
    "numa::",
    "groups::",
    "settings::",
    "launch::",
    "spawn::",
    "park::",
    "shutdown::",
    // Each of these counts, and needs many fibers or runtimes: half a minute here.
    "--skip",
    "spawn::a_limit_is_exact_whoever_races_for_the_last_place",
    "--skip",
    "spawn::a_stack_may_have_any_size",
    "--skip",
    "spawn::numbers_are_never_used_twice",
];

fn run(context: &Context) -> Result {
    TRIAL.run(context)
}
