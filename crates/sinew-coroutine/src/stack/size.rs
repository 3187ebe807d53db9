//! Size classes: stacks have sizes that are powers of two. Knows no memory.

use super::pool_error::StackError;

/// The default size of a stack: 128 KiB in release builds, and 256 KiB in debug builds, which use
/// about twice the stack.
pub const DEFAULT_STACK_SIZE: usize = if cfg!(debug_assertions) { 2 * RELEASE_SIZE } else { RELEASE_SIZE };

/// The default size of a stack in release builds.
const RELEASE_SIZE: usize = 128 * 1024;

/// The smallest stack that a [`StackPool`](super::StackPool) hands out. Smaller requests get this
/// size.
///
/// A panic that prints a backtrace overflows it, as it overflows any stack below 24 KiB.
pub const SMALLEST_CLASS: usize = 16 * 1024;

/// The largest stack that a [`StackPool`](super::StackPool) hands out. Larger requests are refused.
pub const LARGEST_CLASS: usize = 64 * 1024 * 1024;

/// The number of classes.
pub(crate) const CLASSES: usize = (LARGEST_CLASS / SMALLEST_CLASS).ilog2() as usize + 1;

/// One of the sizes of stacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SizeClass(u8);

impl SizeClass {
    /// Returns the smallest class with at least `size` bytes.
    #[inline]
    pub(crate) fn of(size: usize) -> Result<Self, StackError> {
        let last = size.wrapping_sub(1);
        if last >= LARGEST_CLASS {
            return Err(StackError::Size(size));
        }
        // The highest bit of the last byte's offset, or that of the smallest class's last byte if
        // the size is smaller.
        let bit = (last | (SMALLEST_CLASS - 1)).ilog2();
        Ok(Self((bit + 1 - SMALLEST_CLASS.ilog2()) as u8))
    }

    /// Returns all classes, the smallest first.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        (0..CLASSES as u8).map(Self)
    }

    /// Returns the index in a table of all classes.
    #[inline]
    pub(crate) fn index(self) -> usize {
        self.0.into()
    }

    /// Returns the number of usable bytes of a stack of this class.
    #[inline]
    pub(crate) fn bytes(self) -> usize {
        SMALLEST_CLASS << self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_what_the_guide_says() {
        let debug = cfg!(debug_assertions);
        assert_eq!(DEFAULT_STACK_SIZE, if debug { 262_144 } else { 131_072 });
        assert_eq!(SizeClass::of(DEFAULT_STACK_SIZE).map(SizeClass::bytes).ok(), Some(DEFAULT_STACK_SIZE));
    }

    #[test]
    fn sizes_are_rounded_up_to_their_class() {
        for (size, bytes) in [
            (1, 16 << 10),
            (16 << 10, 16 << 10),
            ((16 << 10) + 1, 32 << 10),
            (100_000, 128 << 10),
            (128 << 10, 128 << 10),
            (LARGEST_CLASS - 1, LARGEST_CLASS),
            (LARGEST_CLASS, LARGEST_CLASS),
        ] {
            assert_eq!(SizeClass::of(size).map(SizeClass::bytes).ok(), Some(bytes), "{size}");
        }
    }

    #[test]
    fn the_table_has_a_place_for_each_class() {
        let classes: Vec<_> = SizeClass::all().collect();
        assert_eq!(classes.len(), CLASSES);
        assert!(classes.iter().enumerate().all(|(place, class)| class.index() == place));
        assert_eq!(classes.last().map(|class| class.bytes()), Some(LARGEST_CLASS));
    }

    #[test]
    fn nothing_and_too_much_are_refused() {
        assert!(SizeClass::of(0).is_err());
        assert!(SizeClass::of(LARGEST_CLASS + 1).is_err());
        assert!(SizeClass::of(usize::MAX).is_err());
    }
}
