//! Waiting for a condition under a mutex, with the names of [`std::sync::Condvar`].

use std::panic::Location;
use std::sync::{LockResult, PoisonError};
use std::time::{Duration, Instant};

use super::mutex::MutexGuard;
use super::poison;
use crate::fiber::Stopped;
use crate::raw::RawCondvar;
use crate::rt::{self, Limit, Outcome, impl_debug, impl_unwind_safe};

/// Whether a timed wait on a [`Condvar`] ended because its time was over. The twin of [`std::sync::WaitTimeoutResult`], which nobody
/// but std can make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// Whether it did.
    #[must_use]
    pub fn timed_out(&self) -> bool {
        self.0
    }
}

/// A condition to wait for while a [`Mutex`](super::Mutex) is given back, for fibers and threads alike.
///
/// It has all that [`std::sync::Condvar`] has, with the same names. What is different:
///
/// - Waits that [cancellation and deadlines](crate::fiber#stopping) end: [`wait_cancellable`](Self::wait_cancellable).
/// - One that is used with several mutexes never panics.
///
/// Those who wait are woken in the order in which they came.
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
    /// One that nobody waits for.
    #[inline]
    #[must_use]
    pub const fn new() -> Self {
        Self { raw: RawCondvar::new() }
    }

    /// Gives the mutex back, waits to be notified, and takes it again. May return for no reason.
    ///
    /// # Errors
    ///
    /// If the mutex is poisoned when it is taken again. The guard is in the error.
    ///
    /// # Panics
    ///
    /// If the caller is inside [`no_suspend`](crate::fiber::no_suspend).
    pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        self.wait_to(&guard, Limit::NEVER);
        check(guard)
    }

    /// Waits for as long as this is true of the value.
    ///
    /// # Errors
    ///
    /// As [`wait`](Self::wait).
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

    /// [`wait`](Self::wait), for at most so long.
    ///
    /// # Errors
    ///
    /// As [`wait`](Self::wait).
    pub fn wait_timeout<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        time: Duration,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        // A moment beyond the clock's end never comes.
        self.wait_until(guard, rt::now().checked_add(time))
    }

    /// The same, in milliseconds; whether it was notified.
    ///
    /// # Errors
    ///
    /// As [`wait`](Self::wait).
    #[deprecated(note = "as std's is: use `wait_timeout`")]
    pub fn wait_timeout_ms<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        milliseconds: u32,
    ) -> LockResult<(MutexGuard<'a, T>, bool)> {
        let result = self.wait_timeout(guard, Duration::from_millis(u64::from(milliseconds)));
        poison::map(result, |(guard, outcome)| (guard, !outcome.timed_out()))
    }

    /// [`wait_while`](Self::wait_while), for at most so long: if that was not enough, the result says so.
    ///
    /// # Errors
    ///
    /// As [`wait`](Self::wait).
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

    /// [`wait`](Self::wait), where [cancellation and deadlines](crate::fiber#stopping) count: the guard comes back in any case.
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
    /// As [`wait`](Self::wait). Inside, if the caller is to stop.
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

    /// Wakes one of those who wait, if there are any.
    #[inline]
    pub fn notify_one(&self) {
        self.raw.notify_one();
    }

    /// Wakes all who wait now.
    #[inline]
    pub fn notify_all(&self) {
        self.raw.notify_all();
    }
}

/// The guard after a wait: somebody may have panicked meanwhile.
fn check<'a, T>(guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
    if guard.mutex().is_poisoned() { Err(PoisonError::new(guard)) } else { Ok(guard) }
}

// It has nothing that a panic could break.
impl_unwind_safe!(Condvar);

impl Default for Condvar {
    fn default() -> Self {
        Self::new()
    }
}

impl_debug!(Condvar, ..);
