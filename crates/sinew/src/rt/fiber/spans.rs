//! Spans of `tracing` that a fiber is in: subscribers keep them per thread, so a fiber leaves them when it lets go of its worker, and enters
//! them again when it goes on. Knows fibers by their locals only.

use std::cell::RefCell;
use std::sync::Arc;

use tracing_core::dispatcher::{self, Dispatch};
use tracing_core::span::Id;

use super::switch_hooks::SwitchHooks;
use crate::rt::wait::fiber_locals::{self, LocalsKey};

/// The spans that a suspended fiber was in, the innermost first. They are there: whoever entered them has them on the fiber's stack.
type Spans = RefCell<Vec<(Dispatch, Id)>>;

/// Nobody is in so many: a subscriber that takes no note of exits would have this go on for ever.
const MOST: usize = 1_024;

static SPANS: LocalsKey<Spans> = LocalsKey::new();

/// Has fibers keep their spans.
pub(crate) fn register_hooks(switch_hooks: &mut SwitchHooks) {
    switch_hooks.on_resume(Arc::new(enter));
    switch_hooks.on_suspend(Arc::new(leave));
}

fn leave() {
    if !dispatcher::has_been_set() {
        return;
    }
    dispatcher::get_default(|dispatch| {
        // A span that was entered twice is left twice. At the end of a fiber there is nowhere to keep what it has not left.
        for _ in 0..MOST {
            let Some((id, _)) = dispatch.current_span().into_inner() else { return };
            dispatch.exit(&id);
            if let Ok(spans) = fiber_locals::get(&SPANS, Spans::default) {
                spans.borrow_mut().push((dispatch.clone(), id));
            }
        }
    });
}

fn enter() {
    let Some(spans) = fiber_locals::find(&SPANS) else { return };
    for (dispatch, id) in spans.take().iter().rev() {
        dispatch.enter(id);
    }
}
