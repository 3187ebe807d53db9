//! The errors of fibers that have no result, as joins return them.

use std::any::Any;
use std::error::Error;
use std::fmt;

use crate::rt::Unended;

/// The error of a join if the fiber was discarded before it began, or between two of its steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Discarded(());

/// The error of a join if the fiber had begun and not ended when its runtime was shut down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abandoned(());

impl fmt::Display for Discarded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the fiber was discarded before it began, or between two of its steps: its runtime was shut down"
        )
    }
}

impl Error for Discarded {}

impl fmt::Display for Abandoned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the fiber had begun and not ended when its runtime was shut down: it stays as it was, for ever"
        )
    }
}

impl Error for Abandoned {}

/// Returns the payload for the join of a fiber that has not ended.
pub(super) fn payload(unended: Unended) -> Box<dyn Any + Send> {
    match unended {
        Unended::Discarded => Box::new(Discarded(())),
        Unended::Abandoned => Box::new(Abandoned(())),
    }
}
