//! A coroutine whose owner promises that it may change threads. Knows no thread itself: it only lifts the ban.
//!
//! # Safety
//!
//! Trusted with one `Send` that the compiler cannot check; [`Coroutine::into_movable`] states what its caller promises.
#![expect(unsafe_code, reason = "Send is promised, not proved")]

use core::fmt;
use core::ops::Deref;

use crate::coroutine::{Coroutine, CoroutineState};
use crate::error::ResumeError;
use crate::stack::{MmapStack, Stack};

/// A [`Coroutine`] that may be sent to another thread, even between two resumes. Made by
/// [`Coroutine::into_movable`].
///
/// It lends the coroutine for reading only. An exclusive borrow could be swapped for a coroutine about which nobody
/// promised anything:
///
/// ```compile_fail,E0596
/// # use sinew_coroutine::{Coroutine, MmapStack};
/// # let (one, two) = (MmapStack::new(65536).unwrap(), MmapStack::new(65536).unwrap());
/// let mut other = Coroutine::<(), (), ()>::new(one, |_, ()| {});
/// let coroutine = Coroutine::<(), (), ()>::new(two, |_, ()| {});
/// // SAFETY: the body holds nothing.
/// let mut movable = unsafe { coroutine.into_movable() };
/// std::mem::swap(&mut *movable, &mut other);
/// ```
pub struct MovableCoroutine<In: 'static, Out: 'static, Ret: 'static, S: Stack = MmapStack>(
    Coroutine<In, Out, Ret, S>,
);

// SAFETY: the contract of `Coroutine::into_movable`, the only constructor, covers what lives on the stack. The stack
// itself must be `Send`, because it is dropped wherever the coroutine is.
unsafe impl<In: Send, Out: Send, Ret: Send, S: Stack + Send> Send for MovableCoroutine<In, Out, Ret, S> {}

impl<In: 'static, Out: 'static, Ret: 'static, S: Stack> Coroutine<In, Out, Ret, S> {
    /// Allows this coroutine to change threads.
    ///
    /// # Safety
    ///
    /// Whenever the coroutine is suspended, or not yet started, and somebody moves it to another thread, the following
    /// holds from then until it is done:
    ///
    /// - No value that is not `Send` lives on its stack or in its closure. That includes the guards of std's locks and
    ///   references into a `thread_local!`.
    /// - No function with a frame on the stack uses a thread-local both before and after the suspension. The compiler
    ///   may keep a thread-local's address in a register across the switch and would use the old thread's.
    /// - No frame of foreign code has remembered which thread it runs on.
    /// - It is not moved while it unwinds: the count of panics is the thread's.
    #[must_use]
    pub unsafe fn into_movable(self) -> MovableCoroutine<In, Out, Ret, S> {
        MovableCoroutine(self)
    }
}

impl<In: 'static, Out: 'static, Ret: 'static, S: Stack> MovableCoroutine<In, Out, Ret, S> {
    /// As [`Coroutine::resume`].
    ///
    /// # Panics
    ///
    /// If the coroutine is done, and if the body panics.
    #[inline]
    #[track_caller]
    pub fn resume(&mut self, value: In) -> CoroutineState<Out, Ret> {
        self.0.resume(value)
    }

    /// As [`Coroutine::try_resume`].
    ///
    /// # Errors
    ///
    /// If the coroutine is done.
    ///
    /// # Panics
    ///
    /// If the body panics.
    #[inline]
    pub fn try_resume(&mut self, value: In) -> Result<CoroutineState<Out, Ret>, ResumeError<In>> {
        self.0.try_resume(value)
    }

    /// As [`Coroutine::into_stack`].
    ///
    /// # Errors
    ///
    /// If the coroutine is not done: it comes back as it was.
    #[inline]
    pub fn into_stack(self) -> Result<S, Self> {
        self.0.into_stack().map_err(Self)
    }

    /// Gives up the permission again.
    #[must_use]
    pub fn into_inner(self) -> Coroutine<In, Out, Ret, S> {
        self.0
    }
}

impl<In: 'static, Out: 'static, Ret: 'static, S: Stack> Deref for MovableCoroutine<In, Out, Ret, S> {
    type Target = Coroutine<In, Out, Ret, S>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<In: 'static, Out: 'static, Ret: 'static, S: Stack> fmt::Debug for MovableCoroutine<In, Out, Ret, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("MovableCoroutine").field(&self.0).finish()
    }
}
