//! The data that a pool, its caches and its stacks share. Knows no user of stacks.
//!
//! # What keeps it alive
//!
//! Handles and caches hold an `Arc`. A stack holds none, since counting each stack would cost an
//! atomic operation on a cache line that all threads share. Instead, each class holds one count of
//! the `Arc` while any of its stacks is out.
//!
//! # Safety
//!
//! Trusted with that one count per class: taken when the first stack of the class goes out, given
//! back after the last one is returned. A thread that has returned a stack may find the pool freed
//! as soon as it unlocks the class, unless it took a count before.
#![expect(unsafe_code, reason = "a count of an Arc is kept by hand, and pages are given back")]

use core::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::class::{Class, Retired};
use super::guard::GuardKind;
use super::pool_error::StackError;
use super::settings::Settings;
use super::size::{CLASSES, SizeClass};
use super::slab::{self, PoolAddress, RawStack, Shape};
use super::stats::StackStats;
use super::sys;
use crate::sync::{Lock, MutexGuard};

/// The most stacks that are considered for trimming at a time, so that a class is not locked for
/// long.
const TRIMMED_AT_ONCE: usize = 512;

/// The inside of a pool.
pub(crate) struct Shared {
    pub(super) settings: Settings,
    classes: [Lock<Class>; CLASSES],
    /// The number of stacks of all classes that are not cold.
    existing: AtomicUsize,
    /// The time of the last check for idle stacks.
    last_look: Lock<Instant>,
    /// The number of stacks in each cache, written only by the cache's thread.
    caches: Lock<Vec<Arc<AtomicUsize>>>,
}

impl Shared {
    pub(super) fn new(settings: Settings) -> Self {
        let (guard, page) = (settings.guard_pages, sys::page_size());
        // The advice is always tested: where it does not work, there would be no guards at all.
        let kind = match settings.guard_kind {
            Some(GuardKind::Protection) => GuardKind::Protection,
            Some(GuardKind::Advice) | None => GuardKind::best(),
        };
        let mut classes =
            SizeClass::all().map(|class| Lock::new(Class::new(Shape::new(class, guard, page), kind)));
        let now = (settings.clock)();
        Self {
            settings,
            classes: std::array::from_fn(|_| classes.next().expect("as many as there are classes")),
            existing: AtomicUsize::new(0),
            last_look: Lock::new(now),
            caches: Lock::default(),
        }
    }

    /// Returns the pool's address. It is also valid for changing the `Arc`'s counts, since it is
    /// not derived from a reference to `Self`, which would end where `Self` does.
    pub(super) fn address(self: &Arc<Self>) -> PoolAddress {
        PoolAddress(NonNull::new(Arc::as_ptr(self).cast_mut()).expect("an `Arc` is never null").cast())
    }

