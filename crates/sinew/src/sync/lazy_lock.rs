//! A value that is made when it is first needed, with the names of [`std::sync::LazyLock`].
//!
//! # Safety
//!
//! Trusted with lending a value that was written while nobody looked.
#![expect(unsafe_code, reason = "the value is written behind a shared reference, once")]

use std::cell::UnsafeCell;
use std::fmt;
use std::mem;
use std::ops::{Deref, DerefMut};
use std::panic::{RefUnwindSafe, UnwindSafe};

use super::once::Once;

const POISONED: &str = "LazyLock instance has previously been poisoned";

/// A value that is made when it is first needed, for fibers and threads alike: whoever needs it while somebody makes it waits, and a
/// fiber that waits gives its worker to others.
///
/// It has all that [`std::sync::LazyLock`] has, with the same names and the same poison: if the initialiser panics, so does every use.
/// What is different:
///
/// - The initialiser may suspend.
/// - An initialiser that needs the value itself is a panic. With std's it may also wait for ever.
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
    /// Behind a shared reference, it is changed only by whoever runs `once`, before that is completed, and read only after. It is
    /// [`Made`](LazyState::Made) if that is completed.
    state: UnsafeCell<LazyState<T, F>>,
}

enum LazyState<T, F> {
    /// Nobody has needed it.
    New(F),
    Made(T),
    /// The initialiser runs, or has panicked.
    Gone,
}

// SAFETY: by the invariant of `state`, one thread may call the initialiser that another one made, and write a value that another one
// drops, which `Send` allows, and all read the value at once, which `T: Sync` does.
unsafe impl<T: Send + Sync, F: Send> Sync for LazyLock<T, F> {}

// A panic of the initialiser poisons it.
impl<T: RefUnwindSafe + UnwindSafe, F: UnwindSafe> RefUnwindSafe for LazyLock<T, F> {}
impl<T: UnwindSafe, F: UnwindSafe> UnwindSafe for LazyLock<T, F> {}

impl<T, F: FnOnce() -> T> LazyLock<T, F> {
    /// One whose value this makes, when it is needed.
    #[inline]
    pub const fn new(f: F) -> Self {
        Self { once: Once::new(), state: UnsafeCell::new(LazyState::New(f)) }
    }

    /// The value, which is made now, if it is not yet. What dereferencing does.
    ///
    /// # Panics
    ///
    /// If the initialiser does, or has. If the initialiser needs the value itself. If the caller would have to wait, and is inside
    /// [`no_suspend`](crate::fiber::no_suspend).
    #[inline]
    #[track_caller]
    pub fn force(this: &Self) -> &T {
        if !this.once.is_completed() {
            this.make();
        }
        // SAFETY: it is completed.
        unsafe { this.value() }
    }

    #[cold]
    #[track_caller]
    fn make(&self) {
        self.once.call_once_force(|_| {
            // SAFETY: the invariant of `state`: this is who runs `once`.
            let before = unsafe { mem::replace(&mut *self.state.get(), LazyState::Gone) };
            let LazyState::New(f) = before else { panic!("{POISONED}") };
            let made = LazyState::Made(f());
            // SAFETY: as above.
            unsafe { *self.state.get() = made };
        });
    }

    /// [`force`](Self::force), for whoever has it to itself.
    ///
    /// # Panics
    ///
    /// If the initialiser does, or has.
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
    /// The value, if it is made. Never waits.
    #[inline]
    pub fn get(this: &Self) -> Option<&T> {
        // SAFETY: it is completed.
        this.once.is_completed().then(|| unsafe { this.value() })
    }

    /// The value, if it is made.
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
        // SAFETY: the invariant of `state`: nobody changes it any more.
        match unsafe { &*self.state.get() } {
            LazyState::Made(value) => value,
            // SAFETY: the invariant of `state`: it is made.
            LazyState::New(_) | LazyState::Gone => unsafe { std::hint::unreachable_unchecked() },
        }
    }
}

impl<T, F: FnOnce() -> T> Deref for LazyLock<T, F> {
    type Target = T;

    /// [`force`](Self::force).
    #[inline]
    fn deref(&self) -> &T {
        Self::force(self)
    }
}

impl<T, F: FnOnce() -> T> DerefMut for LazyLock<T, F> {
    /// [`force_mut`](Self::force_mut).
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        Self::force_mut(self)
    }
}

impl<T: Default> Default for LazyLock<T> {
    /// One whose value is the default one.
    fn default() -> Self {
        Self::new(T::default)
    }
}

impl<T, F> From<T> for LazyLock<T, F> {
    /// One whose value is made already.
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
