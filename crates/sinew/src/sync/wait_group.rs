//! Waiting until all of a changing number of tasks are done.

use std::fmt;
use std::ops::Deref;

use crate::limited::limited_waits;
use crate::raw::RawCount;
use crate::rt::{GaveUp, Limit, WaitKind, impl_debug, impl_unwind_safe};

/// A counter of unfinished tasks, for fibers and threads that wait until all are done.
///
/// It is Go's `sync.WaitGroup`, with [`add`](Self::add), [`done`](Self::done) and
/// [`wait`](Self::wait). It can be used again and again. Differences:
///
/// - [`guard`](Self::guard) adds a task that is done when the guard is dropped. So a panic does not
///   make the waiters wait for ever.
/// - There are waits with a limit.
/// - The group may be used again before earlier waiters have returned. They return nevertheless,
///   since all tasks were done at one time.
///
/// crossbeam's `WaitGroup` counts its clones, and its `wait` consumes one of them. Here, a guard of
/// an [`Arc`](std::sync::Arc) of the group is such a clone, and any number of callers may wait.
///
/// A waiter that returns sees all that happened before each [`done`](Self::done).
///
/// ```
/// use sinew::fiber;
/// use sinew::sync::WaitGroup;
/// use std::sync::Arc;
///
/// let group = Arc::new(WaitGroup::new());
/// for _ in 0..10 {
///     let guard = WaitGroup::guard(group.clone());
///     fiber::spawn(move || {
///         // The work.
///         drop(guard);
///     });
/// }
/// group.wait();
/// ```
pub struct WaitGroup {
    count: RawCount,
}

// No user code runs while it is changed, so a panic cannot leave it half changed.
impl_unwind_safe!(WaitGroup);

impl WaitGroup {
    /// Creates a group without tasks.
    #[inline]
    #[must_use]
    pub const fn new() -> Self {
        Self { count: RawCount::new(0) }
    }

    /// Adds `many` tasks. If callers may already wait, call this before the tasks that they wait
    /// for are done.
    ///
    /// ```
    /// use sinew::fiber;
    /// use sinew::sync::WaitGroup;
    ///
    /// static GROUP: WaitGroup = WaitGroup::new();
    ///
    /// GROUP.add(2);
    /// for _ in 0..2 {
    ///     fiber::spawn(|| GROUP.done());
    /// }
    /// GROUP.wait();
    /// assert!(GROUP.try_wait());
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if the number of tasks would exceed `usize::MAX`. The number does not change then.
    #[inline]
    pub fn add(&self, many: usize) {
        assert!(self.count.add(many).is_ok(), "a wait group has more to wait for than it can count");
    }

    /// Marks one task as done. Never waits.
    ///
    /// # Panics
    ///
    /// Panics if there is no unfinished task.
    #[inline]
    pub fn done(&self) {
        assert!(self.count.sub(1).is_ok(), "{TOO_MUCH}");
    }

    /// Adds a task, which is done when the guard is dropped. `group` is a reference to the group,
    /// or an [`Arc`](std::sync::Arc) of it.
    ///
    /// # Panics
    ///
    /// Panics as [`add`](Self::add) does.
    pub fn guard<G: Deref<Target = Self>>(group: G) -> WaitGroupGuard<G> {
        group.add(1);
        WaitGroupGuard { group }
    }

    limited_waits! {
        /// Waits until all tasks are done.
        wait, wait_timeout, wait_until, wait_cancellable by wait_within
    }

    fn wait_within(&self, limit: Limit) -> Result<(), GaveUp> {
        self.count.wait(WaitKind::Count, limit)
    }

    /// Returns whether all tasks are done. Never waits.
    #[inline]
    #[must_use]
    pub fn try_wait(&self) -> bool {
        self.count.is_zero()
    }
}

const TOO_MUCH: &str = "a wait group is done with more than was added to it";

impl Default for WaitGroup {
    fn default() -> Self {
        Self::new()
    }
}

impl_debug!(WaitGroup, |group| { left: group.count.left() });

/// A task of a [`WaitGroup`], which is done when this guard is dropped.
///
/// # Panics
///
/// The drop panics if the group has no unfinished task, because of an extra call to
/// [`done`](WaitGroup::done). It does not panic if the thread is already unwinding.
#[must_use = "the work is done at once if this is not kept"]
#[clippy::has_significant_drop]
pub struct WaitGroupGuard<G: Deref<Target = WaitGroup>> {
    group: G,
}

impl<G: Deref<Target = WaitGroup>> Drop for WaitGroupGuard<G> {
    fn drop(&mut self) {
        let is_done = self.group.count.sub(1).is_ok();
        // A second panic would abort the process.
        assert!(is_done || std::thread::panicking(), "{TOO_MUCH}");
    }
}

impl<G: Deref<Target = WaitGroup>> fmt::Debug for WaitGroupGuard<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WaitGroupGuard").field("group", &*self.group).finish()
    }
}
