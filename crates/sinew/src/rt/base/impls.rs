//! Macros for implementations that several types share: of `Debug`, of `Error`, of unwind
//! safety. Knows no type.

/// Implements `Debug` for a struct: `impl_debug!(Pin, ..)` shows only its name, and
/// `impl_debug!(Latch, |latch| { left: latch.count.left() })` shows these fields. A `..` after the
/// fields says that there are more.
macro_rules! impl_debug {
    ($name:ident $(<$($parameter:tt $(: $bound:tt)?),+>)?, ..) => {
        impl $(<$($parameter $(: $bound)?),+>)? std::fmt::Debug for $name $(<$($parameter),+>)? {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    };
    ($name:ident $(<$($parameter:tt $(: $bound:tt)?),+>)?, |$this:ident| { $($field:ident: $value:expr),+, .. }) => {
        impl $(<$($parameter $(: $bound)?),+>)? std::fmt::Debug for $name $(<$($parameter),+>)? {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let $this = self;
                f.debug_struct(stringify!($name))$(.field(stringify!($field), &$value))+.finish_non_exhaustive()
            }
        }
    };
    ($name:ident $(<$($parameter:tt $(: $bound:tt)?),+>)?, |$this:ident| { $($field:ident: $value:expr),+ }) => {
        impl $(<$($parameter $(: $bound)?),+>)? std::fmt::Debug for $name $(<$($parameter),+>)? {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let $this = self;
                f.debug_struct(stringify!($name))$(.field(stringify!($field), &$value))+.finish()
            }
        }
    };
}

/// Implements `Display` by a text, and `Error`: `impl_error!(RecvError, NOBODY_SENDS)`, or
/// `impl_error!(TryRecvError, |error| ...)` where the text depends on the error. A bound on a type
/// parameter applies to `Error` only.
macro_rules! impl_error {
    ($name:ident $(<$parameter:ident $(: $bound:ident)?>)?, |$this:ident| $text:expr) => {
        impl $(<$parameter>)? std::fmt::Display for $name $(<$parameter>)? {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let $this = self;
                f.pad($text)
            }
        }

        impl $(<$parameter $(: $bound)?>)? std::error::Error for $name $(<$parameter>)? {}
    };
    ($name:ident $(<$parameter:ident $(: $bound:ident)?>)?, $text:expr) => {
        crate::rt::impl_error!($name $(<$parameter $(: $bound)?>)?, |_error| $text);
    };
}

/// Implements `UnwindSafe` and `RefUnwindSafe`. The comment at each call says why.
macro_rules! impl_unwind_safe {
    ($name:ident $(<$parameter:ident $(: ?$bound:ident)?>)?) => {
        impl $(<$parameter $(: ?$bound)?>)? std::panic::UnwindSafe for $name $(<$parameter>)? {}
        impl $(<$parameter $(: ?$bound)?>)? std::panic::RefUnwindSafe for $name $(<$parameter>)? {}
    };
}

pub(crate) use {impl_debug, impl_error, impl_unwind_safe};
