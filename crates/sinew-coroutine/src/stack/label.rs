//! Labels: text that names the user of a stack, written in a signal handler. Knows no fiber.
//!
//! # Safety
//!
//! Trusted with calling a function on a pointer, as promised by the creator of the label.
#![expect(unsafe_code, reason = "a label is an untyped pointer and a function")]

use core::fmt;

/// A function that writes which code uses a stack. It is called in a signal handler, on the
/// alternate stack: it must not allocate, lock or panic, nor use more than 1 KiB of that stack.
///
/// # Safety
///
/// The pointer is the one that the label was created with, and the promise of [`Label::new`] holds.
pub type Describe = unsafe fn(data: *const (), out: &mut dyn fmt::Write) -> fmt::Result;

/// Names the code that runs on a stack, for the message when the stack overflows. See
/// [`set_label`](super::PooledStack::set_label).
///
/// Up to 256 bytes of it are shown.
#[derive(Clone, Copy)]
pub struct Label(Words);

/// The source of a label's text.
#[derive(Clone, Copy)]
enum Words {
    /// The promise of [`Label::new`] holds.
    Described(*const (), Describe),
    Text(&'static &'static str),
    Numbered(&'static &'static str, u64),
}

impl Label {
    /// Creates a label whose text `describe` writes, given `data`.
    ///
    /// # Safety
    ///
    /// While the label is on a stack, `describe` may be called with `data`, on the thread that runs
    /// on the stack, in a signal handler, at any instruction. So it must not allocate, lock or
    /// panic; the data it reads is consistent at all times; and 1 KiB of stack is enough for it.
    ///
    /// ```
    /// # use sinew_coroutine::{Label, StackPool};
    /// use std::fmt::{self, Write};
    /// use std::sync::atomic::{AtomicU32, Ordering};
    ///
    /// static REQUEST: AtomicU32 = AtomicU32::new(0);
    ///
    /// unsafe fn describe(data: *const (), out: &mut dyn Write) -> fmt::Result {
    ///     // SAFETY: the label below is created with the address of `REQUEST`.
    ///     let request = unsafe { &*data.cast::<AtomicU32>() };
    ///     write!(out, "request {}", request.load(Ordering::Relaxed))
    /// }
    ///
    /// let mut stack = StackPool::new().acquire(64 * 1024)?;
    /// // SAFETY: `describe` reads a static atomic, and neither allocates nor locks.
    /// stack.set_label(Some(unsafe { Label::new((&raw const REQUEST).cast(), describe) }));
    /// # Ok::<(), sinew_coroutine::StackError>(())
    /// ```
    pub const unsafe fn new(data: *const (), describe: Describe) -> Self {
        Self(Words::Described(data, describe))
    }

    /// Creates a label with a fixed text.
    ///
    /// ```
    /// # use sinew_coroutine::Label;
    /// let label = Label::text(&"the accepting fiber");
    /// assert_eq!(format!("{label:?}"), "Label(\"the accepting fiber\")");
    /// ```
    pub const fn text(text: &'static &'static str) -> Self {
        Self(Words::Text(text))
    }

    /// Creates a label with a fixed text and a number, such as the number of a connection.
    ///
    /// ```
    /// # use sinew_coroutine::Label;
    /// let label = Label::number(&"connection", 42);
    /// assert_eq!(format!("{label:?}"), "Label(\"connection 42\")");
    /// ```
    pub const fn number(text: &'static &'static str, number: u64) -> Self {
        Self(Words::Numbered(text, number))
    }

    /// Writes the label.
    pub(crate) fn write(self, out: &mut dyn fmt::Write) -> fmt::Result {
        match self.0 {
            // SAFETY: the promise of `new`.
            Words::Described(data, describe) => unsafe { describe(data, out) },
            Words::Text(text) => out.write_str(text),
            Words::Numbered(text, number) => write!(out, "{text} {number}"),
        }
    }
}

impl fmt::Debug for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            // `describe` may be called only while the label is on a stack.
            Words::Described(..) => f.debug_struct("Label").finish_non_exhaustive(),
            Words::Text(text) => f.debug_tuple("Label").field(text).finish(),
            Words::Numbered(text, number) => {
                f.debug_tuple("Label").field(&format_args!("\"{text} {number}\"")).finish()
            }
        }
    }
}
