//! The tests, by the command that the README gives. It knows no single test.

use crate::context::Context;
use crate::exec::Exec;
use crate::failure::Result;
use crate::job::{Depth, Job, Tool};

/// Every test passes, and none was skipped for want of a tool.
pub(crate) const JOB: Job = Job {
    name: "test",
    about: "every test passes, those that drive gdb included",
    depth: Depth::Quick,
    needs: &[Tool { probe: "gdb", package: "gdb" }],
    run,
};

fn run(context: &Context) -> Result {
    // Without the variable, a test whose tool is missing would pass without checking anything.
    Exec::cargo(context, &["test", "--workspace"]).env("SINEW_REQUIRE_TOOLS", "1").run()
}
