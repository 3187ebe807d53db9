//! Without the feature, nobody keeps spans of `tracing`: the same function as in `spans.rs`, which does nothing.

use super::switch_hooks::SwitchHooks;

/// Has fibers keep nothing.
pub(crate) fn register_hooks(_: &mut SwitchHooks) {}
