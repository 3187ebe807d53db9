//! A condition variable, with the names of [`std::sync::Condvar`].

use std::panic::Location;
use std::sync::{LockResult, PoisonError};
use std::time::{Duration, Instant};

use super::mutex::MutexGuard;
use super::poison;
use crate::fiber::Stopped;
use crate::raw::RawCondvar;
use crate::rt::{self, Limit, Outcome, impl_debug, impl_unwind_safe};

/// Says whether a timed wait on a [`Condvar`] timed out. The counterpart of
/// [`std::sync::WaitTimeoutResult`], which only std can construct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// Returns whether the wait timed out.
    #[must_use]
    pub fn timed_out(&self) -> bool {
        self.0
    }
}

/// A condition variable, for fibers and threads. A wait releases a [`Mutex`](super::Mutex) and
/// acquires it again.
///
/// It has all methods of [`std::sync::Condvar`], with the same names. Differences from std:
///
/// - [Cancellation and deadlines](crate::fiber#stopping) end a
///   [`wait_cancellable`](Self::wait_cancellable).
/// - A condition variable that is used with several mutexes never panics.
///
/// Waiters are woken in the order in which they came.
///
/// ```
/// use sinew::fiber;
/// use sinew::sync::{Condvar, Mutex};
/// use std::sync::Arc;
///
/// let pair = Arc::new((Mutex::new(false), Condvar::new()));
/// let copy = pair.clone();
/// fiber::spawn(move || {
///     *copy.0.lock().unwrap() = true;
///     copy.1.notify_one();
/// });
/// let is_set = pair.1.wait_while(pair.0.lock().unwrap(), |is_set| !*is_set).unwrap();
/// assert!(*is_set);
/// ```
pub struct Condvar {
    raw: RawCondvar,
}

impl Condvar {
    /// Creates a condition variable without waiters.
    #[inline]
    #[must_use]
    pub const fn new() -> Self {
        Self { raw: RawCondvar::new() }
    }

