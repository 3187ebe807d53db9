//! A value that is set once, with the names of [`std::sync::OnceLock`].
//!
//! # Safety
//!
//! Trusted with lending a value that was written while nobody looked.
#![expect(unsafe_code, reason = "the value is written behind a shared reference, once")]

use std::cell::UnsafeCell;
use std::fmt;
use std::mem;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::time::Duration;

use super::once::Once;
use crate::fiber::Stopped;
use crate::raw::OnceFailure;

/// A value that is set once, for fibers and threads alike: whoever needs it while somebody makes it waits, and a fiber that waits
/// gives its worker to others.
///
/// It has all that [`std::sync::OnceLock`] has, with the same names. An initialiser that panics leaves it without a value, for the
/// next one. What is different:
///
/// - The initialiser may suspend.
/// - An initialiser that needs the value itself is a panic. With std's it waits for ever.
/// - Waits that end: [`wait_timeout`](Self::wait_timeout) and [`wait_cancellable`](Self::wait_cancellable).
///
/// ```
/// use sinew::fiber;
/// use sinew::sync::OnceLock;
///
/// static NAME: OnceLock<String> = OnceLock::new();
///
/// let fibers = (0..4).map(|n| fiber::spawn(move || NAME.get_or_init(|| format!("by {n}")).as_str()));
/// let names: Vec<_> = fibers.collect::<Vec<_>>().into_iter().map(|fiber| fiber.join().unwrap()).collect();
/// assert!(names.iter().all(|name| *name == NAME.get().unwrap()));
/// ```
///
/// It is shared only if its value may be:
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
    /// Behind a shared reference, it is written only by whoever runs `once`, before that is completed, and read only after. There is a
    /// value if and only if it is completed.
    value: UnsafeCell<Option<T>>,
}

// SAFETY: by the invariant of `value`, one thread may write it and another one drop it, which `T: Send` allows, and all read it at
// once, which `T: Sync` does.
unsafe impl<T: Send + Sync> Sync for OnceLock<T> {}

// An initialiser that panics leaves nothing behind.
impl<T: RefUnwindSafe + UnwindSafe> RefUnwindSafe for OnceLock<T> {}
impl<T: UnwindSafe> UnwindSafe for OnceLock<T> {}

impl<T> OnceLock<T> {
    /// One without a value.
    #[inline]
    #[must_use]
    pub const fn new() -> Self {
        Self { once: Once::new(), value: UnsafeCell::new(None) }
    }

    /// The value, if it is set. Never waits.
    #[inline]
    pub fn get(&self) -> Option<&T> {
        // SAFETY: it is completed.
        self.once.is_completed().then(|| unsafe { self.value() })
    }

    /// The value, if it is set.
    #[inline]
    pub fn get_mut(&mut self) -> Option<&mut T> {
        self.value.get_mut().as_mut()
    }

    /// Waits until it is set.
    ///
    /// # Panics
    ///
    /// If it is called by the initialiser. If the caller would have to wait, and is inside [`no_suspend`](crate::fiber::no_suspend).
    #[track_caller]
    pub fn wait(&self) -> &T {
        self.once.wait_force();
        // SAFETY: it is completed.
        unsafe { self.value() }
    }

    /// [`wait`](Self::wait), for at most so long.
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
    /// As [`wait`](Self::wait).
    #[track_caller]
    pub fn wait_timeout(&self, time: Duration) -> Option<&T> {
        self.once.waits_for(OnceFailure::IsIgnored, time);
        self.get()
    }

    /// [`wait`](Self::wait), where [cancellation and deadlines](crate::fiber#stopping) count.
    ///
    /// # Errors
    ///
    /// If the caller is to stop before it is set.
    ///
    /// # Panics
    ///
    /// As [`wait`](Self::wait).
    #[track_caller]
    pub fn wait_cancellable(&self) -> Result<&T, Stopped> {
        self.once.wait_or_stop(OnceFailure::IsIgnored)?;
        // SAFETY: it is completed.
        Ok(unsafe { self.value() })
    }

    /// Sets it. Waits, if somebody else is about to.
    ///
    /// # Errors
    ///
    /// If it is set already. The new value is in the error.
    ///
    /// # Panics
    ///
    /// As [`wait`](Self::wait).
    #[inline]
    #[track_caller]
    pub fn set(&self, value: T) -> Result<(), T> {
        let mut value = Some(value);
        self.get_or_init(|| value.take().expect("it is called once"));
        value.map_or(Ok(()), Err)
    }

    /// The value. If it is not set, it is set to what the closure returns; of several closures, only one is called, and the others
    /// wait.
    ///
    /// # Panics
    ///
    /// If the closure does, which leaves it without a value. If the closure needs the value itself. If the caller would have to wait, and
    /// is inside [`no_suspend`](crate::fiber::no_suspend).
    #[inline]
    #[track_caller]
    pub fn get_or_init<F>(&self, f: F) -> &T
    where
        F: FnOnce() -> T,
    {
        if !self.once.is_completed() {
            self.init(f);
        }
        // SAFETY: it is completed.
        unsafe { self.value() }
    }

    #[cold]
    #[track_caller]
    fn init<F: FnOnce() -> T>(&self, f: F) {
        self.once.call_once_force(|_| {
            let value = Some(f());
            // SAFETY: the invariant of `value`: this is who runs `once`.
            unsafe { *self.value.get() = value };
        });
    }

    /// The value, if it was set.
    #[inline]
    pub fn into_inner(self) -> Option<T> {
        self.value.into_inner()
    }

    /// Takes the value out, and leaves it without one.
    #[inline]
    pub fn take(&mut self) -> Option<T> {
        mem::take(self).into_inner()
    }

    /// # Safety
    ///
    /// `once` is completed.
    #[inline]
    unsafe fn value(&self) -> &T {
        // SAFETY: the invariant of `value`: nobody writes it any more.
        let value = unsafe { &*self.value.get() };
        // SAFETY: the invariant of `value`: there is one.
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
    /// One whose value is set.
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
