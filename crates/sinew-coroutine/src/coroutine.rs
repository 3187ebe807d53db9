//! The coroutine as its owner sees it: creation, resuming, dropping. Knows no scheduler, no
//! threads, no atomics.
//!
//! # Safety
//!
//! Trusted with the lifetime of a stack: no code runs on it before [`Coroutine::new`] nor after the
//! coroutine is done, and the stack is returned or freed only then. A coroutine that cannot be
//! finished keeps its stack forever.
#![expect(
    unsafe_code,
    reason = "coroutines are resumed by a context switch and share raw memory with their owner"
)]

use core::fmt;
use core::marker::PhantomData;
use core::mem::ManuallyDrop;
use core::ptr::{self, NonNull};

use crate::arch::{self, Arg, Base, Context, Registers};
use crate::error::{NewError, ResumeError};
use crate::root::{Outcome, Root, entry, place_root, room_for};
use crate::stack::{MmapStack, Stack};
use crate::suspender::Suspender;
use crate::{sanitizer, transfer, unwind};

/// The result of a [`resume`](Coroutine::resume). The variants have the names of
/// `std::ops::CoroutineState`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CoroutineState<Out, Ret> {
    /// The coroutine suspended itself with this value.
    Yielded(Out),
    /// The body returned this value. The coroutine is done.
    Complete(Ret),
}

/// A function on a stack of its own, which can suspend itself in the middle and be resumed there.
///
/// `In` is the type of the values that a resume sends in, `Out` that of the values that a
/// suspension hands out, and `Ret` that of the body's result.
///
/// ```
/// # use sinew_coroutine::{Coroutine, CoroutineState, MmapStack};
/// let mut echo = Coroutine::new(MmapStack::new(64 * 1024)?, |suspender, first: String| {
///     let second = suspender.suspend(format!("first {first}"));
///     format!("then {second}")
/// });
/// assert_eq!(echo.resume("one".into()), CoroutineState::Yielded("first one".into()));
/// assert_eq!(echo.resume("two".into()), CoroutineState::Complete("then two".into()));
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Not `Send`
///
/// The compiler does not know what lives on the stack: an `Rc`, a lock guard, or the address of a
/// thread-local that the optimizer keeps in a register. So a coroutine stays on its thread. An
/// owner that knows what lives there can promise that it may move: see
/// [`into_movable`](Self::into_movable).
///
/// ```compile_fail,E0277
/// # use sinew_coroutine::{Coroutine, MmapStack};
/// let coroutine = Coroutine::<(), (), ()>::new(MmapStack::new(65536).unwrap(), |_, ()| {});
/// std::thread::spawn(move || coroutine);
/// ```
///
/// # `'static`
///
/// A suspended coroutine can be forgotten, like any value. Its frames then neither continue nor
/// unwind. If those frames could hold borrows, code that relies on a frame ending before a borrow
/// does would be left with dangling references. An example is a `std::thread::scope` on the
/// coroutine's stack, whose threads keep running. So the body and the values sent in must own what
/// they use.
///
/// ```compile_fail,E0597
/// # use sinew_coroutine::{Coroutine, MmapStack};
/// let text = String::from("borrowed");
/// let text = &text;
/// let stack = MmapStack::new(65536).unwrap();
/// let coroutine = Coroutine::<(), (), usize, _>::new(stack, move |_, ()| text.len());
/// ```
///
/// # Dropping
///
/// Dropping a coroutine that has not started drops its closure. Dropping a suspended coroutine
/// unwinds its stack, so that its destructors run. In a program built with `panic=abort` that is
/// impossible, and the process aborts with a message. The process also aborts if a destructor
/// panics during this unwinding, as everywhere in Rust, and if the unwinding reaches a frame that
/// cannot be unwound, such as that of an `extern "C"` function.
///
/// A body can catch this unwinding. If it then returns, the coroutine ends normally. If it panics
/// again, that panic continues out of the drop; if the owner is unwinding already, the payload is
/// dropped instead. If it suspends again, the coroutine and its stack are leaked, with a message on
/// standard error.
pub struct Coroutine<In: 'static, Out: 'static, Ret: 'static, S: Stack = MmapStack> {
    #[expect(dead_code, reason = "only its type matters; it is first so that compiler errors name it first")]
    frames: FramesOfUnknownTypes,
    /// Where the coroutine continues; `None` once the coroutine is done.
    ///
    /// # Invariant
    ///
    /// If this is `Some` and the coroutine is not running, it is the coroutine's suspended side,
    /// and this is the only copy that will be used. While the coroutine runs, the value is stale.
    /// `resume` borrows the field exclusively and sets it on return, so only a drop can find a
    /// stale value: `process::exit` drops the values of thread-locals, borrowed or not.
    context: Option<Context>,
    /// # Invariant
    ///
    /// Points to the top of the stack, where nothing else is ever stored.
    inside: NonNull<Suspender<In, Out>>,
    /// Dropped only when the coroutine is done, otherwise leaked.
    stack: ManuallyDrop<S>,
    /// Dropped or leaked together with `stack`.
    sanitizer: ManuallyDrop<sanitizer::Outside>,
    /// A coroutine returns and yields values of these types, but holds none of them.
    values: PhantomData<fn(In) -> (Out, Ret)>,
}

