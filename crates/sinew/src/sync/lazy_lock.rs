//! A value that is initialised on first use, with the names of [`std::sync::LazyLock`].
//!
//! # Safety
//!
//! Trusted to lend a value that was written behind a shared reference, before any caller could read
//! it.
#![expect(unsafe_code, reason = "the value is written behind a shared reference, once")]

use std::cell::UnsafeCell;
use std::fmt;
use std::mem;
use std::ops::{Deref, DerefMut};
use std::panic::{RefUnwindSafe, UnwindSafe};

use super::once::Once;

const POISONED: &str = "LazyLock instance has previously been poisoned";

/// A value that is initialised on first use, for fibers and threads. Callers that need the value
/// while it is initialised wait; a fiber that waits leaves its worker to other fibers.
///
/// It has all functions of [`std::sync::LazyLock`], with the same names and the same poisoning: if
/// the initialiser panics, so does every use. Differences from std:
///
/// - The initialiser may suspend.
/// - An initialiser that needs the value itself panics. With std's, it may also wait for ever.
///
/// ```
/// use sinew::fiber;
/// use sinew::sync::LazyLock;
/// use std::time::Duration;
///
/// static GREETING: LazyLock<String> = LazyLock::new(|| {
///     fiber::sleep(Duration::from_millis(1));
///     "hello".to_owned()
/// });
///
/// let other = fiber::spawn(|| GREETING.len());
/// assert_eq!(*GREETING, "hello");
/// assert_eq!(other.join().unwrap(), 5);
/// ```
pub struct LazyLock<T, F = fn() -> T> {
    once: Once,
    /// # Invariant
    ///
    /// Behind a shared reference, only the closure that `once` runs changes it, before `once` is
    /// completed; it is read only after that. It is [`Made`](LazyState::Made) if `once` is
    /// completed.
    state: UnsafeCell<LazyState<T, F>>,
}

enum LazyState<T, F> {
    /// The value was not used yet.
    New(F),
    Made(T),
    /// The initialiser is running, or has panicked.
    Gone,
}

// SAFETY: by the invariant of `state`, one thread may call the initialiser that another created,
// and write a value that another drops, which `Send` allows. All threads may read the value at
// once, which `T: Sync` allows.
unsafe impl<T: Send + Sync, F: Send> Sync for LazyLock<T, F> {}

// A panic of the initialiser poisons it.
impl<T: RefUnwindSafe + UnwindSafe, F: UnwindSafe> RefUnwindSafe for LazyLock<T, F> {}
impl<T: UnwindSafe, F: UnwindSafe> UnwindSafe for LazyLock<T, F> {}

impl<T, F: FnOnce() -> T> LazyLock<T, F> {
    /// Creates a value that `f` initialises on first use.
    #[inline]
    pub const fn new(f: F) -> Self {
        Self { once: Once::new(), state: UnsafeCell::new(LazyState::New(f)) }
    }

    /// Returns the value, and initialises it first if needed. Dereferencing does the same.
    ///
    /// ```
    /// use sinew::sync::LazyLock;
    ///
    /// let lazy = LazyLock::new(|| 5);
    /// assert_eq!(LazyLock::force(&lazy), &5);
    /// assert_eq!(*lazy, 5);
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if the initialiser panics or has panicked. Panics if the initialiser needs the value
    /// itself. Panics if the caller would have to wait and is inside
    /// [`no_suspend`](crate::fiber::no_suspend).
    #[inline]
    #[track_caller]
    pub fn force(this: &Self) -> &T {
        if !this.once.is_completed() {
            this.make();
        }
        // SAFETY: `once` is completed, as was just checked or waited for.
        unsafe { this.value() }
    }

    #[cold]
    #[track_caller]
    fn make(&self) {
        self.once.call_once_force(|_| {
            // SAFETY: the invariant of `state`: this is the closure that `once` runs.
            let before = unsafe { mem::replace(&mut *self.state.get(), LazyState::Gone) };
            let LazyState::New(f) = before else { panic!("{POISONED}") };
            let made = LazyState::Made(f());
            // SAFETY: as above.
            unsafe { *self.state.get() = made };
        });
    }

    /// Returns a mutable reference to the value, and initialises it first if needed. Never waits.
    ///
    /// # Panics
    ///
    /// Panics if the initialiser panics or has panicked.
    #[inline]
    #[track_caller]
    pub fn force_mut(this: &mut Self) -> &mut T {
        if !this.once.is_completed() {
            this.make_mut();
        }
        Self::get_mut(this).expect("it is made")
    }

    #[cold]
    #[track_caller]
    fn make_mut(&mut self) {
        let state = self.state.get_mut();
        let LazyState::New(f) = mem::replace(state, LazyState::Gone) else { panic!("{POISONED}") };
        *state = LazyState::Made(f());
        self.once = Once::done();
    }
}

impl<T, F> LazyLock<T, F> {
    /// Returns the value if it is initialised. Never waits.
    #[inline]
    pub fn get(this: &Self) -> Option<&T> {
        // SAFETY: `once` is completed, as was just checked or waited for.
        this.once.is_completed().then(|| unsafe { this.value() })
    }

    /// Returns a mutable reference to the value if it is initialised.
    #[inline]
    pub fn get_mut(this: &mut Self) -> Option<&mut T> {
        match this.state.get_mut() {
            LazyState::Made(value) => Some(value),
            LazyState::New(_) | LazyState::Gone => None,
        }
    }

    /// # Safety
    ///
    /// `once` is completed.
    #[inline]
    unsafe fn value(&self) -> &T {
        // SAFETY: the invariant of `state`: it no longer changes, since `once` is completed.
        match unsafe { &*self.state.get() } {
            LazyState::Made(value) => value,
            // SAFETY: the invariant of `state`: it is `Made`, since `once` is completed.
            LazyState::New(_) | LazyState::Gone => unsafe { std::hint::unreachable_unchecked() },
        }
    }
}

impl<T, F: FnOnce() -> T> Deref for LazyLock<T, F> {
    type Target = T;

    /// Returns the value, as [`force`](Self::force) does.
    #[inline]
    fn deref(&self) -> &T {
        Self::force(self)
    }
}

impl<T, F: FnOnce() -> T> DerefMut for LazyLock<T, F> {
    /// Returns the value, as [`force_mut`](Self::force_mut) does.
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        Self::force_mut(self)
    }
}

impl<T: Default> Default for LazyLock<T> {
    /// Creates a value that is initialised with `T::default`.
    fn default() -> Self {
        Self::new(T::default)
    }
}

impl<T, F> From<T> for LazyLock<T, F> {
    /// Creates a value that is already initialised.
    ///
    /// ```
    /// use sinew::sync::LazyLock;
    ///
    /// let number: LazyLock<u32> = LazyLock::from(5);
    /// assert_eq!(LazyLock::get(&number), Some(&5));
    /// ```
    fn from(value: T) -> Self {
        Self { once: Once::done(), state: UnsafeCell::new(LazyState::Made(value)) }
    }
}

impl<T: fmt::Debug, F> fmt::Debug for LazyLock<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_tuple("LazyLock");
        match Self::get(self) {
            Some(value) => out.field(value),
            None => out.field(&format_args!("<uninit>")),
        };
        out.finish()
    }
}