    fn class(&self, class: SizeClass) -> MutexGuard<'_, Class> {
        self.classes[class.index()].lock()
    }

    /// Hands out one stack, and moves up to `more` other warm ones into `others`. At the limit,
    /// unused stacks of all classes are trimmed to make room.
    pub(super) fn take(
        self: &Arc<Self>,
        class: SizeClass,
        others: &mut Vec<RawStack>,
        more: usize,
    ) -> Result<RawStack, StackError> {
        let mut locked = self.class(class);
        let was_idle = locked.out == 0;
        let Some(stack) = locked.take_warm() else {
            drop(locked);
            return self.take_slow(class);
        };
        others.extend(std::iter::from_fn(|| locked.take_warm()).take(more));
        self.keep_for_class(was_idle);
        Ok(stack)
    }

    #[cold]
    fn take_slow(self: &Arc<Self>, class: SizeClass) -> Result<RawStack, StackError> {
        match self.take_any(class) {
            Err(StackError::Limit(_)) => {
                self.trim();
                self.take_any(class)
            }
            result => result,
        }
    }

    /// Hands out a warm or cold stack. Another thread may have returned a warm one meanwhile.
    fn take_any(self: &Arc<Self>, class: SizeClass) -> Result<RawStack, StackError> {
        let mut locked = self.class(class);
        let was_idle = locked.out == 0;
        let stack = match locked.take_warm() {
            Some(stack) => stack,
            None => self.take_cold(&mut locked)?,
        };
        self.keep_for_class(was_idle);
        Ok(stack)
    }

    /// Takes a count of the `Arc` for a class, which is locked, if its first stack has just gone
    /// out. `put_back` gives the count back.
    fn keep_for_class(self: &Arc<Self>, was_idle: bool) {
        if was_idle {
            std::mem::forget(self.clone());
        }
    }

    fn take_cold(self: &Arc<Self>, class: &mut Class) -> Result<RawStack, StackError> {
        let most = self.settings.max_stacks;
        let grown = self.existing.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |existing| {
            (existing < most).then_some(existing + 1)
        });
        if grown.is_err() {
            return Err(StackError::Limit(most));
        }
        class.take_cold(self.address()).inspect_err(|_| self.shrink(1))
    }

    fn shrink(&self, stacks: usize) {
        self.existing.fetch_sub(stacks, Ordering::Relaxed);
    }

    /// Takes stacks of one class back.
    ///
    /// # Safety
    ///
    /// `pool` is the [`address`](Self::address) of the stacks' pool. The stacks are out; the caller
    /// owns them and gives them up.
    pub(super) unsafe fn put_back(
        pool: PoolAddress,
        class: SizeClass,
        stacks: impl ExactSizeIterator<Item = RawStack>,
    ) {
        if stacks.len() == 0 {
            return;
        }
        let this = pool.0.cast::<Self>();
        // SAFETY: a stack of this class is out, so the class's count keeps the pool alive until the
        // class is unlocked below.
        let shared = unsafe { this.as_ref() };
        let mut locked = shared.class(class);
        locked.put_back(stacks);
        let surplus = locked.warm().saturating_sub(shared.settings.keep_most);
        let is_last = locked.out == 0;
        // SAFETY: either other stacks of the class are out, and cannot be returned before the class
        // is unlocked, or this call may take the class's count.
        let kept = (is_last || surplus > 0).then(|| unsafe { Self::keep(this, is_last) });
        drop(locked);
        // The pool may be freed at the end of this block.
        if let Some(pool) = kept.filter(|_| surplus > 0) {
            let (fewest, most) = (pool.settings.keep_fewest, pool.settings.keep_most);
            // Trim more than the surplus, so that the next returned stacks do not come here again,
            // but few enough that the trimmed stacks are not needed soon.
            let more = ((most - fewest) / 2).min(TRIMMED_AT_ONCE);
            pool.trim_class(class, surplus + more, fewest);
        }
    }

    /// Keeps the pool alive after a class is unlocked, for a thread that has just returned a stack
    /// of the class. Takes the class's own count if that was the last stack, otherwise a new one.
    ///
    /// # Safety
    ///
    /// `this` comes from [`address`](Self::address). The class is locked, and has stacks out or had
    /// some when it was locked.
    unsafe fn keep(this: NonNull<Self>, was_last: bool) -> Arc<Self> {
        if !was_last {
            // SAFETY: the caller's promise: the class's count keeps the pool alive.
            unsafe { Arc::increment_strong_count(this.as_ptr()) };
        }
        // SAFETY: this takes the count made above, or the one that `keep_for_class` took when the
        // first stack went out.
        unsafe { Arc::from_raw(this.as_ptr()) }
    }

    /// Gives back the memory of up to `count` of the oldest warm stacks, and leaves at least
    /// `keep`. Returns how many.
    fn trim_class(&self, class: SizeClass, count: usize, keep: usize) -> usize {
        let mut retired = Retired::new();
        let mut trimmed = 0;
        while trimmed < count {
            let mut locked = self.class(class);
            let batch = locked.warm().saturating_sub(keep).min(count - trimmed).min(TRIMMED_AT_ONCE);
            if batch == 0 {
                break;
            }
            let count = locked.retire(batch, &mut retired);
            drop(locked);
            trimmed += count;
            self.shrink(count);
            self.give_back(class, &mut retired);
        }
        trimmed
    }

    /// Does the slow part of trimming, without the lock. Leaves `retired` empty.
    fn give_back(&self, class: SizeClass, retired: &mut Retired) {
        self.unmap(class, retired);
        // SAFETY: this call alone has these stacks until they are `cooled`, and nothing runs on
        // them.
        unsafe { slab::free(&retired.cooling) };
        self.class(class).cooled(retired);
        self.unmap(class, retired);
    }

    /// Unmaps slabs of which no stack is in use. A slab that the system refuses to unmap stays, to
    /// be used or tried again.
    fn unmap(&self, class: SizeClass, retired: &mut Retired) {
        for slab in retired.slabs.drain() {
            let unmapped = slab.give_back();
            self.class(class).settle(unmapped);
        }
    }

    /// Gives back the memory of all unused stacks. Returns how many there were.
    pub(super) fn trim(&self) -> usize {
        SizeClass::all().map(|class| self.trim_whole(class, usize::MAX, 0)).sum()
    }

    /// Does the same as [`trim_class`](Self::trim_class), and tries again to unmap slabs that the
    /// system refused to unmap.
    fn trim_whole(&self, class: SizeClass, count: usize, keep: usize) -> usize {
        self.class(class).retry_refused();
        self.trim_class(class, count, keep)
    }

    /// Gives back the memory of some stacks that were not needed for the idle time.
    pub(super) fn trim_idle(&self) -> usize {
        if !self.may_have_spare() {
            return 0;
        }
        let now = (self.settings.clock)();
        let mut last = self.last_look.lock();
        if now.saturating_duration_since(*last) >= self.settings.idle {
            *last = now;
            SizeClass::all().for_each(|class| self.class(class).look());
        }
        drop(last);
        let mut trimmed = 0;
        for class in SizeClass::all() {
            let idle = self.class(class).take_idle(TRIMMED_AT_ONCE - trimmed);
            if idle > 0 {
                trimmed += self.trim_whole(class, idle, self.settings.keep_fewest).min(idle);
            }
        }
        trimmed
    }

    /// Returns whether there may be more stacks than the pool keeps. Most pools never have more,
    /// and then no class is locked.
    fn may_have_spare(&self) -> bool {
        self.existing.load(Ordering::Relaxed) > self.settings.keep_fewest
    }

    /// Returns the time until the next check for idle stacks, if there are more than the pool
    /// keeps.
    pub(super) fn time_to_trim(&self) -> Option<Duration> {
        let fewest = self.settings.keep_fewest;
        let has_spare =
            self.may_have_spare() && SizeClass::all().any(|class| self.class(class).warm() > fewest);
        has_spare.then(|| {
            let last = *self.last_look.lock();
            self.settings.idle.saturating_sub((self.settings.clock)().saturating_duration_since(last))
        })
    }

    /// Adds the count of a new cache.
    pub(super) fn count_cache(&self) -> Arc<AtomicUsize> {
        let count = Arc::new(AtomicUsize::new(0));
        self.caches.lock().push(count.clone());
        count
    }

    /// Removes the count of a cache that ends.
    pub(super) fn forget_cache(&self, count: &Arc<AtomicUsize>) {
        self.caches.lock().retain(|other| !Arc::ptr_eq(other, count));
    }

    /// Returns the statistics.
    pub(super) fn stats(&self) -> StackStats {
        let mut stats = StackStats::default();
        let mut out = 0;
        for class in SizeClass::all() {
            let class = self.class(class);
            out += class.out;
            stats.pooled += class.warm();
            for (slab, guards) in class.slabs() {
                stats.slabs += 1;
                stats.reserved += slab.bytes();
                stats.guards_by_advice += guards.by_advice;
                stats.guards_by_protection += guards.by_protection;
            }
        }
        let cached: usize = self.caches.lock().iter().map(|count| count.load(Ordering::Relaxed)).sum();
        stats.live = out.saturating_sub(cached);
        stats.pooled += cached;
        stats
    }

    /// Returns how many bytes of all slabs are in memory.
    pub(super) fn resident(&self) -> usize {
        SizeClass::all()
            .map(|class| self.class(class).slabs().map(|(slab, _)| slab.resident()).sum::<usize>())
            .sum()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::super::cache::StackCache;
    use super::*;

    #[test]
    fn nothing_is_kept_of_a_cache_that_has_ended() {
        let shared = Arc::new(Shared::new(Settings::default()));
        let caches = [shared.clone(), shared.clone()].map(StackCache::new);
        assert_eq!(shared.caches.lock().len(), 2);
        drop(caches);
        assert_eq!(shared.caches.lock().len(), 0);
    }
}
