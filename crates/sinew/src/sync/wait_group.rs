//! Waiting for a number of pieces of work that may change meanwhile.

use std::fmt;
use std::ops::Deref;

use crate::limited::limited_waits;
use crate::raw::RawCount;
use crate::rt::{GaveUp, Limit, WaitKind, impl_debug, impl_unwind_safe};

/// Work that is not done yet, as a number, and those who wait for all of it, fibers and threads alike.
///
/// It is Go's `sync.WaitGroup`: [`add`](Self::add), [`done`](Self::done) and [`wait`](Self::wait), and it can be used again and again. What
/// is different:
///
/// - [`guard`](Self::guard) adds one, and is done when it is dropped, so that a panic lets nobody wait for ever.
/// - Waits that end.
/// - It may be used again while those who have waited have not gone on yet: they do, since there was a moment when all was done.
///
/// crossbeam's `WaitGroup` is counted by clones of it, and its `wait` consumes one; here a guard of an [`Arc`](std::sync::Arc) of the group is
/// such a clone, and any number may wait.
///
/// What was done before [`done`](Self::done) is seen by whoever has waited.
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

// No code of the user's runs while it is changed.
impl_unwind_safe!(WaitGroup);

impl WaitGroup {
    /// One without work.
    #[inline]
    #[must_use]
    pub const fn new() -> Self {
        Self { count: RawCount::new(0) }
    }

    /// So many more pieces of work. If others may wait already, this comes before what was there is done.
    ///
    /// # Panics
    ///
    /// If they are more than a `usize` can count. Nothing has changed then.
    #[inline]
    pub fn add(&self, many: usize) {
        assert!(self.count.add(many).is_ok(), "a wait group has more to wait for than it can count");
    }

    /// One piece of work is done. Never waits.
    ///
    /// # Panics
    ///
    /// If there is none.
    #[inline]
    pub fn done(&self) {
        assert!(self.count.sub(1).is_ok(), "{TOO_MUCH}");
    }

    /// One more piece of work, which is done when this is dropped. For a reference to the group, or an [`Arc`](std::sync::Arc) of it.
    ///
    /// # Panics
    ///
    /// As [`add`](Self::add).
    pub fn guard<G: Deref<Target = Self>>(group: G) -> WaitGroupGuard<G> {
        group.add(1);
        WaitGroupGuard { group }
    }

    limited_waits! {
        /// Waits until all work is done.
        wait, wait_timeout, wait_until, wait_cancellable by wait_within
    }

    fn wait_within(&self, limit: Limit) -> Result<(), GaveUp> {
        self.count.wait(WaitKind::Count, limit)
    }

    /// Whether all work is done.
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

/// One piece of work of a [`WaitGroup`], which is done when this is dropped.
///
/// # Panics
///
/// When it is dropped, if somebody else has said that more is done than there was, and the caller does not unwind already.
#[must_use = "the work is done at once if this is not kept"]
#[clippy::has_significant_drop]
pub struct WaitGroupGuard<G: Deref<Target = WaitGroup>> {
    group: G,
}

impl<G: Deref<Target = WaitGroup>> Drop for WaitGroupGuard<G> {
    fn drop(&mut self) {
        let is_done = self.group.count.sub(1).is_ok();
        // A second panic would end the process.
        assert!(is_done || std::thread::panicking(), "{TOO_MUCH}");
    }
}

impl<G: Deref<Target = WaitGroup>> fmt::Debug for WaitGroupGuard<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WaitGroupGuard").field("group", &*self.group).finish()
    }
}
