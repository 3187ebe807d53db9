//! Several buffers that one call reads into or writes from. Knows no call.

use std::io::IoSlice;
use std::ops::Deref;

/// How many buffers the kernel takes at once.
pub(crate) const MOST_SLICES: usize = 1_024;

/// Returns the number of bytes in the buffers that the kernel takes at once. With zero there is
/// nothing to do and nothing to wait for, as in std.
pub(crate) fn room<B: Deref<Target = [u8]>>(buffers: &[B]) -> usize {
    buffers.iter().take(MOST_SLICES).map(|buffer| buffer.len()).sum()
}

/// Returns the buffers that the kernel takes at once, without their first `start` bytes.
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
