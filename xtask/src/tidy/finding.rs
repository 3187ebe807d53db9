//! A place where a rule is broken, and what to do about it.

use std::fmt;

/// A complaint about one line of one file.
pub(super) struct Finding {
    path: String,
    line: usize,
    message: String,
    remedy: &'static str,
    is_note: bool,
}

impl Finding {
    /// Makes a finding that fails the check. `remedy` completes the sentence "what you should do is
    /// ...".
    pub(super) fn new(path: &str, line: usize, message: impl Into<String>, remedy: &'static str) -> Self {
        Self { path: path.to_owned(), line, message: message.into(), remedy, is_note: false }
    }

    /// Turns this into information only.
    pub(super) fn into_note(self) -> Self {
        Self { is_note: true, ..self }
    }

    /// Returns whether this is information only.
    pub(super) fn is_note(&self) -> bool {
        self.is_note
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let note = if self.is_note { "note: " } else { "" };
        write!(f, "{}:{}: {note}{} ({})", self.path, self.line, self.message, self.remedy)
    }
}
