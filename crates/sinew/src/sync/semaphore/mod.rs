//! A number of permits, to be had by those who ask, in the order in which they ask.
//!
//! All is under the lock of the queue: what a permit costs is that of a word. Whoever gives permits back, or gives up waiting, serves those
//! who wait, from the first one on, each with all that it asked for, until the first one asks for more than there is. So nothing is ever set
//! aside for one who waits, and one who gives up has nothing to return. What holds whenever the lock is free: the first one asks for more than
//! there is, or has given up and is about to serve the others.

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

/// Permits that are had by at most so many at a time, for fibers and threads alike.
///
/// A permit is given back when its [guard](SemaphorePermit) is dropped. It may be handed to another
/// fiber or thread; and one that is forgotten is one less, until [`release`](Self::release) makes
/// one more. With one permit, this is a binary semaphore: a lock that need not be released by the
/// fiber that took it.
///
/// Those who wait are served in the order in which they came, each with all that it asks for. Nobody overtakes: if the first one waits for more
/// than there is, whoever comes later waits too, even for less, so that a big batch is not starved by small ones.
///
/// It has the names of tokio's, where that has them, and the timed forms of C++'s
/// `counting_semaphore`. [`acquire_owned`](Self::acquire_owned) and its variants return permits
/// that own their semaphore. A semaphore can be [closed](Self::close), which ends all waits for its
/// permits.
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

// No code of the user's runs while it is changed.
impl_unwind_safe!(Semaphore);

impl Semaphore {
    /// The most permits that there may be, those included that somebody has.
    pub const MAX_PERMITS: usize = usize::MAX >> 3;

