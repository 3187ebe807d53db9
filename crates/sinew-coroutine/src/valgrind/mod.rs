//! Tells valgrind about stacks. Without `--cfg sinew_valgrind` this does nothing: the type is
//! empty.
//!
//! If valgrind does not know that both addresses are on stacks, it takes a large jump of the stack
//! pointer for a large frame.

#[cfg(not(sinew_valgrind))]
mod none;
#[cfg(sinew_valgrind)]
mod request;

#[cfg(not(sinew_valgrind))]
pub(crate) use none::KnownStack;
#[cfg(sinew_valgrind)]
pub(crate) use request::KnownStack;
