//! The errors of a semaphore.

use crate::rt::{GaveUp, impl_error};

/// The [`Semaphore`](super::Semaphore) is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AcquireError(());

impl AcquireError {
    pub(super) fn new() -> Self {
        Self(())
    }
}

impl_error!(AcquireError, "the semaphore is closed");

/// The error of a caller that does not wait, or waits for a limited time, for permits of a
/// [`Semaphore`](super::Semaphore).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TryAcquireError {
    /// The semaphore is closed.
    Closed,
    /// Too few permits were available, or other callers wait for them.
    NoPermits,
}

impl_error!(TryAcquireError, |error| match error {
    TryAcquireError::Closed => "the semaphore is closed",
    TryAcquireError::NoPermits => "the semaphore has too few permits, or others wait for them",
});

impl From<NotAcquired> for TryAcquireError {
    fn from(refusal: NotAcquired) -> Self {
        match refusal {
            NotAcquired::Closed => Self::Closed,
            NotAcquired::GaveUp(_) => Self::NoPermits,
        }
    }
}

/// Why a caller got no permits.
pub(super) enum NotAcquired {
    Closed,
    GaveUp(GaveUp),
}

impl NotAcquired {
    /// Separates a closed semaphore from a wait that ended early.
    pub(super) fn or_gave_up<P>(acquired: Result<P, Self>) -> Result<Result<P, AcquireError>, GaveUp> {
        match acquired {
            Ok(permit) => Ok(Ok(permit)),
            Err(Self::Closed) => Ok(Err(AcquireError::new())),
            Err(Self::GaveUp(gave_up)) => Err(gave_up),
        }
    }
}
