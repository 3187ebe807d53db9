//! What came of the work, for those who join.

use std::any::Any;
use std::error::Error;
use std::fmt;
use std::sync::Arc;

/// Not all went well: some of the work panicked, or was not done.
///
/// ```
/// use sinew::work::WorkQueue;
///
/// let queue = WorkQueue::new();
/// queue.push(|| panic!("no paper")).unwrap();
/// queue.push(|| panic!("no ink")).unwrap();
/// queue.stop();
/// let error = queue.join().unwrap_err();
/// assert_eq!((error.panics(), error.message()), (2, Some("no paper")));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JoinError {
    panics: usize,
    message: Option<Arc<str>>,
    lost: usize,
}

impl JoinError {
    /// How often the work panicked. The panic hook has told of each, as of any fiber's.
    #[must_use]
    pub fn panics(&self) -> usize {
        self.panics
    }

    /// What the first of these panics said, if it said something.
    #[must_use]
    pub fn message(&self) -> Option<&str> {
        self.message.as_deref()
    }

    /// How many tasks were accepted and not done, since the runtime was shut down.
    #[must_use]
    pub fn lost(&self) -> usize {
        self.lost
    }

    /// That so many were not done.
    pub(super) fn lose(&mut self, tasks: usize) {
        self.lost += tasks;
    }

    /// That there was one more panic, which said this. It is taken from there if it is to be kept: nothing is freed here.
    pub(super) fn note(&mut self, message: &mut Option<Arc<str>>) {
        if self.panics == 0 {
            self.message = message.take();
        }
        self.panics += 1;
    }

    /// # Errors
    ///
    /// If something went wrong.
    pub(super) fn into_result(self) -> Result<(), Self> {
        if self.panics + self.lost == 0 { Ok(()) } else { Err(self) }
    }
}

/// What a panic said.
pub(super) fn message(payload: &(dyn Any + Send)) -> Option<Arc<str>> {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).map(Arc::from)
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.panics, &self.message) {
            (0, _) => {}
            (many, None) => write!(f, "panics in the queue's work: {many}")?,
            (many, Some(message)) => {
                write!(f, "panics in the queue's work: {many}, the first one: {message}")?
            }
        }
        match (self.panics, self.lost) {
            (_, 0) => Ok(()),
            (panics, lost) => {
                let and = if panics > 0 { "; " } else { "" };
                write!(f, "{and}tasks that were not done, since the runtime was shut down: {lost}")
            }
        }
    }
}

impl Error for JoinError {}
