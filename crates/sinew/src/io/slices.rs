//! Several buffers that one call reads into or writes from. Knows no call.

use std::io::IoSlice;
use std::ops::Deref;

/// The kernel takes no more at once.
pub(crate) const MOST_SLICES: usize = 1_024;

/// Returns how many bytes there are in as many of these buffers as the kernel takes at once. With
/// none, there is nothing to do and nothing to wait for, as in std.
pub(crate) fn room<B: Deref<Target = [u8]>>(buffers: &[B]) -> usize {
    buffers.iter().take(MOST_SLICES).map(|buffer| buffer.len()).sum()
}

/// What is behind the first `start` bytes in those of several buffers that the kernel takes at
/// once.
#[cold]
pub(crate) fn after<'a>(buffers: &'a [IoSlice<'_>], start: usize) -> Vec<IoSlice<'a>> {
    let mut skipped = start;
    let rest = buffers.iter().take(MOST_SLICES).map(|buffer| {
        let skip = skipped.min(buffer.len());
        skipped -= skip;
        IoSlice::new(&buffer[skip..])
    });
    rest.filter(|buffer| !buffer.is_empty()).collect()
}
