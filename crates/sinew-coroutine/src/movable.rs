//! A coroutine whose owner promises that it may change threads. Knows no thread itself: it only
//! adds `Send`.
//!
//! # Safety
//!
//! Trusted with one `Send` that the compiler cannot check; [`Coroutine::into_movable`] states what
//! its caller promises.
#![expect(unsafe_code, reason = "Send is promised, not proved")]

use core::fmt;
use core::ops::Deref;

use crate::coroutine::{Coroutine, CoroutineState};
use crate::error::ResumeError;
use crate::stack::{MmapStack, Stack};

/// A [`Coroutine`] that may be sent to another thread, even between two resumes. Created by
/// [`Coroutine::into_movable`].
///
/// ```
/// # use sinew_coroutine::{Coroutine, CoroutineState, MmapStack};
/// let coroutine = Coroutine::<u32, u32, u32>::new(MmapStack::new(64 * 1024)?, |suspender, first| {
///     suspender.suspend(first + 1) + 1
/// });
/// // SAFETY: only numbers live on its stack, and it uses no thread-local.
/// let mut movable = unsafe { coroutine.into_movable() };
/// assert_eq!(movable.resume(1), CoroutineState::Yielded(2));
/// let last = std::thread::spawn(move || movable.resume(7)).join().unwrap();
/// assert_eq!(last, CoroutineState::Complete(8));
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// It dereferences to the coroutine for shared access only. Through an exclusive borrow, safe code
/// could swap in a coroutine for which the promise was not made:
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

// SAFETY: the contract of `Coroutine::into_movable`, the only constructor, covers the values on the
// stack. The stack itself must be `Send`, because it is dropped on the thread that drops the
// coroutine.
unsafe impl<In: Send, Out: Send, Ret: Send, S: Stack + Send> Send for MovableCoroutine<In, Out, Ret, S> {}

impl<In: 'static, Out: 'static, Ret: 'static, S: Stack> Coroutine<In, Out, Ret, S> {
    /// Allows this coroutine to change threads.
    ///
    /// # Safety
    ///
    /// Whenever the coroutine moves to another thread, suspended or not yet started, the following
    /// holds from then until it is done:
    ///
    /// - No value that is not `Send` lives on its stack or in its closure. That includes the guards
    ///   of std's locks and references into a `thread_local!`.
    /// - No function with a frame on the stack uses a thread-local both before and after the
    ///   suspension. The compiler may keep a thread-local's address in a register across the
    ///   switch, and would then use the old thread's.
    /// - No frame of foreign code has stored which thread it runs on.
    /// - The coroutine does not move while it unwinds: the panic count belongs to the thread.
    #[must_use]
    pub unsafe fn into_movable(self) -> MovableCoroutine<In, Out, Ret, S> {
        MovableCoroutine(self)
    }
}

impl<In: 'static, Out: 'static, Ret: 'static, S: Stack> MovableCoroutine<In, Out, Ret, S> {
    /// Sends `value` in and runs the body, as [`Coroutine::resume`] does.
    ///
    /// # Panics
    ///
    /// Panics if the coroutine is done, and if the body panics.
    #[inline]
    #[track_caller]
    pub fn resume(&mut self, value: In) -> CoroutineState<Out, Ret> {
        self.0.resume(value)
    }

    /// Sends `value` in and runs the body, as [`Coroutine::try_resume`] does.
    ///
    /// # Errors
    ///
    /// Returns an error that holds the value if the coroutine is done.
    ///
    /// # Panics
    ///
    /// Panics if the body panics.
    #[inline]
    pub fn try_resume(&mut self, value: In) -> Result<CoroutineState<Out, Ret>, ResumeError<In>> {
        self.0.try_resume(value)
    }

    /// Returns the stack of a coroutine that is done, as [`Coroutine::into_stack`] does.
    ///
    /// # Errors
    ///
    /// Returns the coroutine unchanged if it is not done.
    #[inline]
    pub fn into_stack(self) -> Result<S, Self> {
        self.0.into_stack().map_err(Self)
    }

    /// Returns the coroutine without the permission to change threads.
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