/// A marker for the frames on the stack, whose types are unknown. So a coroutine must not be sent,
/// shared, or used after a panic unless its type says so.
struct FramesOfUnknownTypes(PhantomData<Box<dyn FnOnce()>>);

impl<Out, Ret> CoroutineState<Out, Ret> {
    /// Returns the yielded value, or `None` if the body returned.
    pub fn yielded(self) -> Option<Out> {
        match self {
            Self::Yielded(value) => Some(value),
            Self::Complete(_) => None,
        }
    }

    /// Returns the body's result, or `None` if the coroutine suspended.
    pub fn complete(self) -> Option<Ret> {
        match self {
            Self::Yielded(_) => None,
            Self::Complete(value) => Some(value),
        }
    }
}

impl<In: 'static, Out: 'static, Ret: 'static, S: Stack> Coroutine<In, Out, Ret, S> {
    /// Creates a coroutine that will run `body` on `stack`. Nothing runs before the first resume.
    ///
    /// The body receives the handle to suspend through and the value of the first resume. If the
    /// body never suspends, the compiler cannot infer the type of the yielded values: name the
    /// types, as in `Coroutine::<(), (), u32>::new(...)`.
    ///
    /// # Panics
    ///
    /// Panics if the stack is too small. [`try_new`](Self::try_new) returns an error instead.
    #[inline]
    #[track_caller]
    #[must_use = "a coroutine does nothing until it is resumed"]
    pub fn new<F>(stack: S, body: F) -> Self
    where
        F: FnOnce(&Suspender<In, Out>, In) -> Ret + 'static,
    {
        match Self::try_new(stack, body) {
            Ok(coroutine) => coroutine,
            Err(error) => panic!("{error}"),
        }
    }

    /// Creates a coroutine that will run `body` on `stack`, or returns both if the stack is too
    /// small.
    ///
    /// # Errors
    ///
    /// Returns an error if the stack is too small for the closure, the values that go in and out,
    /// and a [few kibibytes](crate::MIN_STACK_SIZE) to run in. The error holds the stack and the
    /// body.
    ///
    /// ```
    /// # use sinew_coroutine::{Coroutine, MmapStack};
    /// let stack = MmapStack::new(16 * 1024)?;
    /// let large = [0_u8; 100_000];
    /// let result = Coroutine::<(), (), usize, _>::try_new(stack, move |_, ()| large.len());
    /// assert!(result.unwrap_err().to_string().contains("too small"));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[inline]
    pub fn try_new<F>(stack: S, body: F) -> Result<Self, NewError<S, F>>
    where
        F: FnOnce(&Suspender<In, Out>, In) -> Ret + 'static,
    {
        let room = const { room_for::<F, In, Outcome<Ret>>() };
        let root: *mut Root<In, Out, F> = match place_root(&stack, room) {
            Ok(root) => root,
            Err(needed) => return Err(NewError { stack, body, needed }),
        };
        // SAFETY: `place_root` found room for the root, so the suspender in it has an address
        // within the stack.
        let inside = unsafe { &raw mut (*root).suspender.sanitizer };
        let sanitizer = ManuallyDrop::new(sanitizer::Outside::new(inside, (stack.limit(), stack.size())));
        // SAFETY: `place_root` found room for the root, aligned, on a stack that this function
        // owns.
        unsafe { root.write(Root { suspender: Suspender::new(), body: ManuallyDrop::new(body) }) };
        // SAFETY: the base is the first field of the suspender, which is the first field of the
        // root. Below it is the room that `place_root` was asked for.
        let context = unsafe { arch::init(root.cast::<Base>(), entry::<In, Out, Ret, F>) };
        // SAFETY: the root was written through this pointer above, so it is not null.
        let inside = unsafe { NonNull::new_unchecked(root.cast()) };
        Ok(Self {
            frames: FramesOfUnknownTypes(PhantomData),
            context: Some(context),
            inside,
            stack: ManuallyDrop::new(stack),
            sanitizer,
            values: PhantomData,
        })
    }

    /// Sends `value` in, and runs the body until it suspends or returns.
    ///
    /// # Panics
    ///
    /// Panics if the coroutine is done; [`try_resume`](Self::try_resume) returns an error instead.
    /// If the body panics, the panic continues here with its payload, and the coroutine is done.
    #[inline]
    #[track_caller]
    pub fn resume(&mut self, value: In) -> CoroutineState<Out, Ret> {
        match self.context {
            Some(context) => self.resume_at(context, value),
            None => resumed_when_done(),
        }
    }

    /// Sends `value` in, and runs the body until it suspends or returns. Unlike
    /// [`resume`](Self::resume), it returns an error if the coroutine is done.
    ///
    /// # Errors
    ///
    /// Returns an error that holds the value if the coroutine is done.
    ///
    /// # Panics
    ///
    /// If the body panics, the panic continues here with its payload, and the coroutine is done.
    #[inline]
    pub fn try_resume(&mut self, value: In) -> Result<CoroutineState<Out, Ret>, ResumeError<In>> {
        match self.context {
            Some(context) => Ok(self.resume_at(context, value)),
            None => Err(ResumeError(value)),
        }
    }

    #[inline(always)]
    fn resume_at(&mut self, context: Context, value: In) -> CoroutineState<Out, Ret> {
        let mut value = ManuallyDrop::new(value);
        let crossing = self.sanitizer.enter();
        // SAFETY: the context is that of `self.context`, which is overwritten below. The body waits
        // for the address of a value of type `In`, and takes that value before anything else.
        let (from, arg) = unsafe { arch::switch(context, Arg::new((&raw mut value).cast())) };
        self.sanitizer.returned(crossing);
        self.context = from;
        if from.is_some() {
            // SAFETY: a body that suspends sends a value of type `Out`, and leaves it in place
            // until it is resumed.
            return CoroutineState::Yielded(unsafe { transfer::receive(arg) });
        }
        // SAFETY: a body that ends sends its outcome, and leaves it in place.
        match unsafe { transfer::receive(arg) } {
            Outcome::Returned(value) => CoroutineState::Complete(value),
            Outcome::Panicked(payload) => unwind::go_on(payload),
            // SAFETY: a body is discarded only by a drop, and this is a resume.
            Outcome::Discarded => unsafe { core::hint::unreachable_unchecked() },
        }
    }

    /// Returns whether the body has returned or panicked.
    #[inline]
    pub fn is_done(&self) -> bool {
        self.context.is_none()
    }

    /// Returns the stack of a coroutine that is done, so that it can be used again.
    ///
    /// # Errors
    ///
    /// Returns the coroutine unchanged if it is not done.
    ///
    /// ```
    /// # use sinew_coroutine::{Coroutine, MmapStack};
    /// let mut stack = MmapStack::new(64 * 1024)?;
    /// for number in 0..3 {
    ///     let mut coroutine = Coroutine::<u32, (), u32>::new(stack, |_, number| number + 1);
    ///     assert_eq!(coroutine.resume(number).complete(), Some(number + 1));
    ///     stack = coroutine.into_stack().expect("it is done");
    /// }
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[inline]
    pub fn into_stack(self) -> Result<S, Self> {
        if !self.is_done() {
            return Err(self);
        }
        let mut done = ManuallyDrop::new(self);
        // SAFETY: the coroutine is done. `done` is neither dropped nor used after this function.
        unsafe { ManuallyDrop::drop(&mut done.sanitizer) };
        // SAFETY: as above.
        Ok(unsafe { ManuallyDrop::take(&mut done.stack) })
    }

    /// Prefetches the memory that the next resume touches first.
    ///
    /// This is a hint. It helps a caller that will resume this coroutine soon and does other work
    /// first: with many coroutines, their stacks are seldom in the fastest cache.
    #[inline]
    pub fn prefetch(&self) {
        if let Some(context) = self.context {
            context.prefetch();
            arch::prefetch(self.inside.as_ptr().cast::<u8>());
            self.stack.prefetch();
        }
    }

    /// Returns the stack that this coroutine runs on.
    pub fn stack(&self) -> &S {
        &self.stack
    }

    /// Returns where a suspended coroutine will continue, for debuggers and profilers; `None` if it
    /// is done.
    pub fn registers(&self) -> Option<Registers> {
        // SAFETY: the invariant of `context`: the coroutine is suspended, and cannot be resumed
        // while it is borrowed.
        self.context.map(|context| unsafe { context.registers() })
    }

    /// Unwinds the stack. Returns the outcome, or `None` if the body caught the unwinding and
    /// suspended again.
    #[cold]
    fn unwind(&mut self, context: Context) -> Option<Outcome<Ret>> {
        let crossing = self.sanitizer.enter();
        // SAFETY: as in `resume_at`. A null address tells the body to unwind.
        let (from, arg) = unsafe { arch::switch(context, Arg::new(ptr::null_mut())) };
        self.sanitizer.returned(crossing);
        if from.is_some() {
            return None;
        }
        // SAFETY: a body that ends sends its outcome, and leaves it in place.
        Some(unsafe { transfer::receive(arg) })
    }

    /// Frees the stack.
    ///
    /// # Safety
    ///
    /// The coroutine is done, and is being dropped.
    #[inline]
    unsafe fn release(&mut self) {
        // SAFETY: the caller's promise: the field is not used again.
        unsafe { ManuallyDrop::drop(&mut self.sanitizer) };
        // SAFETY: the caller's promise: the field is not used again. Nothing is left on the stack,
        // since the coroutine is done.
        unsafe { ManuallyDrop::drop(&mut self.stack) };
    }
}

