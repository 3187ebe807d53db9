//! Labels: who runs on a stack, told in a signal handler. Knows no fiber.
//!
//! # Safety
//!
//! Trusted with calling a function on a pointer that the label's maker vouched for.
#![expect(unsafe_code, reason = "a label is an untyped pointer and a function")]

use core::fmt;

/// Writes in words who uses a stack. Called in a signal handler, on the alternate stack: it must not allocate, lock or panic,
/// nor take more than 1 KiB of that stack.
///
/// # Safety
///
/// The pointer is the one that the label was made with, and the promise of [`Label::new`] holds.
pub type Describe = unsafe fn(data: *const (), out: &mut dyn fmt::Write) -> fmt::Result;

/// Says who runs on a stack, when that overflows. See [`set_label`](super::PooledStack::set_label).
///
/// Up to 256 bytes of it are shown.
#[derive(Clone, Copy)]
pub struct Label(Words);

/// Where the words come from.
#[derive(Clone, Copy)]
enum Words {
    /// The promise of [`Label::new`] holds.
    Described(*const (), Describe),
    Text(&'static &'static str),
    Numbered(&'static &'static str, u64),
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
        Self(Words::Described(data, describe))
    }

    /// A fixed text.
    ///
    /// ```
    /// # use sinew_coroutine::Label;
    /// let label = Label::text(&"the accepting fiber");
    /// assert_eq!(format!("{label:?}"), "Label(\"the accepting fiber\")");
    /// ```
    pub const fn text(text: &'static &'static str) -> Self {
        Self(Words::Text(text))
    }

    /// A fixed text and a number, as for one of many.
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
            // It may be called only while the label is on a stack.
            Words::Described(..) => f.debug_struct("Label").finish_non_exhaustive(),
            Words::Text(text) => f.debug_tuple("Label").field(text).finish(),
            Words::Numbered(text, number) => {
                f.debug_tuple("Label").field(&format_args!("\"{text} {number}\"")).finish()
            }
        }
    }
}
