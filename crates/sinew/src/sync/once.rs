//! One-time initialisation, with the names and the poisoning of [`std::sync::Once`].

use std::time::Duration;

use crate::fiber::Stopped;
use crate::limited::{always, unless_stopped};
use crate::raw::{OnceBegun, OnceEnd, OnceFailure, OnceSeen, RawOnce};
use crate::rt::{GaveUp, Limit, impl_debug, impl_unwind_safe};

const POISONED: &str = "Once instance has previously been poisoned";

const REENTERED: &str = "`Once` re-entered: the closure of `call_once`, or the initialiser of a `OnceLock` or a `LazyLock`, \
     uses it again and would wait for itself: move that use out of the closure";

/// One-time initialisation, for fibers and threads. Callers that come while the closure runs wait
/// for its end; a fiber that waits leaves its worker to other fibers.
///
/// It has all methods of [`std::sync::Once`], with the same names and the same poisoning.
/// Differences from std:
///
/// - The closure may suspend, and migrates with its fiber.
/// - A closure that calls its own `Once` panics. With std's, it may also deadlock.
/// - There are waits with a limit: [`wait_timeout`](Self::wait_timeout) and
///   [`wait_cancellable`](Self::wait_cancellable).
///
/// ```
/// use sinew::fiber;
/// use sinew::sync::Once;
///
/// static START: Once = Once::new();
///
/// let starts = || START.call_once(|| println!("this is said once"));
/// let other = fiber::spawn(starts);
/// starts();
/// other.join().unwrap();
/// assert!(START.is_completed());
/// ```
pub struct Once {
    raw: RawOnce,
}

// A panic poisons it, so a half-done initialisation is not used unnoticed.
impl_unwind_safe!(Once);

/// The state that the closure of [`Once::call_once_force`] receives. As [`std::sync::OnceState`].
pub struct OnceState {
    is_poisoned: bool,
}

/// A `Once` that has not run, as std has it.
#[deprecated(note = "as std's is: use `Once::new()`")]
#[expect(clippy::declare_interior_mutable_const, reason = "a value to begin with, as std's is")]
pub const ONCE_INIT: Once = Once::new();

#[expect(clippy::new_without_default, reason = "std's has no default either")]
impl Once {
    /// Creates a `Once` that has not run.
    #[inline]
    #[must_use]
    pub const fn new() -> Self {
        Self { raw: RawOnce::new() }
    }

    /// Creates a `Once` that has already run.
    pub(super) const fn done() -> Self {
        Self { raw: RawOnce::done() }
    }

    /// Calls the closure if no closure has run yet. Waits if another caller's closure is running.
    /// When this returns, a closure has run, and the caller sees all its effects.
    ///
    /// # Panics
    ///
    /// Panics if the closure panics, which poisons the `Once`, and if it is already poisoned.
    /// Panics if its own closure calls this. Panics if the caller would have to wait and is inside
    /// [`no_suspend`](crate::fiber::no_suspend).
    #[inline]
    #[track_caller]
    pub fn call_once<F>(&self, f: F)
    where
        F: FnOnce(),
    {
        if !self.is_completed() {
            let mut f = Some(f);
            self.call(OnceFailure::Counts, &mut |_| once(&mut f)());
        }
    }

    /// Calls the closure as [`call_once`](Self::call_once) does, even if the `Once` is poisoned. If
    /// the closure returns, the `Once` is no longer poisoned.
    ///
    /// ```
    /// use sinew::sync::Once;
    /// use std::panic;
    ///
    /// let once = Once::new();
    /// let _ = panic::catch_unwind(|| once.call_once(|| panic::resume_unwind(Box::new("failed"))));
    /// once.call_once_force(|state| assert!(state.is_poisoned()));
    /// assert!(once.is_completed());
    /// ```
    ///
    /// # Panics
    ///
    /// Panics as [`call_once`](Self::call_once) does, except for earlier poison.
    #[inline]
    #[track_caller]
    pub fn call_once_force<F>(&self, f: F)
    where
        F: FnOnce(&OnceState),
    {
        if !self.is_completed() {
            let mut f = Some(f);
            self.call(OnceFailure::IsIgnored, &mut |state| once(&mut f)(state));
        }
    }

