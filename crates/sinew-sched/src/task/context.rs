//! Where a task runs, as tasks are shown it. Knows neither cores nor workers, which come above
//! tasks: they put themselves in, and say what can be done with them (`core.rs`,
//! `worker/context.rs`).
//!
//! # Safety
//!
//! Follows no pointer: it only hands on what it was made of.
#![expect(unsafe_code, reason = "what a context points to is untyped here")]

use core::marker::PhantomData;
use core::ptr::NonNull;

/// Where a task runs: one value for as long as its worker is there.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// # Invariant
    ///
    /// A `Core` that lives for `'a`.
    core: NonNull<()>,
    /// # Invariant
    ///
    /// A `Worker` that lives for `'a`.
    worker: Option<NonNull<()>>,
    lives: PhantomData<&'a ()>,
}

impl Context<'_> {
    /// A context of these.
    ///
    /// # Safety
    ///
    /// They point to a `Core` and a `Worker` that live for as long as the lifetime says.
    pub(crate) unsafe fn from_raw(core: NonNull<()>, worker: Option<NonNull<()>>) -> Self {
        Self { core, worker, lives: PhantomData }
    }

    #[inline]
    pub(crate) fn raw_core(&self) -> NonNull<()> {
        self.core
    }

    #[inline]
    pub(crate) fn raw_worker(&self) -> Option<NonNull<()>> {
        self.worker
    }
}
