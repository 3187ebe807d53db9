//! Descriptors that are waited for: what is known of them, who waits, and which driver watches. The README beside this file says how it works.

#[cfg(all(test, loom))]
mod model;
mod probe;
mod readiness;
mod source;
mod table;
mod thread;
mod watched;

pub(crate) use probe::check_pollable;
pub(crate) use readiness::{Direction, Readiness, ReadyBits};
pub(crate) use source::{IoFailure, IoSource};
pub(crate) use table::Token;
pub(crate) use watched::Watched;
