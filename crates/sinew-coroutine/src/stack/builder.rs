//! How the settings of a pool are given. Knows no stack.

use core::ops::RangeInclusive;
use core::time::Duration;
use std::time::Instant;

use super::guard::GuardKind;
use super::pool::StackPool;
use super::settings::Settings;

/// Makes a [`StackPool`] with settings of one's own.
///
/// ```
/// # use sinew_coroutine::StackPool;
/// use std::time::Duration;
///
/// let pool = StackPool::builder().guard_pages(4).keep(0..=1_000).idle(Duration::from_secs(1)).build();
/// assert_eq!(pool.stats().live, 0);
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "a builder does nothing until `build`"]
pub struct StackPoolBuilder(Settings);

impl StackPoolBuilder {
    /// How many pages of guard lie below each stack at least: 1 unless set. Never less than that,
    /// nor more than 1,024. One is added where that keeps neighbouring stacks from sharing the same
    /// places of the translation cache.
    ///
    /// Code compiled by rustc touches each page of a large frame in order and cannot step over one
    /// page. Foreign code without such probes can, if a frame is larger than the guard.
    pub fn guard_pages(mut self, pages: usize) -> Self {
        self.0.guard_pages = pages.clamp(1, 1024);
        self
    }

    /// How guards are made: the best way that works here, unless set. Advice is used only where it
    /// works.
    pub fn guard_kind(mut self, kind: GuardKind) -> Self {
        self.0.guard_kind = Some(kind);
        self
    }

    /// The most stacks of all sizes that there may be at once: no limit unless set.
    ///
    /// Unused stacks that keep their memory count. Those in the pool, and those in the cache that
    /// asks, are given up when the limit is reached; those in other caches are not, until they are
    /// [flushed](super::StackCache::flush).
    pub fn max_stacks(mut self, most: usize) -> Self {
        self.0.max_stacks = most;
        self
    }

    /// How many unused stacks of each size keep their memory: 512 to 16,384 unless set.
    ///
    /// Beyond the larger number memory is given back at once, of a few more than too many. Down to
    /// the smaller, it is given back by [`StackPool::trim_idle`]. A range that ends before it
    /// begins counts as one that ends there: `10..=5` is `10..=10`.
    pub fn keep(mut self, stacks: RangeInclusive<usize>) -> Self {
        self.0.keep_fewest = *stacks.start();
        self.0.keep_most = *stacks.end().max(stacks.start());
        self
    }

    /// The least time between two looks of [`StackPool::trim_idle`] for stacks that were not needed
    /// meanwhile: 10 seconds unless set. Called at least that often, it gives memory back between
    /// one and two of these times after its last use.
    pub fn idle(mut self, time: Duration) -> Self {
        self.0.idle = time;
        self
    }

    /// How many stacks of each size a [`StackCache`](super::StackCache) holds: 32 unless set, and
    /// at least 2.
    pub fn cache(mut self, stacks: usize) -> Self {
        self.0.cache = stacks.max(2);
        self
    }

    /// Sets the function that the pool reads the time from: `Instant::now` unless set.
    ///
    /// Only [`StackPool::trim_idle`] and [`StackPool::time_to_trim`] need the time. The function
    /// must not panic. A time before one that it has returned counts as no time passed.
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

    /// Makes the pool. Nothing is mapped before the first stack is asked for.
    pub fn build(self) -> StackPool {
        StackPool::with(self.0)
    }
}
