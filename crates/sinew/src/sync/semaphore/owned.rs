//! Acquiring permits that own their semaphore: the calls of [`Semaphore`] on an [`Arc`] of it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::{AcquireError, NotAcquired, OwnedSemaphorePermit, Semaphore, TryAcquireError};
use crate::fiber::Stopped;
use crate::limited::unless_stopped;
use crate::rt::Limit;

/// Permits that own their semaphore, for callers that cannot borrow it. Each method does what the
/// method without `owned` in its name does.
impl Semaphore {
    /// Waits for a permit that owns the semaphore. Otherwise as [`acquire`](Self::acquire).
    ///
    /// ```
    /// use sinew::fiber;
    /// use sinew::sync::Semaphore;
    /// use std::sync::Arc;
    ///
    /// let semaphore = Arc::new(Semaphore::new(1));
    /// let permit = semaphore.clone().acquire_owned().unwrap();
    /// fiber::spawn(move || drop(permit)).join().unwrap();
    /// assert_eq!(semaphore.available_permits(), 1);
    /// ```
    ///
    /// # Errors
    ///
    /// Fails as [`acquire`](Self::acquire) does.
    ///
    /// # Panics
    ///
    /// Panics as [`acquire`](Self::acquire) does.
    pub fn acquire_owned(self: Arc<Self>) -> Result<OwnedSemaphorePermit, AcquireError> {
        self.acquire_many_owned(1)
    }

    /// Waits for several permits at once. Otherwise as [`acquire_many`](Self::acquire_many).
    ///
    /// # Errors
    ///
    /// Fails as [`acquire`](Self::acquire) does.
    ///
    /// # Panics
    ///
    /// Panics as [`acquire_many`](Self::acquire_many) does.
    #[track_caller]
    pub fn acquire_many_owned(self: Arc<Self>, permits: usize) -> Result<OwnedSemaphorePermit, AcquireError> {
        self.acquire_owned_within(permits, Limit::NEVER).map_err(|_| AcquireError::new())
    }

    /// Takes a permit if one is available and no caller waits for it. Otherwise as
    /// [`try_acquire`](Self::try_acquire).
    ///
    /// ```
    /// use sinew::sync::{Semaphore, TryAcquireError};
    /// use std::sync::Arc;
    ///
    /// let semaphore = Arc::new(Semaphore::new(1));
    /// let permit = semaphore.clone().try_acquire_owned().unwrap();
    /// assert_eq!(semaphore.try_acquire_owned().unwrap_err(), TryAcquireError::NoPermits);
    /// # drop(permit);
    /// ```
    ///
    /// # Errors
    ///
    /// Fails as [`try_acquire`](Self::try_acquire) does.
    pub fn try_acquire_owned(self: Arc<Self>) -> Result<OwnedSemaphorePermit, TryAcquireError> {
        self.try_acquire_many_owned(1)
    }

    /// Takes several permits if they are available and no caller waits. Otherwise as
    /// [`try_acquire_many`](Self::try_acquire_many).
    ///
    /// # Errors
    ///
    /// Fails as [`try_acquire`](Self::try_acquire) does.
    ///
    /// # Panics
    ///
    /// Panics as [`try_acquire_many`](Self::try_acquire_many) does.
    #[track_caller]
    pub fn try_acquire_many_owned(
        self: Arc<Self>,
        permits: usize,
    ) -> Result<OwnedSemaphorePermit, TryAcquireError> {
        self.try_take(permits)?;
        Ok(OwnedSemaphorePermit::new(self, permits))
    }

    /// [`acquire_owned`](Self::acquire_owned) with a time limit.
    ///
    /// # Errors
    ///
    /// Fails as [`try_acquire_for`](Self::try_acquire_for) does.
    pub fn try_acquire_owned_for(
        self: Arc<Self>,
        time: Duration,
    ) -> Result<OwnedSemaphorePermit, TryAcquireError> {
        self.try_acquire_many_owned_for(1, time)
    }

    /// [`acquire_owned`](Self::acquire_owned) with a deadline.
    ///
    /// # Errors
    ///
    /// Fails as [`try_acquire_for`](Self::try_acquire_for) does.
    pub fn try_acquire_owned_until(
        self: Arc<Self>,
        deadline: Instant,
    ) -> Result<OwnedSemaphorePermit, TryAcquireError> {
        self.try_acquire_many_owned_until(1, deadline)
    }

    /// [`acquire_many_owned`](Self::acquire_many_owned) with a time limit.
    ///
    /// # Errors
    ///
    /// Fails as [`try_acquire_for`](Self::try_acquire_for) does.
    ///
    /// # Panics
    ///
    /// Panics as [`acquire_many`](Self::acquire_many) does.
    #[track_caller]
    pub fn try_acquire_many_owned_for(
        self: Arc<Self>,
        permits: usize,
        time: Duration,
    ) -> Result<OwnedSemaphorePermit, TryAcquireError> {
        Ok(self.acquire_owned_within(permits, Limit::lasting(time))?)
    }

    /// [`acquire_many_owned`](Self::acquire_many_owned) with a deadline.
    ///
    /// # Errors
    ///
    /// Fails as [`try_acquire_for`](Self::try_acquire_for) does.
    ///
    /// # Panics
    ///
    /// Panics as [`acquire_many`](Self::acquire_many) does.
    #[track_caller]
    pub fn try_acquire_many_owned_until(
        self: Arc<Self>,
        permits: usize,
        deadline: Instant,
    ) -> Result<OwnedSemaphorePermit, TryAcquireError> {
        Ok(self.acquire_owned_within(permits, Limit::until(Some(deadline)))?)
    }

    /// [`acquire_owned`](Self::acquire_owned) that
    /// [cancellation and deadlines](crate::fiber#stopping) end.
    ///
    /// # Errors
    ///
    /// Fails as [`acquire_cancellable`](Self::acquire_cancellable) does.
    #[track_caller]
    pub fn acquire_owned_cancellable(
        self: Arc<Self>,
    ) -> Result<Result<OwnedSemaphorePermit, AcquireError>, Stopped> {
        self.acquire_many_owned_cancellable(1)
    }

    /// [`acquire_many_owned`](Self::acquire_many_owned) that
    /// [cancellation and deadlines](crate::fiber#stopping) end.
    ///
    /// # Errors
    ///
    /// Fails as [`acquire_cancellable`](Self::acquire_cancellable) does.
    ///
    /// # Panics
    ///
    /// Panics as [`acquire_many`](Self::acquire_many) does.
    #[track_caller]
    pub fn acquire_many_owned_cancellable(
        self: Arc<Self>,
        permits: usize,
    ) -> Result<Result<OwnedSemaphorePermit, AcquireError>, Stopped> {
        unless_stopped(NotAcquired::or_gave_up(self.acquire_owned_within(permits, Limit::STOP)))
    }

    fn acquire_owned_within(
        self: Arc<Self>,
        permits: usize,
        limit: Limit,
    ) -> Result<OwnedSemaphorePermit, NotAcquired> {
        self.take_within(permits, limit)?;
        Ok(OwnedSemaphorePermit::new(self, permits))
    }
}
