//! Why no stack can be had.

use core::fmt;
use std::io;

use super::size::LARGEST_CLASS;

/// Why a [`StackPool`](super::StackPool) gave no stack. Nothing is lost or leaked when it does not.
#[derive(Debug)]
#[non_exhaustive]
pub enum StackError {
    /// The size, given here, is zero or larger than any stack.
    Size(usize),
    /// The pool has as many stacks as it may have, given here.
    Limit(usize),
    /// The system refused memory or a guard.
    System(io::Error),
}

impl fmt::Display for StackError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Size(0) => f.write_str(
                "a stack of 0 bytes was asked for: ask for `DEFAULT_STACK_SIZE` if you do not know",
            ),
            Self::Size(size) => write!(
                f,
                "a stack of {size} bytes was asked for: the largest has {LARGEST_CLASS}; for more, use an `MmapStack`"
            ),
            Self::Limit(limit) => {
                let remedy = "release some, flush caches, or raise `max_stacks`";
                write!(f, "the pool's limit of {limit} stacks is reached: {remedy}")
            }
            Self::System(error) => write!(
                f,
                "the system gave no stack ({error}): check the limits on memory and, where guards are mappings, \
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
        // What was put into an `io::Error` below comes out again.
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

/// An error of the system's that says what to do about it, of the same kind and with the system's own as its source.
pub(super) fn advised(error: io::Error) -> io::Error {
    /// More than the boxes of an error take.
    const ROOM: usize = 256;
    // Where there is no memory for more words, the system's have to do.
    match Vec::<u8>::new().try_reserve(ROOM) {
        Ok(()) => io::Error::new(error.kind(), StackError::System(error)),
        Err(_) => error,
    }
}
