//! Something that is done once, with the names and the poison of [`std::sync::Once`].

use std::time::Duration;

use crate::fiber::Stopped;
use crate::limited::{always, unless_stopped};
use crate::raw::{OnceBegun, OnceEnd, OnceFailure, OnceSeen, RawOnce};
use crate::rt::{GaveUp, Limit, impl_debug, impl_unwind_safe};

const POISONED: &str = "Once instance has previously been poisoned";

const REENTERED: &str = "`Once` re-entered: what it runs, the closure of `call_once` or the initialiser of a `OnceLock` or a `LazyLock`, \
     uses it again, and would wait for itself: move that use out of the closure";

/// Something that is done once, for fibers and threads alike: whoever comes while somebody does it waits, and a fiber that waits
/// gives its worker to others.
///
/// It has all that [`std::sync::Once`] has, with the same names and the same poison. What is different:
///
/// - The closure may suspend, and a fiber that may move takes it along.
/// - A closure that calls its own `Once` is a panic. With std's it may also wait for ever.
/// - Waits that end: [`wait_timeout`](Self::wait_timeout) and [`wait_cancellable`](Self::wait_cancellable).
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

// A panic poisons it, so that nobody sees something half done without being told.
impl_unwind_safe!(Once);

/// What the closure of [`Once::call_once_force`] is told. As [`std::sync::OnceState`].
pub struct OnceState {
    is_poisoned: bool,
}

/// One that nobody has run, as std has it.
#[deprecated(note = "as std's is: use `Once::new()`")]
#[expect(clippy::declare_interior_mutable_const, reason = "a value to begin with, as std's is")]
pub const ONCE_INIT: Once = Once::new();

#[expect(clippy::new_without_default, reason = "std's has no default either")]
impl Once {
    /// One that nobody has run.
    #[inline]
    #[must_use]
    pub const fn new() -> Self {
        Self { raw: RawOnce::new() }
    }

    /// One that has been run.
    pub(super) const fn done() -> Self {
        Self { raw: RawOnce::done() }
    }

    /// Calls the closure, if this is the first call; waits, if another one has not come to its end. So when this returns, some closure
    /// has run, and all that it did is seen.
    ///
    /// # Panics
    ///
    /// If the closure panics; then, and in all calls from then on, it is poisoned. If it is called by its own closure. If the caller
    /// would have to wait, and is inside [`no_suspend`](crate::fiber::no_suspend).
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

    /// The same, and calls the closure even if it is poisoned: if that returns, it is not any more.
    ///
    /// # Panics
    ///
    /// As [`call_once`](Self::call_once), but for poison.
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

    /// Whether a closure has run, and not panicked. If so, all that it did is seen.
    #[inline]
    #[must_use]
    pub fn is_completed(&self) -> bool {
        self.raw.is_done()
    }

    /// Waits until somebody has run a closure.
    ///
    /// # Panics
    ///
    /// If it is poisoned, or is while this waits. If it is called by the closure. If the caller would have to wait, and is inside
    /// [`no_suspend`](crate::fiber::no_suspend).
    #[track_caller]
    pub fn wait(&self) {
        if !self.is_completed() {
            always(self.wait_to(OnceFailure::Counts, Limit::NEVER));
        }
    }

    /// The same, and waits on while it is poisoned: for a [`call_once_force`](Self::call_once_force).
    ///
    /// # Panics
    ///
    /// As [`wait`](Self::wait), but for poison.
    #[track_caller]
    pub fn wait_force(&self) {
        if !self.is_completed() {
            always(self.wait_to(OnceFailure::IsIgnored, Limit::NEVER));
        }
    }

    /// [`wait`](Self::wait), for at most so long. Whether somebody has run a closure.
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
    /// As [`wait`](Self::wait).
    #[track_caller]
    pub fn wait_timeout(&self, time: Duration) -> bool {
        self.waits_for(OnceFailure::Counts, time)
    }

    /// [`wait_timeout`](Self::wait_timeout), or the same that waits on while it is poisoned.
    #[track_caller]
    pub(super) fn waits_for(&self, failure: OnceFailure, time: Duration) -> bool {
        self.is_completed() || self.wait_to(failure, Limit::lasting(time)).is_ok()
    }

    /// [`wait`](Self::wait), where [cancellation and deadlines](crate::fiber#stopping) count.
    ///
    /// # Errors
    ///
    /// If the caller is to stop before somebody has run a closure.
    ///
    /// # Panics
    ///
    /// As [`wait`](Self::wait).
    #[track_caller]
    pub fn wait_cancellable(&self) -> Result<(), Stopped> {
        self.wait_or_stop(OnceFailure::Counts)
    }

    /// [`wait_cancellable`](Self::wait_cancellable), or the same that waits on while it is poisoned.
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

/// Somebody runs the closure. If it panics, this is dropped as it was made.
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
    /// Whether a closure before this one has panicked.
    #[inline]
    #[must_use]
    pub fn is_poisoned(&self) -> bool {
        self.is_poisoned
    }
}

impl_debug!(OnceState, |state| { poisoned: state.is_poisoned() });
