//! What a task is shown of the place where it runs. Knows neither cores nor workers, which are
//! above tasks: they put themselves in, and their methods are in `core.rs` and `worker/context.rs`.
//!
//! # Safety
//!
//! Follows no pointer: it only returns the pointers that it was made of.
#![expect(unsafe_code, reason = "what a context points to is untyped here")]

use core::marker::PhantomData;
use core::ptr::NonNull;

/// Where a task runs. Every task gets one; it is valid for as long as the task's worker is there.
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
    /// Creates a context of these pointers.
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
