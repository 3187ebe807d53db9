//! No valgrind: an empty twin.

use core::ptr::NonNull;

/// A stack that valgrind knows, until it is dropped.
pub(crate) struct KnownStack;

impl KnownStack {
    #[inline(always)]
    pub(crate) fn new(_limit: NonNull<u8>, _top: NonNull<u8>) -> Self {
        Self
    }
}
