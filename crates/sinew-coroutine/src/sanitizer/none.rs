//! The empty version for builds without a sanitizer.

use super::Bounds;

/// See the table in the parent module.
pub(crate) struct Outside;

impl Outside {
    #[inline(always)]
    pub(crate) fn new(_inside: *mut Inside, _stack: Bounds) -> Self {
        Self
    }

    #[inline(always)]
    pub(crate) fn enter(&self) -> Crossing {
        Crossing
    }

    #[inline(always)]
    pub(crate) fn returned(&self, _crossing: Crossing) {}
}

/// See the table in the parent module.
#[inline(always)]
pub(crate) fn forget_frames(_stack: Bounds) {}

/// See the table in the parent module.
#[must_use]
pub(crate) struct Crossing;

/// See the table in the parent module.
pub(crate) struct Inside;

impl Inside {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Self
    }

    #[inline(always)]
    pub(crate) fn arrived(&self) {}

    #[inline(always)]
    pub(crate) fn suspend(&self) {}

    #[inline(always)]
    pub(crate) fn finish(&self) {}
}
