//! Descriptors that fibers and threads wait for: their readiness, their waiters, and the driver
//! that watches them. The README beside this file explains how it works.

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
