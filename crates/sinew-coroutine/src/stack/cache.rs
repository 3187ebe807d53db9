//! A few stacks of a pool that one thread takes and returns without a lock. Knows no thread-local:
//! the owner stores the cache.
//!
//! # Safety
//!
//! Trusted with owning the stacks in its lists.
#![expect(unsafe_code, reason = "stacks are raw memory that is handed around")]

use core::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::pool_error::StackError;
use super::pooled::PooledStack;
use super::shared::Shared;
use super::size::{CLASSES, SizeClass};
use super::slab::RawStack;
use crate::arch::prefetch;

/// The most stacks that memory is reserved for at once, however large the cache may get.
const AT_ONCE: usize = 1024;

/// A cache of a [`StackPool`](super::StackPool) for one thread: a few unused stacks of each size,
/// the newest first.
///
/// The cache asks the pool only when it is empty, and returns stacks to it only when it is full,
/// several at a time.
///
/// Only [`release`](Self::release) puts a stack into the cache. A stack that is dropped, alone or
/// with its coroutine, goes to the pool. The stacks in a cache are not trimmed until it is
/// [flushed](Self::flush) or dropped.
///
/// ```
/// # use sinew_coroutine::{Coroutine, CoroutineState, DEFAULT_STACK_SIZE, StackPool};
/// let pool = StackPool::new();
/// let mut cache = pool.cache();
/// for number in 0..1000_u32 {
///     let stack = cache.acquire(DEFAULT_STACK_SIZE)?;
///     let mut coroutine = Coroutine::<u32, (), u32, _>::new(stack, |_, number| number + 1);
///     assert_eq!(coroutine.resume(number), CoroutineState::Complete(number + 1));
///     // A coroutine that is not done is returned as the error.
///     cache.release(coroutine.into_stack().expect("it is done"));
/// }
/// assert_eq!((pool.stats().live, pool.stats().pooled), (0, 1));
/// assert_eq!(pool.trim(), 0, "the stack is in the cache");
/// cache.flush();
/// assert_eq!(pool.trim(), 1);
/// # Ok::<(), sinew_coroutine::StackError>(())
/// ```
pub struct StackCache {
    pool: Arc<Shared>,
    /// # Invariant
    ///
    /// Stacks of `pool` that are out of the pool and owned by this cache.
    lists: [Vec<RawStack>; CLASSES],
    most: usize,
    /// The number of stacks in all lists, for the pool's statistics.
    count: Arc<AtomicUsize>,
}

impl StackCache {
    pub(super) fn new(pool: Arc<Shared>) -> Self {
        let (most, count) = (pool.settings.cache, pool.count_cache());
        Self { pool, lists: std::array::from_fn(|_| Vec::new()), most, count }
    }

    /// Takes a stack with at least `size` usable bytes.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`StackPool::acquire`](super::StackPool::acquire).
    #[inline]
    pub fn acquire(&mut self, size: usize) -> Result<PooledStack, StackError> {
        let class = SizeClass::of(size)?;
        match self.lists[class.index()].pop() {
            Some(stack) => {
                self.recount(-1);
                self.fetch_next(class);
                // SAFETY: the invariant of `lists`: the cache owned the stack, and has removed it
                // from its list.
                Ok(unsafe { PooledStack::new(stack) })
            }
            None => self.acquire_slow(class),
        }
    }

    /// Prefetches the next stack, and the record of the one after it. With many stacks, the next
    /// one is seldom in the processor's cache; it is fetched while this one is put to use.
    #[inline]
    fn fetch_next(&self, class: SizeClass) {
        if let [.., after, next] = &self.lists[class.index()][..] {
            prefetch(core::ptr::from_ref(after.slot()).cast());
            prefetch(next.slot().top.as_ptr().wrapping_sub(64));
        }
    }

    #[cold]
    fn acquire_slow(&mut self, class: SizeClass) -> Result<PooledStack, StackError> {
        match self.refill(class) {
            // The stacks of other sizes in this cache are as unused as those in the pool.
            Err(StackError::Limit(_)) if self.count.load(Ordering::Relaxed) > 0 => {
                self.flush();
                self.refill(class)
            }
            result => result,
        }
    }

    fn refill(&mut self, class: SizeClass) -> Result<PooledStack, StackError> {
        let batch = self.batch();
        let list = &mut self.lists[class.index()];
        // If there is no memory for a longer list, the cache takes fewer stacks.
        let _ = list.try_reserve(batch.min(AT_ONCE));
        let more = list.capacity().min(batch);
        let stack = self.pool.take(class, list, more)?;
        // The pool returned the newest first; the last of a list is taken next.
        list.reverse();
        let more = list.len();
        self.recount(more.cast_signed());
        // SAFETY: the pool has just handed it out, to this cache alone.
        Ok(unsafe { PooledStack::new(stack) })
    }

    /// Returns a stack to the cache. A stack of another pool goes to its own pool.
    ///
    /// The stack is moved, so that it cannot be returned twice:
    ///
    /// ```compile_fail,E0382
    /// # use sinew_coroutine::StackPool;
    /// let mut cache = StackPool::new().cache();
    /// let stack = cache.acquire(16 * 1024).expect("a stack");
    /// cache.release(stack);
    /// cache.release(stack);
    /// ```
    #[inline]
    pub fn release(&mut self, stack: PooledStack) {
        if stack.pool() != self.pool.address() {
            return drop(stack);
        }
        let list = &mut self.lists[stack.class().index()];
        let is_full = list.len() >= self.most || list.len() == list.capacity();
        if is_full {
            return self.release_slow(stack);
        }
        list.push(stack.into_raw());
        self.recount(1);
    }

    #[cold]
    fn release_slow(&mut self, stack: PooledStack) {
        let class = stack.class();
        let list = &mut self.lists[class.index()];
        if list.len() >= self.most {
            self.give_back(class, self.batch());
        } else if list.try_reserve(1).is_err() {
            // Without memory to keep it here, the stack goes to the pool, which has room for all of
            // its stacks.
            return drop(stack);
        }
        self.release(stack);
    }

    /// The most stacks that the cache takes from its pool, or returns to it, at once.
    fn batch(&self) -> usize {
        self.most / 2
    }

    /// Returns all stacks to the pool, for a thread that will not need them for a while: stacks in
    /// a cache are neither trimmed nor available to other threads.
    pub fn flush(&mut self) {
        for class in SizeClass::all() {
            self.give_back(class, usize::MAX);
        }
    }

    /// Returns up to `count` of the oldest stacks of a class.
    fn give_back(&mut self, class: SizeClass, count: usize) {
        let count = count.min(self.lists[class.index()].len());
        self.recount(-count.cast_signed());
        let oldest = self.lists[class.index()].drain(..count);
        // SAFETY: the invariant of `lists`: the cache owned these stacks, and has removed them. The
        // cache also keeps the pool alive.
        unsafe { Shared::put_back(self.pool.address(), class, oldest) };
    }

    /// Changes the count. A load and a store suffice, since this thread alone writes it.
    #[inline]
    fn recount(&self, change: isize) {
        let count = self.count.load(Ordering::Relaxed);
        self.count.store(count.wrapping_add_signed(change), Ordering::Relaxed);
    }
}

impl Drop for StackCache {
    fn drop(&mut self) {
        self.flush();
        self.pool.forget_cache(&self.count);
    }
}

impl fmt::Debug for StackCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StackCache").field("stacks", &self.count).finish_non_exhaustive()
    }
}
