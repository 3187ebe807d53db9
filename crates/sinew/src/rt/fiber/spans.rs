//! The `tracing` spans that a fiber is in. Subscribers keep them per thread, so a fiber exits its
//! spans when it is suspended, and enters them again when it continues. Knows fibers only by their
//! locals.

use std::cell::RefCell;
use std::sync::Arc;

use tracing_core::dispatcher::{self, Dispatch};
use tracing_core::span::Id;

use super::switch_hooks::SwitchHooks;
use crate::rt::wait::fiber_locals::{self, LocalsKey};

/// The spans that a suspended fiber was in, the innermost first. They are alive: the code that
/// entered them keeps them on the fiber's stack.
type Spans = RefCell<Vec<(Dispatch, Id)>>;

/// The largest nesting. A subscriber that does not record exits would otherwise cause an endless
/// loop.
const MOST: usize = 1_024;

static SPANS: LocalsKey<Spans> = LocalsKey::new();

/// Registers the hooks that let fibers keep their spans.
pub(crate) fn register_hooks(switch_hooks: &mut SwitchHooks) {
    switch_hooks.on_resume(Arc::new(enter));
    switch_hooks.on_suspend(Arc::new(leave));
}

fn leave() {
    if !dispatcher::has_been_set() {
        return;
    }
    dispatcher::get_default(|dispatch| {
        // A span that was entered twice is exited twice. At the end of a fiber, spans that it has
        // not exited cannot be kept anywhere.
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
