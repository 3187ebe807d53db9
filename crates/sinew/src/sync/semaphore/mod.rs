//! A semaphore: a number of permits that callers acquire in the order in which they ask.
//!
//! Everything happens under the lock of the wait queue. A caller that releases permits or gives up
//! waiting serves the waiters in order, each with all its permits, until the first one wants more
//! than are available. No permits are reserved, so a waiter that gives up has none to return.
//! Invariant when the lock is free: the first waiter wants more permits than are available, or has
//! given up and is about to serve the others.

mod error;
mod owned;
mod permit;
mod permits;

use error::NotAcquired;
pub use error::{AcquireError, TryAcquireError};
pub use permit::{OwnedSemaphorePermit, SemaphorePermit};

use std::cell::Cell;
use std::fmt;
use std::time::{Duration, Instant};

use self::permits::{Answer, Permits, Want};
use crate::fiber::Stopped;
use crate::limited::unless_stopped;
use crate::rt::{
    self, GaveUp, Limit, Locked, Outcome, Place, Queue, WaitKind, Wakes, impl_unwind_safe, pick,
};

/// A counting semaphore, for fibers and threads.
///
/// A permit is released when its [guard](SemaphorePermit) is dropped, which another fiber may do.
/// Forgetting the guard removes the permit, until [`release`](Self::release) adds one. With one
/// permit, this is a binary semaphore: a lock that one fiber may release after another acquired it.
///
/// Waiters are served in the order in which they came, each with all permits that it wants. There
/// is no overtaking: while the first waiter wants more permits than are available, all later
/// callers wait too, even for fewer. So small requests do not starve a large one.
///
/// It has the names of tokio's `Semaphore`, and the timed forms of C++'s `counting_semaphore`.
/// [`acquire_owned`](Self::acquire_owned) and its variants return permits that own their semaphore.
/// A semaphore can be [closed](Self::close), which ends all waits for its permits.
///
/// ```
/// use sinew::fiber;
/// use sinew::sync::Semaphore;
///
/// static CONNECTIONS: Semaphore = Semaphore::new(3);
///
/// let users = (0..10).map(|_| {
///     fiber::spawn(|| {
///         let _permit = CONNECTIONS.acquire().unwrap();
///         fiber::yield_now();
///     })
/// });
/// users.collect::<Vec<_>>().into_iter().for_each(|user| user.join().unwrap());
/// assert_eq!(CONNECTIONS.available_permits(), 3);
/// ```
pub struct Semaphore {
    queue: Queue<Permits, Want>,
}

// No user code runs while it is changed, so a panic cannot leave it half changed.
impl_unwind_safe!(Semaphore);

impl Semaphore {
    /// The maximum number of permits, including those that are acquired.
    pub const MAX_PERMITS: usize = usize::MAX >> 3;

    /// Creates a semaphore with this number of permits.
    ///
    /// # Panics
    ///
    /// Panics if `permits` exceeds [`MAX_PERMITS`](Self::MAX_PERMITS).
    #[inline]
    #[must_use]
    pub const fn new(permits: usize) -> Self {
        assert!(permits <= Self::MAX_PERMITS, "{}", TOO_MANY);
        Self { queue: Queue::new(Permits { available: permits, total: permits, is_closed: false }) }
    }

