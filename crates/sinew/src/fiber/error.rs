//! Why a fiber was not made, or did not run.

use std::error::Error;
use std::{fmt, io};

use sinew_coroutine::LARGEST_CLASS;

pub use crate::launch::{Abandoned, Discarded};
use crate::rt::{Reason, SpawnRefused, impl_debug};

/// Why a fiber was not made. Its body is in here.
pub struct SpawnError<F> {
    refused: SpawnRefused<F>,
}

impl<F> SpawnError<F> {
    pub(crate) fn new(refused: SpawnRefused<F>) -> Self {
        Self { refused }
    }

    /// The body, as it was.
    pub fn into_inner(self) -> F {
        self.refused.body
    }

    /// Whether the runtime has as many fibers as it may.
    #[must_use]
    pub fn is_limit(&self) -> bool {
        matches!(self.refused.reason, Reason::Limit(_))
    }
}

impl<F> fmt::Display for SpawnError<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.refused.reason {
            Reason::Closed => write!(f, "no new fibers: the runtime was shut down, or is about to be"),
            Reason::Limit(most) => {
                write!(
                    f,
                    "no new fibers: there are {most}, the most that the runtime was set to have; join some, or raise `max_fibers`"
                )
            }
            Reason::NoWorker => {
                write!(
                    f,
                    "a local fiber can only be made by a fiber, and this is a plain thread: go inside `sinew::run`"
                )
            }
            Reason::NoGroup(group, groups) => {
                write!(f, "there is no group {group}: the runtime has {groups}, numbered from 0")
            }
            Reason::StackSize(size) => {
                write!(f, "a stack of {size} bytes was asked for: the largest has {LARGEST_CLASS}")
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
