//! Macros for what several locks and their guards have in common.
//!
//! # Safety
//!
//! Trusted to lend a value to the holder of its lock, and to turn a guard for a value into a guard
//! for a part of it.
#![allow(unsafe_code, reason = "the macros are expanded in files that expect it")]

/// Implements `Debug` and `Display` for a guard by those of the value that it lends.
macro_rules! show_as_value {
    ($($guard:ident),+) => { $(
        impl<T: ?Sized + fmt::Debug> fmt::Debug for $guard<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&**self, f)
            }
        }

        impl<T: ?Sized + fmt::Display> fmt::Display for $guard<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&**self, f)
            }
        }
    )+ };
}

/// Defines `map` and `filter_map`, which make a guard for a part of what a guard lends. With `mut`,
/// the guard lends its value mutably. The method named after `by` returns the parts of the guard,
/// with the lock still held.
macro_rules! map_methods {
    ($(#[$doc:meta])* $($mut:ident)? => $mapped:ident<$a:lifetime> by $parts:ident) => {
        $(#[$doc])*
        pub fn map<U, F>($($mut)? orig: Self, f: F) -> $mapped<$a, U>
        where
            F: FnOnce(&$($mut)? T) -> &$($mut)? U,
            U: ?Sized,
        {
            let value = NonNull::from(f(&$($mut)? *orig));
            // SAFETY: the closure accepts a reference of any lifetime, so it can only return a part
            // of what it was lent, or something that lives long enough.
            unsafe { $mapped::new(value, orig.$parts()) }
        }

        /// Returns a guard for a part of the value, as [`map`](Self::map) does, if the closure
        /// returns one.
        ///
        /// # Errors
        ///
        /// Returns the original guard if the closure returns `None`.
        ///
        /// # Panics
        ///
        /// Panics as [`map`](Self::map) does.
        pub fn filter_map<U, F>($($mut)? orig: Self, f: F) -> Result<$mapped<$a, U>, Self>
        where
            F: FnOnce(&$($mut)? T) -> Option<&$($mut)? U>,
            U: ?Sized,
        {
            match f(&$($mut)? *orig).map(NonNull::from) {
                // SAFETY: as for `map`.
                Some(value) => Ok(unsafe { $mapped::new(value, orig.$parts()) }),
                None => Err(orig),
            }
        }
    };
}

/// Defines a guard that gives its holder read access to a value: that of a whole lock, or a part of
/// it.
macro_rules! shared_guard {
    ($(#[$doc:meta])* $guard:ident of $raw:ident) => {
        $(#[$doc])*
        #[must_use = "the lock is released at once if the guard is not kept"]
        #[clippy::has_significant_drop]
        pub struct $guard<'a, T: ?Sized + 'a> {
            /// # Invariant
            ///
            /// The value of the lock that has `raw`, a part of it, or something that lives as long.
            /// It does not change while `raw` is locked for reading.
            value: NonNull<T>,
            /// # Invariant
            ///
            /// `raw` is locked for reading, for this guard.
            raw: &'a $raw,
        }

        // SAFETY: a shared reference to the guard only lends shared references to the value.
        unsafe impl<T: ?Sized + Sync> Sync for $guard<'_, T> {}

        impl<'a, T: ?Sized> $guard<'a, T> {
            /// # Safety
            ///
            /// `raw` is locked for this guard, and the lock allows it to read the value.
            #[inline]
            pub(super) unsafe fn new(value: NonNull<T>, raw: &'a $raw) -> Self {
                Self { value, raw }
            }

            /// Returns the lock, still held. The caller must release it.
            #[inline]
            pub(super) fn into_raw(self) -> &'a $raw {
                ManuallyDrop::new(self).raw
            }
        }

        impl<T: ?Sized> Deref for $guard<'_, T> {
            type Target = T;

            #[inline]
            fn deref(&self) -> &T {
                // SAFETY: the invariants of `value` and `raw`.
                unsafe { self.value.as_ref() }
            }
        }

        impl<T: ?Sized> Drop for $guard<'_, T> {
            #[inline]
            fn drop(&mut self) {
                self.raw.unlock_read();
            }
        }

        show_as_value!($guard);
    };
}

/// Defines a guard that gives the only holder of a lock write access to a part of the value.
macro_rules! mapped_guard {
    ($(#[$doc:meta])* $guard:ident of $raw:ident, given back by $unlock:ident) => {
        $(#[$doc])*
        #[must_use = "the lock is released at once if the guard is not kept"]
        #[clippy::has_significant_drop]
        pub struct $guard<'a, T: ?Sized + 'a> {
            /// # Invariant
            ///
            /// A part of the value of the lock that has `raw`, or something that lives as long. No
            /// other caller accesses it while `raw` is locked.
            value: NonNull<T>,
            /// # Invariant
            ///
            /// `raw` is locked exclusively, for this guard.
            raw: &'a $raw,
            poison: &'a PoisonFlag,
            before: Before,
            /// Makes the guard invariant in `T`. The pointer alone would be covariant, and would
            /// allow to store a short-lived value where a long-lived one is expected.
            variance: PhantomData<&'a mut T>,
        }

        // SAFETY: a shared reference to the guard only lends shared references to the value.
        unsafe impl<T: ?Sized + Sync> Sync for $guard<'_, T> {}

        impl<'a, T: ?Sized> $guard<'a, T> {
            /// # Safety
            ///
            /// `raw` is locked for this guard, and the lock allows it to change the value.
            unsafe fn new(value: NonNull<T>, (raw, poison, before): (&'a $raw, &'a PoisonFlag, Before)) -> Self {
                Self { value, raw, poison, before, variance: PhantomData }
            }

            fn into_parts(self) -> (&'a $raw, &'a PoisonFlag, Before) {
                let this = ManuallyDrop::new(self);
                (this.raw, this.poison, this.before)
            }

            map_methods! {
                /// Returns a guard for a part of this part, as `map` of the guard for the value
                /// does.
                ///
                /// # Panics
                ///
                /// Panics if the closure panics. The lock is then released and poisoned.
                mut => $guard<'a> by into_parts
            }
        }

        impl<T: ?Sized> Deref for $guard<'_, T> {
            type Target = T;

            #[inline]
            fn deref(&self) -> &T {
                // SAFETY: the invariants of `value` and `raw`.
                unsafe { self.value.as_ref() }
            }
        }

        impl<T: ?Sized> DerefMut for $guard<'_, T> {
            #[inline]
            fn deref_mut(&mut self) -> &mut T {
                // SAFETY: the invariants of `value` and `raw`.
                unsafe { self.value.as_mut() }
            }
        }

        impl<T: ?Sized> Drop for $guard<'_, T> {
            #[inline]
            fn drop(&mut self) {
                self.poison.leave(self.before);
                self.raw.$unlock();
            }
        }

        show_as_value!($guard);
    };
}

