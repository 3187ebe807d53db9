//! The errors of coroutines. Each one returns the values that the refused call received.

use core::fmt;

use crate::stack::Stack;

/// The error of [`Coroutine::try_new`](crate::Coroutine::try_new): the stack is too small. Holds
/// the stack and the body.
pub struct NewError<S, F> {
    /// The stack that was refused.
    pub stack: S,
    /// The body that did not start.
    pub body: F,
    /// The size that the stack should have at least.
    pub(crate) needed: usize,
}

impl<S: Stack, F> fmt::Display for NewError<S, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (usable, needed, closure) = (self.stack.size(), self.needed, size_of::<F>());
        write!(
            f,
            "a stack of {usable} bytes is too small: this coroutine needs {needed} bytes, including its closure of \
             {closure} bytes and the values sent in and out; box what the closure owns, or use a larger stack"
        )
    }
}

impl<S: Stack, F> fmt::Debug for NewError<S, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NewError({self})")
    }
}

impl<S: Stack, F> core::error::Error for NewError<S, F> {}

/// The error of [`Coroutine::try_resume`](crate::Coroutine::try_resume): the coroutine is done.
/// Holds the value that was to be sent in.
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