    /// One with so many permits.
    ///
    /// # Panics
    ///
    /// If they are more than [`MAX_PERMITS`](Self::MAX_PERMITS).
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
    /// If the semaphore is closed, even if there are permits.
    ///
    /// # Panics
    ///
    /// If the caller would have to wait, and is inside [`no_suspend`](crate::fiber::no_suspend).
    #[inline]
    pub fn acquire(&self) -> Result<SemaphorePermit<'_>, AcquireError> {
        self.acquire_many(1)
    }

    /// Waits for this number of permits, and takes them all at once. Asking for 0 permits succeeds
    /// at once.
    ///
    /// # Errors
    ///
    /// As [`acquire`](Self::acquire).
    ///
    /// # Panics
    ///
    /// As [`acquire`](Self::acquire), and if more are asked for than there can be.
    #[track_caller]
    pub fn acquire_many(&self, permits: usize) -> Result<SemaphorePermit<'_>, AcquireError> {
        self.acquire_within(permits, Limit::NEVER).map_err(|_| AcquireError::new())
    }

    /// A permit, if there is one and nobody waits for it.
    ///
    /// # Errors
    ///
    /// If there is none for the caller, or the semaphore is closed.
    #[inline]
    pub fn try_acquire(&self) -> Result<SemaphorePermit<'_>, TryAcquireError> {
        self.try_acquire_many(1)
    }

    /// So many permits, if there are as many and nobody waits.
    ///
    /// # Errors
    ///
    /// As [`try_acquire`](Self::try_acquire).
    ///
    /// # Panics
    ///
    /// If more are asked for than there can be.
    #[track_caller]
    pub fn try_acquire_many(&self, permits: usize) -> Result<SemaphorePermit<'_>, TryAcquireError> {
        self.try_take(permits)?;
        Ok(SemaphorePermit::new(self, permits))
    }

    /// [`acquire`](Self::acquire), for at most so long.
    ///
    /// # Errors
    ///
    /// As [`try_acquire`](Self::try_acquire), if there is none for the caller in that time.
    pub fn try_acquire_for(&self, time: Duration) -> Result<SemaphorePermit<'_>, TryAcquireError> {
        self.try_acquire_many_for(1, time)
    }

    /// [`acquire`](Self::acquire), until this moment at the latest.
    ///
    /// # Errors
    ///
    /// As [`try_acquire_for`](Self::try_acquire_for).
    pub fn try_acquire_until(&self, deadline: Instant) -> Result<SemaphorePermit<'_>, TryAcquireError> {
        self.try_acquire_many_until(1, deadline)
    }

    /// [`acquire_many`](Self::acquire_many), for at most so long.
    ///
    /// # Errors
    ///
    /// As [`try_acquire_for`](Self::try_acquire_for).
    ///
    /// # Panics
    ///
    /// As [`acquire_many`](Self::acquire_many).
    #[track_caller]
    pub fn try_acquire_many_for(
        &self,
        permits: usize,
        time: Duration,
    ) -> Result<SemaphorePermit<'_>, TryAcquireError> {
        Ok(self.acquire_within(permits, Limit::lasting(time))?)
    }

    /// [`acquire_many`](Self::acquire_many), until this moment at the latest.
    ///
    /// # Errors
    ///
    /// As [`try_acquire_for`](Self::try_acquire_for).
    ///
    /// # Panics
    ///
    /// As [`acquire_many`](Self::acquire_many).
    #[track_caller]
    pub fn try_acquire_many_until(
        &self,
        permits: usize,
        deadline: Instant,
    ) -> Result<SemaphorePermit<'_>, TryAcquireError> {
        Ok(self.acquire_within(permits, Limit::until(Some(deadline)))?)
    }

    /// [`acquire`](Self::acquire), where [cancellation and deadlines](crate::fiber#stopping) count.
    ///
    /// ```
    /// use sinew::sync::Semaphore;
    /// use sinew::time;
    /// use std::time::Duration;
    ///
    /// let semaphore = Semaphore::new(0);
    /// let stopped = time::timeout(Duration::from_millis(1), || semaphore.acquire_cancellable().map(|_| ()));
    /// assert!(stopped.unwrap_err().is_timed_out());
    /// ```
    ///
    /// # Errors
    ///
    /// If the caller is to stop before it has a permit and would have to wait. Inside, as [`acquire`](Self::acquire).
    #[track_caller]
    pub fn acquire_cancellable(&self) -> Result<Result<SemaphorePermit<'_>, AcquireError>, Stopped> {
        self.acquire_many_cancellable(1)
    }

    /// [`acquire_many`](Self::acquire_many), where [cancellation and deadlines](crate::fiber#stopping) count.
    ///
    /// # Errors
    ///
    /// As [`acquire_cancellable`](Self::acquire_cancellable).
    ///
    /// # Panics
    ///
    /// As [`acquire_many`](Self::acquire_many).
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
            // One that is asked again was the first when it was taken for one that had given up.
            let is_first = queue.is_empty() || std::mem::replace(&mut is_again, true);
            answer = queue.ask(permits, is_first);
            (answer == Answer::Wait).then_some(Place::Back)
        });
        match outcome {
            Outcome::NotNeeded => Ok(answer),
            Outcome::Woken if want.is_refused.get() => Ok(Answer::Closed),
            Outcome::Woken => Ok(Answer::Granted),
            Outcome::TimedOut | Outcome::Stopped(_) => {
                // Those behind it may ask for less.
                self.serve(self.queue.lock());
                outcome.into_result().map(|()| Answer::Granted)
            }
        }
    }

    /// So many more permits: what was acquired and [forgotten](SemaphorePermit::forget) is given back by this, too. The name that
    /// C++ has for [`add_permits`](Self::add_permits).
    ///
    /// # Panics
    ///
    /// If there would be more than [`MAX_PERMITS`](Self::MAX_PERMITS). Nothing has changed then.
    pub fn release(&self, permits: usize) {
        self.add_permits(permits);
    }

    /// So many more permits.
    ///
    /// # Panics
    ///
    /// If there would be more than [`MAX_PERMITS`](Self::MAX_PERMITS), with those that somebody has. Nothing has changed then.
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

    /// Gives back what a guard has.
    pub(super) fn give_back(&self, permits: usize) {
        let mut queue = self.queue.lock();
        queue.available += permits;
        self.serve(queue);
    }

    /// What a guard has is no more.
    pub(super) fn write_off(&self, permits: usize) {
        self.queue.lock().total -= permits;
    }

    /// So many permits less, or all that nobody has, if they are fewer. Returns how many.
    pub fn forget_permits(&self, permits: usize) -> usize {
        let mut queue = self.queue.lock();
        let gone = permits.min(queue.available);
        queue.available -= gone;
        queue.total -= gone;
        gone
    }

    /// How many permits nobody has. It may be out of date when the caller sees it.
    #[must_use]
    pub fn available_permits(&self) -> usize {
        self.queue.lock().available
    }

    /// Has all who wait, and all who ask from now on, hear that it is closed. Permits that somebody has stay so.
    pub fn close(&self) {
        self.queue.lock().is_closed = true;
        self.queue.wake_all(|want| want.is_refused.set(true));
    }

    /// Whether it was closed.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.queue.lock().is_closed
    }

    /// Has those go on who are first and can be served.
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
    /// One without permits.
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
