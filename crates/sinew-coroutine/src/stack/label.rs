//! Labels: who runs on a stack, told in a signal handler. Knows no fiber.
//!
//! # Safety
//!
//! Trusted with calling a function on a pointer that the label's maker vouched for.
#![expect(unsafe_code, reason = "a label is an untyped pointer and a function")]

use core::fmt;
use core::ptr;

/// Writes in words who uses a stack. Called in a signal handler, on the alternate stack: it must not allocate, lock or panic,
/// nor take more than 1 KiB of that stack.
///
/// # Safety
///
/// The pointer is the one that the label was made with, and the promise of [`Label::new`] holds.
pub type Describe = unsafe fn(data: *const (), out: &mut dyn fmt::Write) -> fmt::Result;

/// Says who runs on a stack, when that overflows.
#[derive(Clone, Copy)]
pub struct Label {
    data: *const (),
    describe: Describe,
}

impl Label {
    /// A label that `describe` puts into words, given `data`.
    ///
    /// # Safety
    ///
    /// For as long as the label is on a stack, `describe` may be called with `data`, on the thread that runs on the
    /// stack, in a signal handler, at any moment, even in the middle of an instruction sequence: it neither allocates nor
    /// locks nor panics, whatever it reads is in order at all times, and 1 KiB of stack is enough for it.
    pub const unsafe fn new(data: *const (), describe: Describe) -> Self {
        Self { data, describe }
    }

    /// A fixed text.
    pub const fn text(text: &'static &'static str) -> Self {
        Self { data: ptr::from_ref(text).cast(), describe: describe_text }
    }

    /// Writes the label.
    pub(crate) fn write(self, out: &mut dyn fmt::Write) -> fmt::Result {
        // SAFETY: the promise of `new`, or a static text.
        unsafe { (self.describe)(self.data, out) }
    }
}

/// Describes a text that lives for ever.
///
/// # Safety
///
/// `data` comes from [`Label::text`].
unsafe fn describe_text(data: *const (), out: &mut dyn fmt::Write) -> fmt::Result {
    // SAFETY: `Label::text` made the pointer from a static reference.
    out.write_str(unsafe { *data.cast::<&'static str>() })
}

impl fmt::Debug for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Label").finish_non_exhaustive()
    }
}
