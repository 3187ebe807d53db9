//! The errors of this crate. Each gives back what the refused call was given.

use core::fmt;

use crate::stack::Stack;

/// The stack given to [`Coroutine::try_new`](crate::Coroutine::try_new) is too small. Holds the stack and the body.
pub struct NewError<S, F> {
    /// The stack that was refused.
    pub stack: S,
    /// The body that did not start.
    pub body: F,
    /// How large the stack should have been.
    pub(crate) needed: usize,
}

impl<S: Stack, F> fmt::Display for NewError<S, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (usable, needed, closure) = (self.stack.size(), self.needed, size_of::<F>());
        write!(
            f,
            "a stack of {usable} bytes is too small: this coroutine needs {needed} at least, its closure of {closure} \
             bytes and what goes in and out included; box what the closure owns, or take a larger stack"
        )
    }
}

impl<S: Stack, F> fmt::Debug for NewError<S, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NewError({self})")
    }
}

impl<S: Stack, F> core::error::Error for NewError<S, F> {}

/// [`Coroutine::try_resume`](crate::Coroutine::try_resume) found the coroutine done. Holds the value that was to be
/// sent in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ResumeError<In>(pub In);

impl<In> fmt::Display for ResumeError<In> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the coroutine is done and cannot be resumed: check `is_done` first")
    }
}

impl<In> fmt::Debug for ResumeError<In> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ResumeError({self})")
    }
}

impl<In> core::error::Error for ResumeError<In> {}
