//! The settings of a pool. Knows no stack.

use core::time::Duration;

use super::guard::GuardKind;
use crate::clock::{self, Clock};

/// The settings that a pool is created with.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(super) guard_pages: usize,
    pub(super) guard_kind: Option<GuardKind>,
    pub(super) max_stacks: usize,
    pub(super) keep_fewest: usize,
    pub(super) keep_most: usize,
    pub(super) idle: Duration,
    pub(super) cache: usize,
    pub(super) clock: Clock,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            guard_pages: 1,
            guard_kind: None,
            max_stacks: usize::MAX,
            keep_fewest: 512,
            keep_most: 16_384,
            idle: Duration::from_secs(10),
            cache: 32,
            clock: clock::SYSTEM,
        }
    }
}
