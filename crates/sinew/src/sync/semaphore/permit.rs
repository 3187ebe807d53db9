//! Guards for acquired permits: a borrowing guard and an owning guard.

use std::ops::Deref;
use std::sync::Arc;

use super::Semaphore;
use crate::rt::impl_debug;

/// Permits that are released on drop. `S` refers to the semaphore: a reference or an `Arc`.
struct HeldPermits<S: Deref<Target = Semaphore>> {
    semaphore: S,
    permits: usize,
}

impl<S: Deref<Target = Semaphore>> HeldPermits<S> {
    fn forget(mut self) {
        let permits = std::mem::take(&mut self.permits);
        self.semaphore.write_off(permits);
    }

    fn split(&mut self, permits: usize) -> Option<Self>
    where
        S: Clone,
    {
        self.permits = self.permits.checked_sub(permits)?;
        Some(Self { semaphore: self.semaphore.clone(), permits })
    }

    #[track_caller]
    fn merge(&mut self, mut other: Self) {
        let is_same = std::ptr::eq(&*self.semaphore, &*other.semaphore);
        assert!(is_same, "permits of two semaphores cannot be merged");
        self.permits += std::mem::take(&mut other.permits);
    }
}

impl<S: Deref<Target = Semaphore>> Drop for HeldPermits<S> {
    #[inline]
    fn drop(&mut self) {
        if self.permits > 0 {
            self.semaphore.give_back(self.permits);
        }
    }
}

/// The methods of both kinds of permits.
macro_rules! permit_methods {
    () => {
        /// Returns the number of permits.
        #[must_use]
        pub fn num_permits(&self) -> usize {
            self.held.permits
        }

        /// Drops the guard without releasing its permits: the semaphore loses them.
        pub fn forget(self) {
            self.held.forget();
        }

        /// Splits off this many permits. Returns `None` if there are fewer.
        ///
        /// ```
        /// use sinew::sync::Semaphore;
        ///
        /// let semaphore = Semaphore::new(3);
        /// let mut batch = semaphore.acquire_many(3).unwrap();
        /// let one = batch.split(1).unwrap();
        /// assert_eq!((batch.num_permits(), one.num_permits()), (2, 1));
        /// assert!(batch.split(3).is_none());
        /// one.forget();
        /// drop(batch);
        /// assert_eq!(semaphore.available_permits(), 2);
        /// ```
        pub fn split(&mut self, permits: usize) -> Option<Self> {
            self.held.split(permits).map(|held| Self { held })
        }

        /// Adds the permits of another guard to this one.
        ///
        /// ```
        /// use sinew::sync::Semaphore;
        ///
        /// let semaphore = Semaphore::new(3);
        /// let mut permits = semaphore.acquire().unwrap();
        /// permits.merge(semaphore.acquire_many(2).unwrap());
        /// assert_eq!(permits.num_permits(), 3);
        /// ```
        ///
        /// # Panics
        ///
        /// Panics if the permits belong to another semaphore, which gets them back then.
        #[track_caller]
        pub fn merge(&mut self, other: Self) {
            self.held.merge(other.held);
        }
    };
}

/// Permits of a [`Semaphore`], which are released when this is dropped.
///
/// The guard may be sent: another fiber or thread may release the permits. [`OwnedSemaphorePermit`]
/// keeps its semaphore alive and has no lifetime.
///
/// ```
/// use sinew::fiber;
/// use sinew::sync::Semaphore;
///
/// static SEMAPHORE: Semaphore = Semaphore::new(1);
/// let permit = SEMAPHORE.acquire().unwrap();
/// fiber::spawn(move || drop(permit)).join().unwrap();
/// assert_eq!(SEMAPHORE.available_permits(), 1);
/// ```
#[must_use = "the permits are released at once if this is not kept"]
#[clippy::has_significant_drop]
pub struct SemaphorePermit<'a> {
    held: HeldPermits<&'a Semaphore>,
}

impl<'a> SemaphorePermit<'a> {
    #[inline]
    pub(super) fn new(semaphore: &'a Semaphore, permits: usize) -> Self {
        Self { held: HeldPermits { semaphore, permits } }
    }

    permit_methods!();
}

impl_debug!(SemaphorePermit<'a>, |permit| { permits: permit.held.permits, .. });

/// Permits of a [`Semaphore`] in an [`Arc`], which are released when this is dropped.
///
/// The guard owns a reference to its semaphore, so it can be stored in a struct, or moved into a
/// fiber that outlives the caller. [`Semaphore::acquire_owned`] and its variants return it.
///
/// ```
/// use sinew::fiber;
/// use sinew::sync::Semaphore;
/// use std::sync::Arc;
///
/// // At most 4 fibers of this loop run at a time.
/// let limit = Arc::new(Semaphore::new(4));
/// let mut fibers = Vec::new();
/// for number in 0..20 {
///     let permit = limit.clone().acquire_owned().unwrap();
///     fibers.push(fiber::spawn(move || {
///         let _permit = permit;
///         number * 2
///     }));
/// }
/// let sum: u32 = fibers.into_iter().map(|fiber| fiber.join().unwrap()).sum();
/// assert_eq!((sum, limit.available_permits()), (380, 4));
/// ```
#[must_use = "the permits are released at once if this is not kept"]
#[clippy::has_significant_drop]
pub struct OwnedSemaphorePermit {
    held: HeldPermits<Arc<Semaphore>>,
}

impl OwnedSemaphorePermit {
    #[inline]
    pub(super) fn new(semaphore: Arc<Semaphore>, permits: usize) -> Self {
        Self { held: HeldPermits { semaphore, permits } }
    }

    permit_methods!();

    /// Returns the semaphore that the permits belong to.
    ///
    /// ```
    /// use sinew::sync::Semaphore;
    /// use std::sync::Arc;
    ///
    /// let semaphore = Arc::new(Semaphore::new(1));
    /// let permit = semaphore.clone().acquire_owned().unwrap();
    /// assert!(Arc::ptr_eq(permit.semaphore(), &semaphore));
    /// ```
    #[must_use]
    pub fn semaphore(&self) -> &Arc<Semaphore> {
        &self.held.semaphore
    }
}

impl_debug!(OwnedSemaphorePermit, |permit| { permits: permit.held.permits, .. });