    #[cold]
    #[track_caller]
    fn call(&self, failure: OnceFailure, f: &mut dyn FnMut(&OnceState)) {
        match self.raw.begin(failure) {
            OnceBegun::Done => {}
            OnceBegun::Failed => panic!("{POISONED}"),
            OnceBegun::Reentered => panic!("{REENTERED}"),
            OnceBegun::Run { has_failed } => {
                let mut run = Run { raw: &self.raw, end: OnceEnd::Failed };
                f(&OnceState { is_poisoned: has_failed });
                run.end = OnceEnd::Done;
            }
        }
    }

    /// Returns whether a closure has run without a panic. If so, the caller sees all its effects.
    #[inline]
    #[must_use]
    pub fn is_completed(&self) -> bool {
        self.raw.is_done()
    }

    /// Waits until a closure has run.
    ///
    /// # Panics
    ///
    /// Panics if the `Once` is poisoned, or becomes poisoned during the wait. Panics if its own
    /// closure calls this. Panics if the caller would have to wait and is inside
    /// [`no_suspend`](crate::fiber::no_suspend).
    #[track_caller]
    pub fn wait(&self) {
        if !self.is_completed() {
            always(self.wait_to(OnceFailure::Counts, Limit::NEVER));
        }
    }

    /// Waits until a closure has run, and ignores poison: a
    /// [`call_once_force`](Self::call_once_force) may still run.
    ///
    /// # Panics
    ///
    /// Panics as [`wait`](Self::wait) does, except for poison.
    #[track_caller]
    pub fn wait_force(&self) {
        if !self.is_completed() {
            always(self.wait_to(OnceFailure::IsIgnored, Limit::NEVER));
        }
    }

    /// Waits as [`wait`](Self::wait) does, but at most for `time`. Returns whether a closure has
    /// run.
    ///
    /// ```
    /// use sinew::sync::Once;
    /// use std::time::Duration;
    ///
    /// let once = Once::new();
    /// assert!(!once.wait_timeout(Duration::from_millis(1)));
    /// once.call_once(|| ());
    /// assert!(once.wait_timeout(Duration::ZERO));
    /// ```
    ///
    /// # Panics
    ///
    /// Panics as [`wait`](Self::wait) does.
    #[track_caller]
    pub fn wait_timeout(&self, time: Duration) -> bool {
        self.waits_for(OnceFailure::Counts, time)
    }

    /// Waits as [`wait_timeout`](Self::wait_timeout) does. `failure` says whether it ignores
    /// poison.
    #[track_caller]
    pub(super) fn waits_for(&self, failure: OnceFailure, time: Duration) -> bool {
        self.is_completed() || self.wait_to(failure, Limit::lasting(time)).is_ok()
    }

    /// Waits as [`wait`](Self::wait) does, but [cancellation and deadlines](crate::fiber#stopping)
    /// end the wait.
    ///
    /// # Errors
    ///
    /// Returns an error if the caller is stopped before a closure has run.
    ///
    /// # Panics
    ///
    /// Panics as [`wait`](Self::wait) does.
    #[track_caller]
    pub fn wait_cancellable(&self) -> Result<(), Stopped> {
        self.wait_or_stop(OnceFailure::Counts)
    }

    /// Waits as [`wait_cancellable`](Self::wait_cancellable) does. `failure` says whether it
    /// ignores poison.
    #[track_caller]
    pub(super) fn wait_or_stop(&self, failure: OnceFailure) -> Result<(), Stopped> {
        if self.is_completed() {
            return Ok(());
        }
        unless_stopped(self.wait_to(failure, Limit::STOP))
    }

    #[cold]
    #[track_caller]
    fn wait_to(&self, failure: OnceFailure, limit: Limit) -> Result<(), GaveUp> {
        match self.raw.wait(failure, limit)? {
            OnceSeen::Done => Ok(()),
            OnceSeen::Failed => panic!("{POISONED}"),
            OnceSeen::Reentered => panic!("{REENTERED}"),
        }
    }
}

fn once<F>(f: &mut Option<F>) -> F {
    f.take().expect("it is called once")
}

/// Ends the run of a closure when it is dropped. If the closure panics, `end` still has its first
/// value.
struct Run<'a> {
    raw: &'a RawOnce,
    end: OnceEnd,
}

impl Drop for Run<'_> {
    fn drop(&mut self) {
        self.raw.end(self.end);
    }
}

impl_debug!(Once, ..);

impl OnceState {
    /// Returns whether an earlier closure panicked.
    #[inline]
    #[must_use]
    pub fn is_poisoned(&self) -> bool {
        self.is_poisoned
    }
}

impl_debug!(OnceState, |state| { poisoned: state.is_poisoned() });
