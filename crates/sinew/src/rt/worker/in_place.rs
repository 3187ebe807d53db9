//! Sections of code that may block a worker's thread: what can move is handed on meanwhile. Knows nothing of what is done there.
//!
//! A section is begun and ended by words to the worker, not by a closure that the scheduler calls: a coroutine may be suspended inside, and come
//! back in another fiber, on another thread, or when the worker is gone. Such a section never ends, and a spare worker stays; nothing else comes of it.

use std::sync::Arc;

use crate::rt::fiber::{FiberHost, WorkerState};
use crate::rt::wait::FiberRef;

/// Runs `body`, which may block the thread. Of a fiber that may move, none of it runs elsewhere; anybody else just runs it.
pub(crate) fn in_place<R>(body: impl FnOnce() -> R) -> R {
    let _until_it_ends = Section::begin();
    body()
}

/// Ends a section when it is dropped.
struct Section {
    /// The fiber that is in it, and stays where it is.
    fiber: FiberRef,
    is_pinned: bool,
    host: Arc<FiberHost>,
    worker: u32,
}

impl Section {
    /// None, if the caller is no fiber.
    fn begin() -> Option<Self> {
        let local = WorkerState::current().filter(|local| !local.in_switch_hook())?;
        let fiber = FiberRef::running()?;
        let pins = &fiber.control()?.pins;
        let is_pinned = pins.add();
        if !is_pinned {
            pins.stick();
        }
        let section = Self { fiber, is_pinned, host: local.host().clone(), worker: local.worker() };
        local.context().begin_block();
        Some(section)
    }
}

impl Drop for Section {
    fn drop(&mut self) {
        // If it is another thread's by now, that one has no such section; if another has the same seat, its count is as good.
        let seat = (Arc::as_ptr(&self.host), self.worker);
        if let Some(local) =
            WorkerState::current().filter(|local| (Arc::as_ptr(local.host()), local.worker()) == seat)
        {
            local.context().end_block();
        }
        if self.is_pinned {
            self.fiber.unpin();
        }
    }
}
