//! Implementations that many types have alike: of `Debug`, of what errors have, of unwind safety. Knows no
//! type.

/// Implements `Debug` for a struct: `impl_debug!(Pin, ..)` shows its name alone, and
/// `impl_debug!(Latch, |latch| { left: latch.count.left() })` these fields. A `..` after the fields says
/// that there are more.
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
/// `impl_error!(TryRecvError, |error| ...)` where the text depends on the error. A bound of a type
/// parameter is one of `Error` alone.
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

/// Implements `UnwindSafe` and `RefUnwindSafe`: the comment at the call says why.
macro_rules! impl_unwind_safe {
    ($name:ident $(<$parameter:ident $(: ?$bound:ident)?>)?) => {
        impl $(<$parameter $(: ?$bound)?>)? std::panic::UnwindSafe for $name $(<$parameter>)? {}
        impl $(<$parameter $(: ?$bound)?>)? std::panic::RefUnwindSafe for $name $(<$parameter>)? {}
    };
}

pub(crate) use {impl_debug, impl_error, impl_unwind_safe};
