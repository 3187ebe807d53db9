//! Sections of code that may block a worker's thread: tasks that can move are handed on meanwhile.
//! Does not know what the code does.
//!
//! Two calls to the worker begin and end a section, rather than a closure that the scheduler calls:
//! a user's coroutine may be suspended inside, and be resumed in another fiber, on another thread,
//! or when the worker is gone. Such a section never ends, and a spare worker stays, which is
//! harmless.

use std::sync::Arc;

use crate::rt::fiber::{FiberHost, WorkerState};
use crate::rt::wait::FiberRef;

/// Runs `body`, which may block the thread. A fiber that may migrate stays on its worker meanwhile.
/// A plain thread just runs `body`.
pub(crate) fn in_place<R>(body: impl FnOnce() -> R) -> R {
    let _until_it_ends = Section::begin();
    body()
}

/// Ends a section when it is dropped.
struct Section {
    /// The fiber that is in the section, and stays on its worker.
    fiber: FiberRef,
    is_pinned: bool,
    host: Arc<FiberHost>,
    worker: u32,
}

impl Section {
    /// Begins a section. Returns `None` if the caller is not a fiber.
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
        // If it is dropped on another thread, that one has no such section. If another worker has
        // the same seat, its count is equivalent.
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
