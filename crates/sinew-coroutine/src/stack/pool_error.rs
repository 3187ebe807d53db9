//! The errors of taking a stack.

use core::fmt;
use std::io;

use super::size::LARGEST_CLASS;

/// The reason why a [`StackPool`](super::StackPool) returned no stack. The pool loses and leaks
/// nothing in that case.
///
/// It converts to an [`io::Error`] and back.
#[derive(Debug)]
#[non_exhaustive]
pub enum StackError {
    /// The size is zero, or larger than the largest stack.
    Size(usize),
    /// The pool's limit on the number of stacks is reached.
    Limit(usize),
    /// The system refused memory or a guard.
    System(io::Error),
}

impl fmt::Display for StackError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Size(0) => f.write_str(
                "a stack of 0 bytes was asked for: ask for `DEFAULT_STACK_SIZE` if you do not know the size",
            ),
            Self::Size(size) => write!(
                f,
                "a stack of {size} bytes was asked for: the largest has {LARGEST_CLASS} bytes; for more, use an `MmapStack`"
            ),
            Self::Limit(limit) => {
                let remedy = "release some, flush caches, or raise `max_stacks`";
                write!(f, "the pool's limit of {limit} stacks is reached: {remedy}")
            }
            Self::System(error) => write!(
                f,
                "the system refused memory for a stack ({error}): check the limits on memory and, where guards are mappings, \
                 vm.max_map_count"
            ),
        }
    }
}

impl core::error::Error for StackError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::System(error) => Some(error),
            Self::Size(_) | Self::Limit(_) => None,
        }
    }
}

impl From<io::Error> for StackError {
    fn from(error: io::Error) -> Self {
        // A `StackError` that was put into an `io::Error` below comes out again.
        error.downcast().unwrap_or_else(Self::System)
    }
}

impl From<StackError> for io::Error {
    fn from(error: StackError) -> Self {
        match error {
            StackError::System(error) => advised(error),
            StackError::Size(_) => Self::new(io::ErrorKind::InvalidInput, error),
            StackError::Limit(_) => Self::new(io::ErrorKind::QuotaExceeded, error),
        }
    }
}

/// Adds advice to an error of the system. The result has the same kind, and the system's error as
/// its source.
pub(super) fn advised(error: io::Error) -> io::Error {
    /// More bytes than the boxes of an error take.
    const ROOM: usize = 256;
    // If there is no memory for the advice, return the system's error alone.
    match Vec::<u8>::new().try_reserve(ROOM) {
        Ok(()) => io::Error::new(error.kind(), StackError::System(error)),
        Err(_) => error,
    }
}