    /// Waits for a permit.
    ///
    /// # Errors
    ///
    /// Returns an error if the semaphore is closed, even if permits are available.
    ///
    /// # Panics
    ///
    /// Panics if the caller would have to wait and is inside
    /// [`no_suspend`](crate::fiber::no_suspend).
    #[inline]
    pub fn acquire(&self) -> Result<SemaphorePermit<'_>, AcquireError> {
        self.acquire_many(1)
    }

    /// Waits for this number of permits, and takes them all at once. Asking for 0 permits succeeds
    /// at once.
    ///
    /// # Errors
    ///
    /// Fails as [`acquire`](Self::acquire) does.
    ///
    /// # Panics
    ///
    /// Panics as [`acquire`](Self::acquire) does, and if `permits` exceeds the maximum.
    #[track_caller]
    pub fn acquire_many(&self, permits: usize) -> Result<SemaphorePermit<'_>, AcquireError> {
        self.acquire_within(permits, Limit::NEVER).map_err(|_| AcquireError::new())
    }

    /// Acquires a permit if one is available and no caller waits. Never waits.
    ///
    /// # Errors
    ///
    /// Returns an error if no permit is available to the caller, or the semaphore is closed.
    #[inline]
    pub fn try_acquire(&self) -> Result<SemaphorePermit<'_>, TryAcquireError> {
        self.try_acquire_many(1)
    }

    /// Acquires this number of permits if they are available and no caller waits. Never waits.
    ///
    /// # Errors
    ///
    /// Fails as [`try_acquire`](Self::try_acquire) does.
    ///
    /// # Panics
    ///
    /// Panics if `permits` exceeds [`MAX_PERMITS`](Self::MAX_PERMITS).
    #[track_caller]
    pub fn try_acquire_many(&self, permits: usize) -> Result<SemaphorePermit<'_>, TryAcquireError> {
        self.try_take(permits)?;
        Ok(SemaphorePermit::new(self, permits))
    }

    /// Waits as [`acquire`](Self::acquire) does, but at most for `time`.
    ///
    /// # Errors
    ///
    /// Fails as [`try_acquire`](Self::try_acquire) does, if no permit is available to the caller in
    /// that time.
    pub fn try_acquire_for(&self, time: Duration) -> Result<SemaphorePermit<'_>, TryAcquireError> {
        self.try_acquire_many_for(1, time)
    }

    /// Waits as [`acquire`](Self::acquire) does, but until `deadline` at the latest.
    ///
    /// # Errors
    ///
    /// Fails as [`try_acquire_for`](Self::try_acquire_for) does.
    pub fn try_acquire_until(&self, deadline: Instant) -> Result<SemaphorePermit<'_>, TryAcquireError> {
        self.try_acquire_many_until(1, deadline)
    }

    /// Waits as [`acquire_many`](Self::acquire_many) does, but at most for `time`.
    ///
    /// # Errors
    ///
    /// Fails as [`try_acquire_for`](Self::try_acquire_for) does.
    ///
    /// # Panics
    ///
    /// Panics as [`acquire_many`](Self::acquire_many) does.
    #[track_caller]
    pub fn try_acquire_many_for(
        &self,
        permits: usize,
        time: Duration,
    ) -> Result<SemaphorePermit<'_>, TryAcquireError> {
        Ok(self.acquire_within(permits, Limit::lasting(time))?)
    }

    /// Waits as [`acquire_many`](Self::acquire_many) does, but until `deadline` at the latest.
    ///
    /// # Errors
    ///
    /// Fails as [`try_acquire_for`](Self::try_acquire_for) does.
    ///
    /// # Panics
    ///
    /// Panics as [`acquire_many`](Self::acquire_many) does.
    #[track_caller]
    pub fn try_acquire_many_until(
        &self,
        permits: usize,
        deadline: Instant,
    ) -> Result<SemaphorePermit<'_>, TryAcquireError> {
        Ok(self.acquire_within(permits, Limit::until(Some(deadline)))?)
    }

    /// Waits for a permit until [cancellation or a deadline](crate::fiber#stopping) ends the wait.
    ///
    /// ```
    /// use sinew::sync::Semaphore;
    /// use sinew::time;
    /// use std::time::Duration;
    ///
    /// let semaphore = Semaphore::new(0);
    /// let wait = || semaphore.acquire_cancellable().map(|_| ());
    /// let stopped = time::timeout(Duration::from_millis(1), wait);
    /// assert!(stopped.unwrap_err().is_timed_out());
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the caller is stopped while it would have to wait. The inner result is
    /// that of [`acquire`](Self::acquire).
    #[track_caller]
    pub fn acquire_cancellable(&self) -> Result<Result<SemaphorePermit<'_>, AcquireError>, Stopped> {
        self.acquire_many_cancellable(1)
    }

    /// Waits for permits until [cancellation or a deadline](crate::fiber#stopping) ends the wait.
    ///
    /// # Errors
    ///
    /// Fails as [`acquire_cancellable`](Self::acquire_cancellable) does.
    ///
    /// # Panics
    ///
    /// Panics as [`acquire_many`](Self::acquire_many) does.
    #[track_caller]
    pub fn acquire_many_cancellable(
        &self,
        permits: usize,
    ) -> Result<Result<SemaphorePermit<'_>, AcquireError>, Stopped> {
        unless_stopped(NotAcquired::or_gave_up(self.acquire_within(permits, Limit::STOP)))
    }

    #[track_caller]
    fn ask(&self, permits: usize) -> Answer {
        assert!(permits <= Self::MAX_PERMITS, "{}", TOO_MANY);
        let mut queue = self.queue.lock();
        let is_first = queue.is_empty();
        queue.ask(permits, is_first)
    }

    #[track_caller]
    fn acquire_within(&self, permits: usize, limit: Limit) -> Result<SemaphorePermit<'_>, NotAcquired> {
        self.take_within(permits, limit)?;
        Ok(SemaphorePermit::new(self, permits))
    }

    /// Takes the permits if that is possible without waiting. The caller makes a guard of them.
    #[track_caller]
    fn try_take(&self, permits: usize) -> Result<(), TryAcquireError> {
        match self.ask(permits) {
            Answer::Granted => Ok(()),
            Answer::Closed => Err(TryAcquireError::Closed),
            Answer::Wait => Err(TryAcquireError::NoPermits),
        }
    }

    /// Waits for the permits and takes them. The caller makes a guard of them.
    #[track_caller]
    fn take_within(&self, permits: usize, limit: Limit) -> Result<(), NotAcquired> {
        rt::spend(1);
        let answer = match self.ask(permits) {
            Answer::Wait => self.wait(permits, limit).map_err(NotAcquired::GaveUp)?,
            answer => answer,
        };
        match answer {
            Answer::Granted => Ok(()),
            _ => Err(NotAcquired::Closed),
        }
    }

    #[cold]
    fn wait(&self, permits: usize, limit: Limit) -> Result<Answer, GaveUp> {
        let (mut answer, mut is_again) = (Answer::Wait, false);
        let want = Want { permits, is_refused: Cell::new(false) };
        let (outcome, want) = self.queue.wait(WaitKind::Semaphore, want, limit, |queue, _| {
            // Runs again only after a failed claim, for which this waiter was the first.
            let is_first = queue.is_empty() || std::mem::replace(&mut is_again, true);
            answer = queue.ask(permits, is_first);
            (answer == Answer::Wait).then_some(Place::Back)
        });
        match outcome {
            Outcome::NotNeeded => Ok(answer),
            Outcome::Woken if want.is_refused.get() => Ok(Answer::Closed),
            Outcome::Woken => Ok(Answer::Granted),
            Outcome::TimedOut | Outcome::Stopped(_) => {
                // The waiters behind it may want fewer permits.
                self.serve(self.queue.lock());
                outcome.into_result().map(|()| Answer::Granted)
            }
        }
    }

    /// Adds permits, which also restores [forgotten](SemaphorePermit::forget) ones. This is C++'s
    /// name for [`add_permits`](Self::add_permits).
    ///
    /// # Panics
    ///
    /// Panics as [`add_permits`](Self::add_permits) does.
    pub fn release(&self, permits: usize) {
        self.add_permits(permits);
    }

    /// Adds permits.
    ///
    /// # Panics
    ///
    /// Panics if there would be more than [`MAX_PERMITS`](Self::MAX_PERMITS). Nothing changes then.
    pub fn add_permits(&self, permits: usize) {
        let mut queue = self.queue.lock();
        let total = queue.total.checked_add(permits).filter(|total| *total <= Self::MAX_PERMITS);
        let Some(total) = total else {
            drop(queue);
            panic!("{}", TOO_MANY);
        };
        queue.total = total;
        queue.available += permits;
        self.serve(queue);
    }

    /// Releases the permits of a guard.
    pub(super) fn give_back(&self, permits: usize) {
        let mut queue = self.queue.lock();
        queue.available += permits;
        self.serve(queue);
    }

    /// Removes the permits of a guard.
    pub(super) fn write_off(&self, permits: usize) {
        self.queue.lock().total -= permits;
    }

    /// Removes up to this number of available permits. Returns how many it removed.
    pub fn forget_permits(&self, permits: usize) -> usize {
        let mut queue = self.queue.lock();
        let gone = permits.min(queue.available);
        queue.available -= gone;
        queue.total -= gone;
        gone
    }

    /// Returns the number of available permits, which may be out of date when the caller sees it.
    #[must_use]
    pub fn available_permits(&self) -> usize {
        self.queue.lock().available
    }

    /// Closes the semaphore: current waiters and later callers get an error. Acquired permits stay
    /// valid.
    pub fn close(&self) {
        self.queue.lock().is_closed = true;
        self.queue.wake_all(|want| want.is_refused.set(true));
    }

    /// Returns whether the semaphore was closed.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.queue.lock().is_closed
    }

    /// Wakes the waiters at the front whose permits are available.
    fn serve<'a>(&'a self, mut queue: Locked<'a, Permits, Want>) {
        while let Some(mut permits) = queue.servable() {
            let mut wakes = Wakes::new();
            loop {
                if let Some(claimed) = queue.try_claim(pick::First, |_| (), |_| ()) {
                    queue.available -= permits;
                    wakes.add(claimed);
                }
                match queue.servable() {
                    Some(next) if !wakes.is_full() => permits = next,
                    _ => break,
                }
            }
            drop(queue);
            wakes.go();
            queue = self.queue.lock();
        }
    }
}

impl Default for Semaphore {
    /// Creates a semaphore without permits.
    fn default() -> Self {
        Self::new(0)
    }
}

impl fmt::Debug for Semaphore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (available, is_closed) = {
            let queue = self.queue.lock();
            (queue.available, queue.is_closed)
        };
        f.debug_struct("Semaphore")
            .field("available_permits", &available)
            .field("is_closed", &is_closed)
            .finish()
    }
}

const TOO_MANY: &str = "more permits than a semaphore can have: see `Semaphore::MAX_PERMITS`";
