//! What the host and the first process of an emulated machine agree on: the plan, which says what
//! to run, and the reports, which say on the console how it went.
//!
//! Both ends use the same types, so neither can misunderstand the other. This crate knows no tests
//! and no emulators.

mod plan;
mod report;

pub use plan::{PLAN, Program};
pub use report::{End, Report};
