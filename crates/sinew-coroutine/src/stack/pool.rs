//! The pool of stacks. Knows no coroutine and no scheduler.
//!
//! # Safety
//!
//! Trusted with handing out a stack to one owner only.
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
/// Stacks are cut from large slabs by size class, in powers of two from 16 KiB to 64 MiB. Each has
/// a guard below it and takes memory page by page as it is used. A returned stack keeps that memory
/// for its next user. Memory that is not needed for a while, slabs and page tables included, is
/// given back to the system by [`trim_idle`](Self::trim_idle), which the program must call. Memory
/// above the number of stacks to [keep](StackPoolBuilder::keep) is given back by the call that
/// returns a stack.
///
/// A pool is a handle: clones share the same stacks. A stack may outlive all handles.
///
/// # Forks and locked memory
///
/// After a fork of a process with several threads, the child may only call `exec` or `_exit`:
/// another thread may have held a lock of the pool, and no thread of the child releases it. In a
/// process with a single thread, parent and child may both continue to use their stacks, and the
/// guards stay.
///
/// A process that locks all its future memory (`mlockall` with `MCL_FUTURE`) gets the memory of a
/// whole slab at once, up to some 64 MiB, unless it also asks for `MCL_ONFAULT`. Guards in locked
/// memory are mappings.
///
/// # Limits on address space
///
/// Stacks take addresses long before they take memory. In a process whose address space is limited
/// (`ulimit -v`, `RLIMIT_AS`), pools leave 64 MiB of it to others; only the first stack of a size
/// may take from these. If the rest of the process uses them up, its next allocation fails, and
/// Rust ends the process. Set [`max_stacks`](StackPoolBuilder::max_stacks), or raise the limit.
///
/// ```
/// # use sinew_coroutine::{Coroutine, CoroutineState, StackPool};
/// let pool = StackPool::new();
/// let stack = pool.acquire(100_000)?;
/// let mut coroutine = Coroutine::<u32, u32, (), _>::new(stack, |suspender, first| {
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
    /// Creates a pool with the default settings.
    #[must_use]
    pub fn new() -> Self {
        Self::with(Settings::default())
    }

    /// Returns a builder for a pool with other settings.
    pub fn builder() -> StackPoolBuilder {
        StackPoolBuilder::default()
    }

    pub(super) fn with(settings: Settings) -> Self {
        Self(Arc::new(Shared::new(settings)))
    }

    /// Takes a stack with at least `size` usable bytes.
    ///
    /// Below 24 KiB, a panic that prints a backtrace overflows the stack. Memory is taken page by
    /// page as it is used, so a larger stack costs no more. For code whose stack use is unknown,
    /// use [`DEFAULT_STACK_SIZE`](super::DEFAULT_STACK_SIZE).
    ///
    /// # Errors
    ///
    /// Returns an error if the size is zero or more than 64 MiB, if the pool's
    /// [limit](StackPoolBuilder::max_stacks) is reached by stacks that are in use or in caches, or
    /// if the system has no memory or no mapping left.
    ///
    /// ```
    /// # use sinew_coroutine::{Stack, StackError, StackPool};
    /// let pool = StackPool::new();
    /// let stack = pool.acquire(100_000)?;
    /// assert!(stack.size() >= 100_000);
    /// assert!(matches!(pool.acquire(0), Err(StackError::Size(0))));
    /// # Ok::<(), sinew_coroutine::StackError>(())
    /// ```
    pub fn acquire(&self, size: usize) -> Result<PooledStack, StackError> {
        let class = SizeClass::of(size)?;
        let stack = self.0.take(class, &mut Vec::new(), 0)?;
        // SAFETY: the pool has just handed out the stack, to this call alone.
        Ok(unsafe { PooledStack::new(stack) })
    }

    /// Creates a cache of this pool, for a thread that takes and returns many stacks.
    #[must_use]
    pub fn cache(&self) -> StackCache {
        StackCache::new(self.0.clone())
    }

    /// Makes sure that `count` unused stacks of a size are ready, each with its first page in
    /// memory.
    ///
    /// They are unused stacks like others: [`keep`](StackPoolBuilder::keep) and
    /// [`idle`](StackPoolBuilder::idle) decide how many keep their memory, and for how long. If
    /// `count` is above the largest number to keep, the rest is given back at once.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`acquire`](Self::acquire). The stacks made before the error stay
    /// in the pool, with their first page in memory.
    ///
    /// ```
    /// # use sinew_coroutine::{DEFAULT_STACK_SIZE, StackPool};
    /// let pool = StackPool::new();
    /// pool.prewarm(DEFAULT_STACK_SIZE, 10)?;
    /// assert_eq!((pool.stats().live, pool.stats().pooled), (0, 10));
    /// # Ok::<(), sinew_coroutine::StackError>(())
    /// ```
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

    /// Gives back the memory of all unused stacks now, except those in caches, which return to the
    /// pool when the cache is [flushed](super::StackCache::flush). Returns how many stacks there
    /// were.
    pub fn trim(&self) -> usize {
        self.0.trim()
    }

    /// Gives back the memory of stacks that were not needed since the previous check, down to the
    /// number to [keep](StackPoolBuilder::keep), and of at most 512 stacks per call. Returns how
    /// many stacks there were: if any, there may be more.
    ///
    /// A call checks which stacks were needed, unless the previous check was less than the [idle
    /// time](StackPoolBuilder::idle) ago. In that case it continues with the stacks that the
    /// previous check found, if some are left.
    ///
    /// The pool has no thread, so the program must call this regularly, for example once per idle
    /// time. Memory then goes back between one and two idle times after its last use. A single call
    /// after a long pause gives nothing back: every stack that is unused now was in use, or not yet
    /// made, at some moment since the previous check. For such a call, use [`trim`](Self::trim).
    ///
    /// ```
    /// # use sinew_coroutine::{DEFAULT_STACK_SIZE, StackPool};
    /// use std::time::Duration;
    ///
    /// let pool = StackPool::builder().keep(0..=1_000).idle(Duration::ZERO).build();
    /// drop(pool.acquire(DEFAULT_STACK_SIZE)?);
    /// assert_eq!(pool.trim_idle(), 0, "it was needed since the pool was made");
    /// assert_eq!(pool.trim_idle(), 1, "it was not needed since the previous check");
    /// # Ok::<(), sinew_coroutine::StackError>(())
    /// ```
    pub fn trim_idle(&self) -> usize {
        self.0.trim_idle()
    }

    /// Returns the time until [`trim_idle`](Self::trim_idle) checks next, or `None` if no more
    /// stacks are unused than are kept. A thread without other work can sleep for that time and
    /// then call `trim_idle`.
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

    /// Returns how many stacks there are, and in which state.
    #[must_use]
    pub fn stats(&self) -> StackStats {
        self.0.stats()
    }

    /// Returns how many bytes of the slabs are in memory.
    ///
    /// This is not part of the [`stats`](Self::stats), because it asks the kernel about every page,
    /// and holds the lock of each size meanwhile.
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
    // SAFETY: this is the highest byte of a stack that the caller owns and on which nothing runs.
    unsafe { first.write_volatile(0) };
}
