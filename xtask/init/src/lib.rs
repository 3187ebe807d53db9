//! What the machine outside and the first process inside have to agree on: the plan, which says what to run, and
//! the reports, which say on the console how it went.
//!
//! Both ends use the same types, so neither can misunderstand the other. Nothing here knows of tests or emulators.

mod plan;
mod report;

pub use plan::{PLAN, Program};
pub use report::{End, Report};
