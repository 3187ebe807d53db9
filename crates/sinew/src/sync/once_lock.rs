//! A value that is set once, with the names of [`std::sync::OnceLock`].
//!
//! # Safety
//!
//! Trusted to lend a value that was written behind a shared reference, before any caller could read
//! it.
#![expect(unsafe_code, reason = "the value is written behind a shared reference, once")]

use std::cell::UnsafeCell;
use std::fmt;
use std::mem;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::time::Duration;

use super::once::Once;
use crate::fiber::Stopped;
use crate::raw::OnceFailure;

/// A value that is set once, for fibers and threads. Callers that need the value while it is
/// initialised wait; a fiber that waits leaves its worker to other fibers.
///
/// It has all methods of [`std::sync::OnceLock`], with the same names. If an initialiser panics,
/// the value stays unset, and the next initialiser may set it. Differences from std:
///
/// - The initialiser may suspend.
/// - An initialiser that needs the value itself panics. With std's, it waits for ever.
/// - There are waits with a limit: [`wait_timeout`](Self::wait_timeout) and
///   [`wait_cancellable`](Self::wait_cancellable).
///
/// ```
/// use sinew::fiber;
/// use sinew::sync::OnceLock;
///
/// static NAME: OnceLock<String> = OnceLock::new();
///
/// let fibers = [1, 2, 3].map(|n| fiber::spawn(move || NAME.get_or_init(|| format!("by {n}"))));
/// let names = fibers.map(|fiber| fiber.join().unwrap());
/// assert!(names.iter().all(|name| *name == NAME.get().unwrap()));
/// ```
///
/// It is `Sync` only if its value is:
///
/// ```compile_fail,E0277
/// use sinew::sync::OnceLock;
///
/// static CELL: OnceLock<std::cell::Cell<u32>> = OnceLock::new();
/// ```
pub struct OnceLock<T> {
    once: Once,
    /// # Invariant
    ///
    /// Behind a shared reference, only the closure that `once` runs writes it, before `once` is
    /// completed; it is read only after that. It is `Some` if and only if `once` is completed.
    value: UnsafeCell<Option<T>>,
}

// SAFETY: by the invariant of `value`, one thread may write the value and another may drop it,
// which `T: Send` allows, and all may read it at once, which `T: Sync` allows.
unsafe impl<T: Send + Sync> Sync for OnceLock<T> {}

// An initialiser that panics leaves no value behind.
impl<T: RefUnwindSafe + UnwindSafe> RefUnwindSafe for OnceLock<T> {}
impl<T: UnwindSafe> UnwindSafe for OnceLock<T> {}

impl<T> OnceLock<T> {
    /// Creates an unset value.
    #[inline]
    #[must_use]
    pub const fn new() -> Self {
        Self { once: Once::new(), value: UnsafeCell::new(None) }
    }

    /// Returns the value if it is set. Never waits.
    #[inline]
    pub fn get(&self) -> Option<&T> {
        // SAFETY: `once` is completed, as was just checked or waited for.
        self.once.is_completed().then(|| unsafe { self.value() })
    }

    /// Returns a mutable reference to the value if it is set.
    #[inline]
    pub fn get_mut(&mut self) -> Option<&mut T> {
        self.value.get_mut().as_mut()
    }

    /// Waits until the value is set, and returns it.
    ///
    /// # Panics
    ///
    /// Panics if the initialiser calls this. Panics if the caller would have to wait and is inside
    /// [`no_suspend`](crate::fiber::no_suspend).
    #[track_caller]
    pub fn wait(&self) -> &T {
        self.once.wait_force();
        // SAFETY: `once` is completed, as was just checked or waited for.
        unsafe { self.value() }
    }

    /// Waits as [`wait`](Self::wait) does, but at most for `time`. Returns `None` if the value is
    /// not set in that time.
    ///
    /// ```
    /// use sinew::sync::OnceLock;
    /// use std::time::Duration;
    ///
    /// let cell = OnceLock::new();
    /// assert_eq!(cell.wait_timeout(Duration::from_millis(1)), None);
    /// cell.set(5).unwrap();
    /// assert_eq!(cell.wait_timeout(Duration::ZERO), Some(&5));
    /// ```
    ///
    /// # Panics
    ///
    /// Panics as [`wait`](Self::wait) does.
    #[track_caller]
    pub fn wait_timeout(&self, time: Duration) -> Option<&T> {
        self.once.waits_for(OnceFailure::IsIgnored, time);
        self.get()
    }

