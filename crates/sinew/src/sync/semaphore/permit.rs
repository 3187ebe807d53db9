//! Permits that somebody has.

use std::fmt;

use super::Semaphore;

/// Permits of a [`Semaphore`], which are given back when this is dropped.
///
/// It may be sent: who gives permits back need not be who acquired them.
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
#[must_use = "the permits are given back at once if this is not kept"]
#[clippy::has_significant_drop]
pub struct SemaphorePermit<'a> {
    semaphore: &'a Semaphore,
    permits: usize,
}

impl<'a> SemaphorePermit<'a> {
    pub(super) fn new(semaphore: &'a Semaphore, permits: usize) -> Self {
        Self { semaphore, permits }
    }

    /// How many they are.
    #[must_use]
    pub fn num_permits(&self) -> usize {
        self.permits
    }

    /// Does not give them back: there are so many less from now on.
    pub fn forget(mut self) {
        self.semaphore.write_off(std::mem::take(&mut self.permits));
    }

    /// Splits so many off. None, if there are fewer.
    pub fn split(&mut self, permits: usize) -> Option<Self> {
        self.permits = self.permits.checked_sub(permits)?;
        Some(Self::new(self.semaphore, permits))
    }

    /// Takes those of another one over.
    ///
    /// # Panics
    ///
    /// If they are of another semaphore. They are given back to it then.
    pub fn merge(&mut self, mut other: Self) {
        let is_same = std::ptr::eq(self.semaphore, other.semaphore);
        assert!(is_same, "permits of two semaphores cannot be merged");
        self.permits += std::mem::take(&mut other.permits);
    }
}

impl Drop for SemaphorePermit<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.permits > 0 {
            self.semaphore.give_back(self.permits);
        }
    }
}

impl fmt::Debug for SemaphorePermit<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SemaphorePermit").field("permits", &self.permits).finish_non_exhaustive()
    }
}
