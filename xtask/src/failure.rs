//! Why a check did not pass, as one sentence for its reader.
//!
//! No code matches on causes, so there is no enum: a job passes, or says what failed.

use std::fmt;

/// The sentence about a failed job.
#[derive(Debug)]
pub(crate) struct Failure(String);

/// What checks return.
pub(crate) type Result<T = ()> = std::result::Result<T, Failure>;

impl Failure {
    /// Makes a failure with this explanation.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Failure {}

/// Says what was being done when an error of another kind came up.
pub(crate) trait While<T> {
    /// Turns the error into "`doing`: error".
    fn while_doing(self, doing: impl fmt::Display) -> Result<T>;
}

impl<T, E: fmt::Display> While<T> for std::result::Result<T, E> {
    fn while_doing(self, doing: impl fmt::Display) -> Result<T> {
        self.map_err(|error| Failure::new(format!("{doing}: {error}")))
    }
}
