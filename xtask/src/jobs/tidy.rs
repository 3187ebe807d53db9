//! The source rules as a job. The rules are in [`crate::tidy`].

use crate::context::Context;
use crate::failure::Result;
use crate::job::{Depth, Job};

/// The tree keeps the layout rules.
pub(crate) const JOB: Job = Job {
    name: "tidy",
    about: "layers, unsafe, headers, sizes and links are as the style demands",
    depth: Depth::Quick,
    needs: &[],
    run,
};

fn run(context: &Context) -> Result {
    crate::tidy::run(&context.root)
}