impl<In: 'static, Out: 'static, Ret: 'static, S: Stack> Drop for Coroutine<In, Out, Ret, S> {
    fn drop(&mut self) {
        // SAFETY: the invariant of `inside`; the stack is still allocated.
        if unsafe { self.inside.as_ref() }.is_entered() {
            return unwind::report("a coroutine was dropped while it ran: its stack is leaked");
        }
        let mut outcome = None;
        if let Some(context) = self.context.take() {
            outcome = self.unwind(context);
            if outcome.is_none() {
                return unwind::report(
                    "a coroutine caught the unwinding of its drop and suspended again: it still has frames, so its \
                     stack is leaked",
                );
            }
        }
        // SAFETY: there was no context, or the unwinding reached the end of the body: the coroutine
        // is done.
        unsafe { self.release() };
        match outcome {
            Some(Outcome::Panicked(payload)) if !unwind::is_forced(&payload) => unwind::hand_on(payload),
            other => drop(other),
        }
    }
}

impl<In: 'static, Out: 'static, Ret: 'static, S: Stack> fmt::Debug for Coroutine<In, Out, Ret, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Coroutine").field("done", &self.is_done()).finish_non_exhaustive()
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn resumed_when_done() -> ! {
    panic!("{}", ResumeError(()))
}
