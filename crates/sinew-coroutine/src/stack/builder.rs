//! The builder of a pool. Knows no stack.

use core::ops::RangeInclusive;
use core::time::Duration;
use std::time::Instant;

use super::guard::GuardKind;
use super::pool::StackPool;
use super::settings::Settings;

/// Settings for a new [`StackPool`].
///
/// ```
/// # use sinew_coroutine::StackPool;
/// use std::time::Duration;
///
/// let pool = StackPool::builder()
///     .guard_pages(4)
///     .keep(0..=1_000)
///     .idle(Duration::from_secs(1))
///     .build();
/// assert_eq!(pool.stats().live, 0);
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "a builder does nothing until `build`"]
pub struct StackPoolBuilder(Settings);

impl StackPoolBuilder {
    /// Sets the least number of guard pages below each stack: 1 unless set.
    ///
    /// The number is at least 1 and at most 1,024. The pool adds a page where neighboring stacks
    /// would otherwise share the same places of the translation cache.
    ///
    /// Code compiled by rustc touches each page of a large frame in order, so it cannot step over
    /// one page. Foreign code without such probes can, if a frame is larger than the guard.
    pub fn guard_pages(mut self, pages: usize) -> Self {
        self.0.guard_pages = pages.clamp(1, 1024);
        self
    }

    /// Sets how guards are made. Unless set, the pool uses the best kind that works here. It uses
    /// [`GuardKind::Advice`] only where that works.
    pub fn guard_kind(mut self, kind: GuardKind) -> Self {
        self.0.guard_kind = Some(kind);
        self
    }

    /// Sets the most stacks of all sizes that may exist at the same time: no limit unless set.
    ///
    /// Unused stacks that keep their memory count too. When the limit is reached, the pool gives up
    /// its own unused stacks and those of the cache that asks. It does not give up those of other
    /// caches until they are [flushed](super::StackCache::flush).
    pub fn max_stacks(mut self, most: usize) -> Self {
        self.0.max_stacks = most;
        self
    }

    /// Sets how many unused stacks of each size keep their memory: 512 to 16,384 unless set.
    ///
    /// Above the larger number, the pool gives memory back at once, for a few stacks more than the
    /// surplus. Down to the smaller number, [`StackPool::trim_idle`] gives it back. A range that
    /// ends before it begins counts as `start..=start`: `10..=5` is `10..=10`.
    pub fn keep(mut self, stacks: RangeInclusive<usize>) -> Self {
        self.0.keep_fewest = *stacks.start();
        self.0.keep_most = *stacks.end().max(stacks.start());
        self
    }

    /// Sets the least time between two checks by [`StackPool::trim_idle`] for stacks that were not
    /// needed meanwhile: 10 seconds unless set.
    ///
    /// If `trim_idle` is called at least once per this time, it gives memory back between one and
    /// two such times after the memory was last used.
    pub fn idle(mut self, time: Duration) -> Self {
        self.0.idle = time;
        self
    }

    /// Sets how many stacks of each size a [`StackCache`](super::StackCache) holds: 32 unless set,
    /// and at least 2.
    pub fn cache(mut self, stacks: usize) -> Self {
        self.0.cache = stacks.max(2);
        self
    }

    /// Sets the function that the pool reads the time from: `Instant::now` unless set.
    ///
    /// Only [`StackPool::trim_idle`] and [`StackPool::time_to_trim`] need the time. The function
    /// must not panic. If it returns an earlier time than before, no time counts as passed.
    ///
    /// ```
    /// # use sinew_coroutine::{DEFAULT_STACK_SIZE, StackPool};
    /// use std::sync::LazyLock;
    /// use std::time::{Duration, Instant};
    ///
    /// static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    /// let minute = Duration::from_secs(60);
    ///
    /// // A clock that stands still.
    /// let pool = StackPool::builder().keep(0..=1_000).idle(minute).clock(|| *START).build();
    /// drop(pool.acquire(DEFAULT_STACK_SIZE)?);
    /// assert_eq!(pool.time_to_trim(), Some(minute));
    /// # Ok::<(), sinew_coroutine::StackError>(())
    /// ```
    pub fn clock(mut self, now: fn() -> Instant) -> Self {
        self.0.clock = now;
        self
    }

    /// Creates the pool. Nothing is mapped before the first stack is acquired.
    pub fn build(self) -> StackPool {
        StackPool::with(self.0)
    }
}
