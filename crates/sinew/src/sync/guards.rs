//! What several locks and their guards have, written once.
//!
//! # Safety
//!
//! Trusted with lending a value to whoever has its lock, and with making a guard for a part of the value out
//! of a guard for the value.
#![allow(unsafe_code, reason = "the macros are expanded in files that expect it")]

/// Shows guards as the values that they lend.
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

/// Makes a guard for a part of what a guard lends: `map` and `filter_map`. The guard lends its
/// value to be changed if `mut` is given, and its lock comes out by the method that is named.
macro_rules! map_methods {
    ($(#[$doc:meta])* $($mut:ident)? => $mapped:ident<$a:lifetime> by $parts:ident) => {
        $(#[$doc])*
        pub fn map<U, F>($($mut)? orig: Self, f: F) -> $mapped<$a, U>
        where
            F: FnOnce(&$($mut)? T) -> &$($mut)? U,
            U: ?Sized,
        {
            let value = NonNull::from(f(&$($mut)? *orig));
            // SAFETY: the closure had to return a part of what it was lent, whatever the lifetime
            // of that, or something that lives as long as it likes.
            unsafe { $mapped::new(value, orig.$parts()) }
        }

        /// [`map`](Self::map) if there is such a part.
        ///
        /// # Errors
        ///
        /// The guard as it was, if the closure says that there is none.
        ///
        /// # Panics
        ///
        /// As [`map`](Self::map).
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

/// Defines a guard by which a caller that has a lock may read a value: of a whole lock, or of a part.
macro_rules! shared_guard {
    ($(#[$doc:meta])* $guard:ident of $raw:ident) => {
        $(#[$doc])*
        #[must_use = "the lock is given back at once if the guard is not kept"]
        #[clippy::has_significant_drop]
        pub struct $guard<'a, T: ?Sized + 'a> {
            /// # Invariant
            ///
            /// The value of the lock that has `raw`, a part of it, or something that lives as long; nobody changes it
            /// as long as that is locked to read.
            value: NonNull<T>,
            /// # Invariant
            ///
            /// It is locked to read, for this guard.
            raw: &'a $raw,
        }

        // SAFETY: a shared guard gives away shared references to the value, and no more.
        unsafe impl<T: ?Sized + Sync> Sync for $guard<'_, T> {}

        impl<'a, T: ?Sized> $guard<'a, T> {
            /// # Safety
            ///
            /// The lock is for this guard, and gives the right to read the value.
            #[inline]
            pub(super) unsafe fn new(value: NonNull<T>, raw: &'a $raw) -> Self {
                Self { value, raw }
            }

            /// The lock, still taken, for the caller.
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

/// Defines a guard by which a caller that alone has a lock may change a part of the value.
macro_rules! mapped_guard {
    ($(#[$doc:meta])* $guard:ident of $raw:ident, given back by $unlock:ident) => {
        $(#[$doc])*
        #[must_use = "the lock is given back at once if the guard is not kept"]
        #[clippy::has_significant_drop]
        pub struct $guard<'a, T: ?Sized + 'a> {
            /// # Invariant
            ///
            /// A part of the value of the lock that has `raw`, or something that lives as long; for nobody else as long
            /// as that is locked.
            value: NonNull<T>,
            /// # Invariant
            ///
            /// It is locked, for this guard alone.
            raw: &'a $raw,
            poison: &'a PoisonFlag,
            before: Before,
            /// The pointer would allow to make of a guard for long-lived values one that takes others.
            variance: PhantomData<&'a mut T>,
        }

        // SAFETY: a shared guard gives away shared references to the value, and no more.
        unsafe impl<T: ?Sized + Sync> Sync for $guard<'_, T> {}

        impl<'a, T: ?Sized> $guard<'a, T> {
            /// # Safety
            ///
            /// The lock is for this guard, and gives the right to change the value.
            unsafe fn new(value: NonNull<T>, (raw, poison, before): (&'a $raw, &'a PoisonFlag, Before)) -> Self {
                Self { value, raw, poison, before, variance: PhantomData }
            }

            fn into_parts(self) -> (&'a $raw, &'a PoisonFlag, Before) {
                let this = ManuallyDrop::new(self);
                (this.raw, this.poison, this.before)
            }

            map_methods! {
                /// The guard for a part of the part. As `map` of the guard for the value.
                ///
                /// # Panics
                ///
                /// If the closure does. The lock is given back then, and poisoned.
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

/// The ways to take a lock that may be poisoned, each with its documentation. `within` waits to a limit, and
/// `guard` makes the guard for whoever has just taken it.
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

/// What a lock has that may be poisoned, besides the ways to take it. `panicked` says who poisons it,
/// and `locked` is what `Debug` shows instead of a value that it cannot have now: std's locks differ there.
macro_rules! poisoned_lock {
    ($lock:ident, $try_lock:ident, $panicked:literal, $locked:expr) => {
        impl<T> $lock<T> {
            /// The value.
            ///
            /// # Errors
            ///
            #[doc = concat!("If ", $panicked, ". The value is in the error.")]
            pub fn into_inner(self) -> LockResult<T> {
                let Self { poison, value, .. } = self;
                poison.wrap(value.into_inner())
            }
        }

        impl<T: ?Sized> $lock<T> {
            #[doc = concat!("Whether ", $panicked, ".")]
            #[inline]
            #[must_use]
            pub fn is_poisoned(&self) -> bool {
                self.poison.get()
            }

            /// Has all who lock it from now on find the value in order.
            pub fn clear_poison(&self) {
                self.poison.clear();
            }

            /// The value, which nobody else can have now.
            ///
            /// # Errors
            ///
            /// As [`into_inner`](Self::into_inner).
            pub fn get_mut(&mut self) -> LockResult<&mut T> {
                self.poison.wrap(self.value.get_mut())
            }
        }

        // A panic of whoever may change it poisons it, so that nobody sees a broken value without being told.
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
