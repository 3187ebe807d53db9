//! The pool of stacks. Knows no coroutine and no scheduler.
//!
//! # Safety
//!
//! Trusted with telling a fresh stack's owner that it is the only one.
#![expect(unsafe_code, reason = "stacks are handed out, and their first page is touched")]

use core::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use super::builder::StackPoolBuilder;
use super::cache::StackCache;
use super::pool_error::StackError;
use super::pooled::PooledStack;
use super::settings::Settings;
use super::shared::Shared;
use super::size::SizeClass;
use super::stats::StackStats;

/// A pool of guarded stacks, shared by any number of threads.
///
/// Stacks are cut from large slabs by size class, powers of two from 16 KiB to 64 MiB. Each has a guard below it, takes
/// memory page by page as it is used, and keeps that memory when it comes back, for the next one who asks. What is not
/// needed for a while is given back to the system, slabs and page tables included, by calls of [`trim_idle`](Self::trim_idle)
/// that are the user's to make; what is too much, by whoever returns a stack.
///
/// A pool is a handle: clones share everything. Stacks may outlive all of them.
///
/// # Forks and locked memory
///
/// After a fork of a process with several threads, the child may only call `exec` or `_exit`: another thread may have held a
/// lock of the pool, and nobody is left to release it. A process with a single thread may go on with its stacks, guards
/// included, in both.
///
/// A process that has all its future memory locked (`mlockall` with `MCL_FUTURE`) gets the memory of a whole slab at once,
/// some 64 MiB at most, unless it also asks for `MCL_ONFAULT`. Guards in locked memory are mappings.
///
/// # Limits on address space
///
/// Stacks take addresses long before they take memory. In a process whose address space is limited (`ulimit -v`, `RLIMIT_AS`), pools
/// leave 64 MiB of it to others; only the first stack of a size may take from these. If the rest of the process uses them up, its next
/// allocation fails, and Rust ends the process: set [`max_stacks`](StackPoolBuilder::max_stacks), or raise the limit.
///
/// ```
/// # use sinew_coroutine::{Coroutine, CoroutineState, StackPool};
/// let pool = StackPool::new();
/// let mut coroutine = Coroutine::<u32, u32, (), _>::new(pool.acquire(100_000)?, |suspender, first| {
///     suspender.suspend(first + 1);
/// });
/// assert_eq!(coroutine.resume(1), CoroutineState::Yielded(2));
/// assert_eq!(pool.stats().live, 1);
/// drop(coroutine);
/// assert_eq!(pool.stats().pooled, 1);
/// # Ok::<(), sinew_coroutine::StackError>(())
/// ```
#[derive(Clone)]
pub struct StackPool(pub(super) Arc<Shared>);

impl StackPool {
    /// A pool with the default settings.
    #[must_use]
    pub fn new() -> Self {
        Self::with(Settings::default())
    }

    /// Settings of one's own.
    pub fn builder() -> StackPoolBuilder {
        StackPoolBuilder::default()
    }

    pub(super) fn with(settings: Settings) -> Self {
        Self(Arc::new(Shared::new(settings)))
    }

    /// Takes a stack with at least `size` usable bytes.
    ///
    /// Below 24 KiB a panic that prints a backtrace overflows. Since memory is taken page by page as it is used, a larger
    /// stack costs no more: [`DEFAULT_STACK_SIZE`](super::DEFAULT_STACK_SIZE) is for code that one does not know.
    ///
    /// # Errors
    ///
    /// If the size is zero or more than 64 MiB, if as many stacks as there may be are in use or in caches, or if the system has
    /// no memory or no mapping left.
    pub fn acquire(&self, size: usize) -> Result<PooledStack, StackError> {
        let class = SizeClass::of(size)?;
        let stack = self.0.take(class, &mut Vec::new(), 0)?;
        // SAFETY: the pool has just handed it out, to us alone.
        Ok(unsafe { PooledStack::new(stack) })
    }

    /// A cache of this pool, for a thread that takes and returns many stacks.
    #[must_use]
    pub fn cache(&self) -> StackCache {
        StackCache::new(self.0.clone())
    }

