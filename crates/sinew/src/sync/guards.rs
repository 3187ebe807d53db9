//! What all guards of locks have, written once.
//!
//! # Safety
//!
//! Trusted with making a guard for a part of the value out of a guard for the value.
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

pub(super) use {map_methods, show_as_value};
