//! The public interface, as committed. Listing it is [`crate::api`]'s work.

use crate::api::{self, Lists};
use crate::context::Context;
use crate::failure::Result;
use crate::job::{Depth, Job};

/// A change to the public items of a library crate does not go unseen.
pub(crate) const JOB: Job = Job {
    name: "api",
    about: "the public items of the library crates are those listed in docs/api",
    depth: Depth::Quick,
    needs: &[],
    run,
};

fn run(context: &Context) -> Result {
    api::run(context, &Lists::default())
}
