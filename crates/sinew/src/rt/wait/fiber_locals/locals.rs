//! The place of the locals of a fiber or a thread: one word, null until the first use.
//!
//! # Safety
//!
//! Trusted with the table behind the word.
#![expect(unsafe_code, reason = "a table is a pointer in a word")]

use std::any::Any;
use std::cell::Cell;
use std::ptr::{self, NonNull};

use super::key::LocalsKey;
use super::slot::{FoundLocal, Frame, Gone, Used};
use super::table::LocalsTable;
use super::{memory, slot};
use crate::rt::base::impl_debug;

/// The payload of a destructor's panic.
pub(crate) type Panic = Box<dyn Any + Send>;

/// The locals of a fiber or thread. They are leaked unless [`end`](Self::end) is called.
pub(crate) struct FiberLocals {
    /// # Invariant
    ///
    /// Null, [`ENDED`], or from [`memory::leak`] and alive until this word changes.
    table: Cell<*mut LocalsTable>,
}

/// The locals have ended, and new ones are refused. No table is at this address, since tables are
/// aligned.
const ENDED: *mut LocalsTable = ptr::without_provenance_mut(1);

impl FiberLocals {
    pub(crate) const fn new() -> Self {
        Self { table: Cell::new(ptr::null_mut()) }
    }

    /// Returns the value of a key if it exists and is quickly found. The caller's frame is on the
    /// stack of the fiber that owns these locals.
    #[inline]
    pub(super) fn ready<T>(&self, key: &LocalsKey<T>) -> Option<Used<T>> {
        let table = self.table.get();
        if table.addr() <= ENDED.addr() {
            return None;
        }
        // SAFETY: the invariant of `table`.
        let slot = unsafe { &*table }.find_in_place(key.number_if_given())?;
        // SAFETY: a key's number stands for its type, and so do the slots of a table. The frame is
        // as `Within` requires.
        unsafe { FoundLocal::new(slot) }.used_if_ready(Frame::Within)
    }

    /// Returns the value of a key, if it exists.
    pub(super) fn existing<T>(&self, key: &LocalsKey<T>) -> Option<Used<T>> {
        let table = NonNull::new(self.table.get()).filter(|table| table.as_ptr() != ENDED)?;
        // SAFETY: the invariant of `table`.
        let slot = unsafe { table.as_ref() }.find(key.number())?;
        // SAFETY: a key's number stands for its type, and so do the slots of a table.
        unsafe { FoundLocal::new(slot) }.used_if_ready(Frame::Anywhere)
    }

    /// Returns the slot for a key. The first one needs a table; `prepare` returns whether one may
    /// be made.
    #[inline]
    pub(super) fn slot<T>(
        &self,
        key: &LocalsKey<T>,
        prepare: impl FnOnce() -> bool,
    ) -> Result<FoundLocal<T>, Gone> {
        let number = key.number();
        let table = self.table(prepare)?;
        // SAFETY: the invariant of `table`.
        let this = unsafe { table.as_ref() };
        let slot = this.find(number).unwrap_or_else(|| {
            let slot = slot::make::<T>(number, table);
            // SAFETY: the slot was just made, for this table, the key's number and its type.
            unsafe { this.add(number, slot) };
            slot
        });
        // SAFETY: a key's number stands for its type, and so do the slots of a table.
        Ok(unsafe { FoundLocal::new(slot) })
    }

    #[inline]
    fn table(&self, prepare: impl FnOnce() -> bool) -> Result<NonNull<LocalsTable>, Gone> {
        match NonNull::new(self.table.get()) {
            Some(table) if table.as_ptr() != ENDED => Ok(table),
            Some(_) => Err(Gone),
            None if prepare() => Ok(self.make_table()),
            None => Err(Gone),
        }
    }

    #[cold]
    fn make_table(&self) -> NonNull<LocalsTable> {
        let table = memory::leak(LocalsTable::default());
        self.table.set(table.as_ptr());
        table
    }

    /// Returns whether no local was used.
    #[inline]
    pub(crate) fn is_unused(&self) -> bool {
        self.table.get().is_null()
    }

    /// Drops all values, newest first, and refuses new ones. Returns the first panic of a
    /// destructor.
    #[inline]
    pub(crate) fn end(&self) -> Option<Panic> {
        if self.is_unused() {
            self.close();
            return None;
        }
        self.end_table()
    }

    /// Refuses new locals if none was used: no code would drop them.
    #[inline]
    pub(crate) fn close(&self) {
        if self.is_unused() {
            self.table.set(ENDED);
        }
    }

    #[cold]
    fn end_table(&self) -> Option<Panic> {
        let table = NonNull::new(self.table.get()).filter(|table| table.as_ptr() != ENDED)?;
        // SAFETY: the invariant of `table`.
        let panic = unsafe { table.as_ref() }.end_values();
        self.table.set(ENDED);
        // SAFETY: the invariant of `table`. The table cannot be found any more: slots in use are
        // marked as gone.
        unsafe { memory::free(table) };
        panic
    }

    /// Accepts new locals again, after the last ones have ended.
    pub(crate) fn reopen(&self) {
        if self.table.get() == ENDED {
            self.table.set(ptr::null_mut());
        }
    }
}

impl_debug!(FiberLocals, ..);
