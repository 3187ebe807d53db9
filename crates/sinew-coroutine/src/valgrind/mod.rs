//! What valgrind must be told about stacks. Without `--cfg sinew_valgrind` it is nothing: the type is empty.
//!
//! Valgrind takes a large jump of the stack pointer for a large frame, unless it knows that there is a stack at either end.

#[cfg(not(sinew_valgrind))]
mod none;
#[cfg(sinew_valgrind)]
mod request;

#[cfg(not(sinew_valgrind))]
pub(crate) use none::KnownStack;
#[cfg(sinew_valgrind)]
pub(crate) use request::KnownStack;