    /// Releases the mutex, waits for a notification, and acquires the mutex again. Spurious
    /// wake-ups are possible.
    ///
    /// # Errors
    ///
    /// Returns an error if the mutex is poisoned when it is acquired again. The guard is in the
    /// error.
    ///
    /// # Panics
    ///
    /// Panics if the caller is inside [`no_suspend`](crate::fiber::no_suspend).
    pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        self.wait_to(&guard, Limit::NEVER);
        check(guard)
    }

    /// Waits while `condition` returns `true` for the value.
    ///
    /// ```
    /// use sinew::fiber;
    /// use sinew::sync::{Condvar, Mutex};
    ///
    /// static IS_READY: Mutex<bool> = Mutex::new(false);
    /// static CHANGED: Condvar = Condvar::new();
    ///
    /// fiber::spawn(|| {
    ///     *IS_READY.lock().unwrap() = true;
    ///     CHANGED.notify_one();
    /// });
    /// let guard = IS_READY.lock().unwrap();
    /// let guard = CHANGED.wait_while(guard, |is_ready| !*is_ready).unwrap();
    /// assert!(*guard);
    /// ```
    ///
    /// # Errors
    ///
    /// Fails as [`wait`](Self::wait) does.
    pub fn wait_while<'a, T, F>(
        &self,
        mut guard: MutexGuard<'a, T>,
        mut condition: F,
    ) -> LockResult<MutexGuard<'a, T>>
    where
        F: FnMut(&mut T) -> bool,
    {
        while condition(&mut guard) {
            guard = self.wait(guard)?;
        }
        Ok(guard)
    }

    /// Waits as [`wait`](Self::wait) does, but at most for `time`.
    ///
    /// # Errors
    ///
    /// Fails as [`wait`](Self::wait) does.
    pub fn wait_timeout<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        time: Duration,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        // If the sum exceeds the range of the clock, the wait has no time limit.
        self.wait_until(guard, rt::now().checked_add(time))
    }

    /// Waits as [`wait_timeout`](Self::wait_timeout) does, for a number of milliseconds. Returns
    /// whether the wait ended before the timeout.
    ///
    /// # Errors
    ///
    /// Fails as [`wait`](Self::wait) does.
    #[deprecated(note = "as std's is: use `wait_timeout`")]
    pub fn wait_timeout_ms<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        milliseconds: u32,
    ) -> LockResult<(MutexGuard<'a, T>, bool)> {
        let result = self.wait_timeout(guard, Duration::from_millis(u64::from(milliseconds)));
        poison::map(result, |(guard, outcome)| (guard, !outcome.timed_out()))
    }

    /// Waits as [`wait_while`](Self::wait_while) does, but at most for `time`. The result says
    /// whether the wait timed out.
    ///
    /// ```
    /// use sinew::sync::{Condvar, Mutex};
    /// use std::time::Duration;
    ///
    /// let (queue, changed) = (Mutex::new(Vec::<u32>::new()), Condvar::new());
    /// let guard = queue.lock().unwrap();
    /// let time = Duration::from_millis(1);
    /// let is_empty = |queue: &mut Vec<u32>| queue.is_empty();
    /// let (_guard, result) = changed.wait_timeout_while(guard, time, is_empty).unwrap();
    /// assert!(result.timed_out());
    /// ```
    ///
    /// # Errors
    ///
    /// Fails as [`wait`](Self::wait) does.
    pub fn wait_timeout_while<'a, T, F>(
        &self,
        mut guard: MutexGuard<'a, T>,
        time: Duration,
        mut condition: F,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)>
    where
        F: FnMut(&mut T) -> bool,
    {
        let until = rt::now().checked_add(time);
        loop {
            if !condition(&mut guard) {
                return Ok((guard, WaitTimeoutResult(false)));
            }
            if until.is_some_and(|until| until <= rt::now()) {
                return Ok((guard, WaitTimeoutResult(true)));
            }
            guard = self.wait_until(guard, until)?.0;
        }
    }

    fn wait_until<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        until: Option<Instant>,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        let outcome = self.wait_to(&guard, Limit::until(until));
        let result = WaitTimeoutResult(matches!(outcome, Outcome::TimedOut));
        poison::map(check(guard), |guard| (guard, result))
    }

    /// Waits as [`wait`](Self::wait) does, but [cancellation and deadlines](crate::fiber#stopping)
    /// end the wait. The guard is returned in all cases.
    ///
    /// ```
    /// use sinew::sync::{Condvar, Mutex};
    /// use sinew::time;
    /// use std::time::Duration;
    ///
    /// let (mutex, condvar) = (Mutex::new(5), Condvar::new());
    /// let (guard, outcome) = time::timeout(Duration::from_millis(1), || {
    ///     condvar.wait_cancellable(mutex.lock().unwrap()).unwrap()
    /// });
    /// assert!(outcome.unwrap_err().is_timed_out());
    /// assert_eq!(*guard, 5);
    /// ```
    ///
    /// # Errors
    ///
    /// Fails as [`wait`](Self::wait) does. The inner result is an error if the caller is stopped.
    #[track_caller]
    pub fn wait_cancellable<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
    ) -> LockResult<(MutexGuard<'a, T>, Result<(), Stopped>)> {
        let outcome = match self.wait_to(&guard, Limit::STOP) {
            Outcome::Stopped(stop) => Err(Stopped::new(stop, Location::caller())),
            _ => Ok(()),
        };
        poison::map(check(guard), |guard| (guard, outcome))
    }

    fn wait_to<T>(&self, guard: &MutexGuard<'_, T>, limit: Limit) -> Outcome {
        self.raw.wait(&guard.mutex().raw, limit)
    }

    /// Wakes one waiter, if there is one.
    #[inline]
    pub fn notify_one(&self) {
        self.raw.notify_one();
    }

    /// Wakes all current waiters.
    #[inline]
    pub fn notify_all(&self) {
        self.raw.notify_all();
    }
}

/// Wraps the guard after a wait in a result: the mutex may have been poisoned during the wait.
fn check<'a, T>(guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
    if guard.mutex().is_poisoned() { Err(PoisonError::new(guard)) } else { Ok(guard) }
}

// It has no state that a panic could break.
impl_unwind_safe!(Condvar);

impl Default for Condvar {
    fn default() -> Self {
        Self::new()
    }
}

impl_debug!(Condvar, ..);