    /// Makes sure that `count` stacks of a size are waiting, each with its first page in memory.
    ///
    /// They are unused stacks like others: what is kept of them, and for how long, is for
    /// [`keep`](StackPoolBuilder::keep) and [`idle`](StackPoolBuilder::idle) to say. Of more than the largest number to keep,
    /// the rest is given back at once.
    ///
    /// # Errors
    ///
    /// As for [`acquire`](Self::acquire). What could be made until then is kept, in memory like the rest.
    pub fn prewarm(&self, size: usize, count: usize) -> Result<(), StackError> {
        let mut stacks = Vec::new();
        for _ in 0..count {
            let stack = self.acquire(size)?;
            touch(&stack);
            stacks.try_reserve(1).map_err(io::Error::from)?;
            stacks.push(stack);
        }
        Ok(())
    }

    /// Gives the memory of all unused stacks back now, those in caches excepted (they are the pool's again once a cache is
    /// [flushed](super::StackCache::flush)). Returns how many stacks there were.
    pub fn trim(&self) -> usize {
        self.0.trim()
    }

    /// Gives the memory of stacks back that were not needed since the previous look, down to the number to
    /// [keep](StackPoolBuilder::keep), at most 512 at a time. Returns how many stacks there were: if any, there may be more.
    /// A call looks unless the previous look was less than the [idle time](StackPoolBuilder::idle) ago; then it goes on with
    /// what that one has found, if something is left.
    ///
    /// The pool never calls this itself: it has no thread. Call it regularly, say once per idle time. Then memory goes between
    /// one and two idle times after it was last needed. A single call after a long rest gives nothing back, since all that is
    /// unused now was in use, or not yet there, at some moment since the previous look; for such a call there is
    /// [`trim`](Self::trim).
    ///
    /// ```
    /// # use sinew_coroutine::{DEFAULT_STACK_SIZE, StackPool};
    /// use std::time::Duration;
    ///
    /// let pool = StackPool::builder().keep(0..=1_000).idle(Duration::ZERO).build();
    /// drop(pool.acquire(DEFAULT_STACK_SIZE)?);
    /// assert_eq!(pool.trim_idle(), 0, "it was needed since the pool was made");
    /// assert_eq!(pool.trim_idle(), 1, "it was not needed since the previous look");
    /// # Ok::<(), sinew_coroutine::StackError>(())
    /// ```
    pub fn trim_idle(&self) -> usize {
        self.0.trim_idle()
    }

    /// How long it is until [`trim_idle`](Self::trim_idle) looks next, if more stacks are unused than are kept. For a thread with
    /// nothing else to do, which calls it then.
    ///
    /// ```
    /// # use sinew_coroutine::{DEFAULT_STACK_SIZE, StackPool};
    /// use std::time::Duration;
    ///
    /// let pool = StackPool::builder().keep(0..=1_000).idle(Duration::from_secs(60)).build();
    /// assert_eq!(pool.time_to_trim(), None);
    /// drop(pool.acquire(DEFAULT_STACK_SIZE)?);
    /// assert!(pool.time_to_trim() <= Some(Duration::from_secs(60)));
    /// # Ok::<(), sinew_coroutine::StackError>(())
    /// ```
    #[must_use]
    pub fn time_to_trim(&self) -> Option<Duration> {
        self.0.time_to_trim()
    }

    /// How many stacks there are, and in which state.
    #[must_use]
    pub fn stats(&self) -> StackStats {
        self.0.stats()
    }

    /// How many bytes of the slabs are in memory. Not among the [`stats`](Self::stats), because it asks the kernel about
    /// every page, and holds each size's lock meanwhile.
    #[must_use]
    pub fn resident(&self) -> usize {
        self.0.resident()
    }
}

impl Default for StackPool {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for StackPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StackPool").field(&self.stats()).finish()
    }
}

/// Brings the first page of a stack into memory.
fn touch(stack: &PooledStack) {
    use super::Stack;
    let first = stack.top().as_ptr().wrapping_sub(1);
    // SAFETY: the highest byte of a stack that is ours and on which nothing runs.
    unsafe { first.write_volatile(0) };
}