    /// Waits as [`wait`](Self::wait) does, but [cancellation and deadlines](crate::fiber#stopping)
    /// end the wait.
    ///
    /// # Errors
    ///
    /// Returns an error if the caller is stopped before the value is set.
    ///
    /// # Panics
    ///
    /// Panics as [`wait`](Self::wait) does.
    #[track_caller]
    pub fn wait_cancellable(&self) -> Result<&T, Stopped> {
        self.once.wait_or_stop(OnceFailure::IsIgnored)?;
        // SAFETY: `once` is completed, as was just checked or waited for.
        Ok(unsafe { self.value() })
    }

    /// Sets the value. Waits if another caller is setting it.
    ///
    /// ```
    /// use sinew::sync::OnceLock;
    ///
    /// let cell = OnceLock::new();
    /// assert_eq!(cell.set(5), Ok(()));
    /// assert_eq!(cell.set(6), Err(6));
    /// assert_eq!(cell.get(), Some(&5));
    /// ```
    ///
    /// # Errors
    ///
    /// Returns the new value as an error if a value is already set.
    ///
    /// # Panics
    ///
    /// Panics as [`wait`](Self::wait) does.
    #[inline]
    #[track_caller]
    pub fn set(&self, value: T) -> Result<(), T> {
        let mut value = Some(value);
        self.get_or_init(|| value.take().expect("it is called once"));
        value.map_or(Ok(()), Err)
    }

    /// Returns the value. If it is unset, it is set to the result of the closure. Of several
    /// concurrent callers, one runs its closure, and the others wait.
    ///
    /// ```
    /// use sinew::sync::OnceLock;
    ///
    /// let cell = OnceLock::new();
    /// assert_eq!(cell.get_or_init(|| 5), &5);
    /// assert_eq!(cell.get_or_init(|| 6), &5);
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if the closure panics; the value then stays unset. Panics if the closure needs the
    /// value itself. Panics if the caller would have to wait and is inside
    /// [`no_suspend`](crate::fiber::no_suspend).
    #[inline]
    #[track_caller]
    pub fn get_or_init<F>(&self, f: F) -> &T
    where
        F: FnOnce() -> T,
    {
        if !self.once.is_completed() {
            self.init(f);
        }
        // SAFETY: `once` is completed, as was just checked or waited for.
        unsafe { self.value() }
    }

    #[cold]
    #[track_caller]
    fn init<F: FnOnce() -> T>(&self, f: F) {
        self.once.call_once_force(|_| {
            let value = Some(f());
            // SAFETY: the invariant of `value`: this is the closure that `once` runs.
            unsafe { *self.value.get() = value };
        });
    }

    /// Returns the value if it is set.
    #[inline]
    pub fn into_inner(self) -> Option<T> {
        self.value.into_inner()
    }

    /// Takes the value out, and leaves it unset.
    #[inline]
    pub fn take(&mut self) -> Option<T> {
        mem::take(self).into_inner()
    }

    /// # Safety
    ///
    /// `once` is completed.
    #[inline]
    unsafe fn value(&self) -> &T {
        // SAFETY: the invariant of `value`: it is no longer written, since `once` is completed.
        let value = unsafe { &*self.value.get() };
        // SAFETY: the invariant of `value`: it is `Some`, since `once` is completed.
        unsafe { value.as_ref().unwrap_unchecked() }
    }
}

impl<T> Default for OnceLock<T> {
    #[inline]
    fn default() -> Self {
        Self::new()
    }
}

impl<T: fmt::Debug> fmt::Debug for OnceLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_tuple("OnceLock");
        match self.get() {
            Some(value) => out.field(value),
            None => out.field(&format_args!("<uninit>")),
        };
        out.finish()
    }
}

impl<T: Clone> Clone for OnceLock<T> {
    fn clone(&self) -> Self {
        self.get().map_or_else(Self::new, |value| Self::from(value.clone()))
    }
}

impl<T> From<T> for OnceLock<T> {
    /// Creates a value that is set.
    #[inline]
    fn from(value: T) -> Self {
        Self { once: Once::done(), value: UnsafeCell::new(Some(value)) }
    }
}

impl<T: PartialEq> PartialEq for OnceLock<T> {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl<T: Eq> Eq for OnceLock<T> {}
