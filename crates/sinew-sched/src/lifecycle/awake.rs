//! Whether anybody is awake, in one word. Knows no worker and no queue.
//!
//! A pool that drains is done when nobody is awake and nothing waits anywhere. Both have to be true at one moment, and the
//! queues are many: while one is looked at, somebody may get up, take a task from another, put one where it was not, and lie
//! down again. So the word counts risings besides those who are awake. Nobody awake, then everything empty, then the very
//! same word: nobody has risen in between, and only who is awake moves tasks.
//!
//! - Whoever falls asleep has done all it did before, so that a look that finds it asleep sees its tasks: release and acquire,
//!   also across the falls of others, because each change of the word reads the one before.
//! - Whoever rises has a fence before it takes anything. If a look found a queue empty because of that, its own fence after
//!   the look comes later, and it sees the word changed.
//! - The last one to fall finds nobody awake, and looks. It has a fence between falling and looking at the stage of the pool,
//!   and whoever begins to drain has one between saying so and telling everybody: the one sees the drain, or is told after it
//!   fell, and rises and falls once more.

use crate::sync::{AtomicU64, Fence, Ordering, full_fence};

/// Those who are awake are counted below this, risings above: 2^32 of them, which no look takes.
const RISEN: u64 = 1 << 32;

/// Who is awake.
#[derive(Debug)]
pub(crate) struct Awake(AtomicU64);

impl Awake {
    /// Nobody is.
    pub(crate) fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// Somebody is awake from now on, and takes nothing before.
    pub(crate) fn rise(&self) {
        self.0.fetch_add(RISEN + 1, Ordering::Relaxed);
        full_fence(Fence::Rise);
    }

    /// Somebody has nothing more to do. It looks at the stage after this, and whether all is done.
    pub(crate) fn fall(&self) {
        self.0.fetch_sub(1, Ordering::Release);
        full_fence(Fence::Fall);
    }

    /// Whether nobody was awake all the while that `look` looked, and it is true.
    pub(crate) fn nobody_while(&self, look: impl FnOnce() -> bool) -> bool {
        let before = self.0.load(Ordering::Acquire);
        if !before.is_multiple_of(RISEN) || !look() {
            return false;
        }
        full_fence(Fence::Drained);
        self.0.load(Ordering::Relaxed) == before
    }
}
