//! A stack that a user has taken from a pool. Knows no coroutine.
//!
//! # Safety
//!
//! Trusted with being the only owner of its stack from `new` until it is dropped or taken apart.
#![expect(unsafe_code, reason = "stacks are raw memory that is handed around")]

use core::fmt;
use core::mem::ManuallyDrop;
use core::ptr::NonNull;

use super::Stack;
use super::label::Label;
use super::shared::Shared;
use super::size::SizeClass;
use super::slab::{PoolAddress, RawStack};
use crate::arch::prefetch;

/// A stack of a [`StackPool`](super::StackPool). Dropping it returns it to the pool.
pub struct PooledStack {
    /// # Invariant
    ///
    /// Out of its pool, and owned by this value alone.
    raw: RawStack,
}

impl PooledStack {
    /// # Safety
    ///
    /// The stack is out of its pool, and the caller, its only owner, gives it up.
    #[inline]
    pub(super) unsafe fn new(raw: RawStack) -> Self {
        Self { raw }
    }

    /// Takes the value apart without returning the stack.
    #[inline]
    pub(super) fn into_raw(self) -> RawStack {
        let mut this = ManuallyDrop::new(self);
        this.set_label(None);
        this.raw
    }

    #[inline]
    pub(super) fn class(&self) -> SizeClass {
        self.raw.slab().shape.class
    }

    #[inline]
    pub(super) fn pool(&self) -> PoolAddress {
        self.raw.slab().pool
    }

    /// Sets which code will run on this stack, for the message when it overflows (see
    /// [`overflow`](crate::overflow)).
    ///
    /// Set it before the coroutine is created, which lends its stack only for reading. Returning
    /// the stack removes the label. An [`MmapStack`](super::MmapStack) has no label.
    ///
    /// ```
    /// # use sinew_coroutine::{Coroutine, DEFAULT_STACK_SIZE, Label, StackPool, overflow};
    /// overflow::install()?;
    /// let pool = StackPool::new();
    /// for number in 0..3 {
    ///     let mut stack = pool.acquire(DEFAULT_STACK_SIZE)?;
    ///     stack.set_label(Some(Label::number(&"connection", number)));
    ///     // On overflow: "sinew: stack overflow in connection 2: its stack has ..."
    ///     Coroutine::<(), (), (), _>::new(stack, |_, ()| {}).resume(());
    /// }
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[inline]
    pub fn set_label(&mut self, label: Option<Label>) {
        // SAFETY: the value is borrowed exclusively. A coroutine lends its stack only for reading,
        // so nothing runs on this stack.
        unsafe { self.raw.slot().set_label(label) };
    }
}

// SAFETY: the memory of a slot above its guard is readable and writable, stays in place, and
// belongs to this value. Forgetting the value leaves the stack out of the pool, so its slab stays
// too.
unsafe impl Stack for PooledStack {
    #[inline]
    fn top(&self) -> NonNull<u8> {
        self.raw.slot().top
    }

    #[inline]
    fn limit(&self) -> NonNull<u8> {
        self.raw.slot().limit
    }

    #[inline]
    fn prefetch(&self) {
        prefetch(std::ptr::from_ref(self.raw.slot()).cast());
    }
}

impl Drop for PooledStack {
    fn drop(&mut self) {
        self.set_label(None);
        let (pool, class) = (self.pool(), self.class());
        // SAFETY: the invariant of `raw`. The value is not used after this.
        unsafe { Shared::put_back(pool, class, std::iter::once(self.raw)) };
    }
}

impl fmt::Debug for PooledStack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PooledStack").field("limit", &self.limit()).field("top", &self.top()).finish()
    }
}
