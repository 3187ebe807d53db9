//! The stage that chapters are shown on: what a chapter is, how large it may be, and who tells
//! people or programs about it. Knows no chapter by name.

pub(crate) mod chapter;
pub(crate) mod check;
pub(crate) mod interrupt;
pub(crate) mod report;
pub(crate) mod role;
pub(crate) mod show;
pub(crate) mod sizes;
mod staging;
pub(crate) mod summary;

pub(crate) use staging::Stage;