/// Defines the methods that acquire a lock that may be poisoned, each with its documentation.
/// `within` waits up to a limit. `guard` makes the guard after the lock was acquired.
macro_rules! lock_methods {
    (
        $guard:ident by $make:ident, $within:ident
        $(#[$lock_doc:meta])* $lock:ident
        $(#[$try_doc:meta])* $try_lock:ident
        $(#[$for_doc:meta])* $lock_for:ident
        $(#[$until_doc:meta])* $lock_until:ident
        $(#[$cancellable_doc:meta])* $cancellable:ident
    ) => {
        $(#[$lock_doc])*
        #[inline]
        pub fn $lock(&self) -> LockResult<$guard<'_, T>> {
            self.raw.$lock();
            self.$make()
        }

        $(#[$try_doc])*
        #[inline]
        pub fn $try_lock(&self) -> TryLockResult<$guard<'_, T>> {
            if self.raw.$try_lock() { Ok(self.$make()?) } else { Err(TryLockError::WouldBlock) }
        }

        $(#[$for_doc])*
        pub fn $lock_for(&self, time: Duration) -> TryLockResult<$guard<'_, T>> {
            self.raw.$within(Limit::lasting(time)).map_err(|_| TryLockError::WouldBlock)?;
            Ok(self.$make()?)
        }

        $(#[$until_doc])*
        pub fn $lock_until(&self, deadline: Instant) -> TryLockResult<$guard<'_, T>> {
            self.raw.$within(Limit::until(Some(deadline))).map_err(|_| TryLockError::WouldBlock)?;
            Ok(self.$make()?)
        }

        $(#[$cancellable_doc])*
        #[track_caller]
        pub fn $cancellable(&self) -> Result<LockResult<$guard<'_, T>>, Stopped> {
            unless_stopped(self.raw.$within(Limit::STOP)).map(|()| self.$make())
        }
    };
}

/// Implements what else a lock that may be poisoned has, besides the methods that acquire it.
/// `panicked` says which panics poison it, and `locked` is what `Debug` shows in place of the value
/// of a locked lock: std's two locks differ there.
macro_rules! poisoned_lock {
    ($lock:ident, $try_lock:ident, $panicked:literal, $locked:expr) => {
        impl<T> $lock<T> {
            /// Returns the value.
            ///
            /// # Errors
            ///
            #[doc = concat!("Returns an error if ", $panicked, ". The value is in the error.")]
            pub fn into_inner(self) -> LockResult<T> {
                let Self { poison, value, .. } = self;
                poison.wrap(value.into_inner())
            }
        }

        impl<T: ?Sized> $lock<T> {
            #[doc = concat!("Returns whether ", $panicked, ".")]
            #[inline]
            #[must_use]
            pub fn is_poisoned(&self) -> bool {
                self.poison.get()
            }

            /// Clears the poison: callers that acquire the lock from now on get no error.
            pub fn clear_poison(&self) {
                self.poison.clear();
            }

            /// Returns a mutable reference to the value. It needs no lock, since `&mut self`
            /// excludes other users.
            ///
            /// # Errors
            ///
            /// Fails as [`into_inner`](Self::into_inner) does.
            pub fn get_mut(&mut self) -> LockResult<&mut T> {
                self.poison.wrap(self.value.get_mut())
            }
        }

        // A panic of a caller that may change the value poisons the lock, so a broken value is not
        // used unnoticed.
        impl_unwind_safe!($lock<T: ?Sized>);

        impl<T> From<T> for $lock<T> {
            fn from(value: T) -> Self {
                Self::new(value)
            }
        }

        impl<T: Default> Default for $lock<T> {
            fn default() -> Self {
                Self::new(T::default())
            }
        }

        impl<T: ?Sized + fmt::Debug> fmt::Debug for $lock<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let mut out = f.debug_struct(stringify!($lock));
                match self.$try_lock() {
                    Ok(guard) => out.field("data", &&*guard),
                    Err(TryLockError::Poisoned(error)) => out.field("data", &&**error.get_ref()),
                    Err(TryLockError::WouldBlock) => out.field("data", &$locked),
                };
                out.field("poisoned", &self.is_poisoned()).finish_non_exhaustive()
            }
        }
    };
}

pub(super) use {lock_methods, map_methods, mapped_guard, poisoned_lock, shared_guard, show_as_value};
