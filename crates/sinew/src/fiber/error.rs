//! The errors of fibers that were not spawned, or have no result.

use std::error::Error;
use std::{fmt, io};

use sinew_coroutine::LARGEST_CLASS;

pub use crate::launch::{Abandoned, Discarded};
use crate::rt::{Reason, SpawnRefused, impl_debug};

/// The error of a fiber that was not spawned. It contains the body.
pub struct SpawnError<F> {
    refused: SpawnRefused<F>,
}

impl<F> SpawnError<F> {
    pub(crate) fn new(refused: SpawnRefused<F>) -> Self {
        Self { refused }
    }

    /// Returns the body, which was not called.
    pub fn into_inner(self) -> F {
        self.refused.body
    }

    /// Returns whether the runtime has reached its [limit of
    /// fibers](crate::RuntimeBuilder::max_fibers).
    #[must_use]
    pub fn is_limit(&self) -> bool {
        matches!(self.refused.reason, Reason::Limit(_))
    }
}

impl<F> fmt::Display for SpawnError<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.refused.reason {
            Reason::Closed => write!(f, "no new fibers: the runtime was shut down, or is shutting down"),
            Reason::Limit(most) => {
                write!(
                    f,
                    "no new fibers: the runtime has reached its limit of {most}; join some, or raise `max_fibers`"
                )
            }
            Reason::NoWorker => {
                write!(
                    f,
                    "only a fiber can spawn a local fiber, and this is a plain thread: call it inside `sinew::run`"
                )
            }
            Reason::NoGroup(group, groups) => {
                write!(f, "there is no group {group}: the runtime has {groups}, numbered from 0")
            }
            Reason::StackSize(size) => {
                write!(f, "a stack of {size} bytes is too large: the largest has {LARGEST_CLASS} bytes")
            }
        }
    }
}

impl_debug!(SpawnError<F>, |error| { reason: error.refused.reason, .. });

impl<F> Error for SpawnError<F> {}

impl<F> From<SpawnError<F>> for io::Error {
    fn from(error: SpawnError<F>) -> Self {
        let kind = match error.refused.reason {
            Reason::Limit(_) => io::ErrorKind::QuotaExceeded,
            Reason::StackSize(_) | Reason::NoGroup(..) => io::ErrorKind::InvalidInput,
            Reason::Closed | Reason::NoWorker => io::ErrorKind::Other,
        };
        Self::new(kind, error.to_string())
    }
}
