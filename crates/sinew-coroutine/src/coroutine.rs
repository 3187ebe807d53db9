//! The coroutine as its owner sees it: made, resumed, dropped. Knows no scheduler, no threads, no atomics.
//!
//! # Safety
//!
//! Trusted with the life of a stack: nothing runs on it before [`Coroutine::new`] nor after the coroutine is done, and
//! it is given back or freed only then. A coroutine that will not end keeps its stack for ever.
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

/// What a [`resume`](Coroutine::resume) came back with. The names are those of `std::ops::CoroutineState`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CoroutineState<Out, Ret> {
    /// The coroutine suspended itself and handed out this value.
    Yielded(Out),
    /// The body returned this value. The coroutine is done.
    Complete(Ret),
}

/// A function on a stack of its own, which can suspend itself in the middle and be resumed there.
///
/// `In` is what a resume sends in, `Out` what a suspension hands out, `Ret` what the body returns.
///
/// # Not `Send`
///
/// What lives on the stack is unknown to the compiler: an `Rc`, a lock guard, the address of a thread-local that the
/// optimiser keeps in a register. So a coroutine stays on its thread, unless its owner knows better and promises it:
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
/// A suspended coroutine can be forgotten, like any value; its frames then neither go on nor unwind. If they could
/// hold borrows, what relies on a frame ending before a borrow does (a `std::thread::scope` on the coroutine's stack,
/// whose threads run on) would be left with dangling references. So the body and the values sent in own what they use.
///
/// ```compile_fail,E0597
/// # use sinew_coroutine::{Coroutine, MmapStack};
/// let text = String::from("borrowed");
/// let text = &text;
/// let coroutine = Coroutine::<(), (), usize, _>::new(MmapStack::new(65536).unwrap(), move |_, ()| text.len());
/// ```
///
/// # Dropping
///
/// Dropping one that has not started drops its closure. Dropping one that is suspended unwinds its stack, so that its
/// destructors run; in a program built with `panic=abort` that is impossible, and the process aborts with a message.
/// A destructor that panics while its stack unwinds aborts the process, as everywhere in Rust, and so does unwinding
/// through a frame that cannot be unwound, such as that of an `extern "C"` function.
///
/// A body that swallows the unwinding and returns just ends. One that swallows it and panics anew has its panic come out
/// of the drop, unless the owner unwinds already: then the payload is dropped. One that swallows it and suspends again is
/// leaked, stack and all, with a message on standard error.
pub struct Coroutine<In: 'static, Out: 'static, Ret: 'static, S: Stack = MmapStack> {
    #[expect(dead_code, reason = "it is there for its type, and first so that the compiler names it first")]
    frames: FramesOfUnknownTypes,
    /// Where to go on; none once the coroutine is done.
    ///
    /// # Invariant
    ///
    /// If there is one and the coroutine does not run, it is the coroutine's suspended side, and this is the only copy that
    /// will be used. While the coroutine runs it is stale. `resume` borrows it exclusively and sets it on return, so only
    /// a drop can find it so: `process::exit` drops what is in thread-locals, borrowed or not.
    context: Option<Context>,
    /// # Invariant
    ///
    /// Points to the top of the stack, where nothing else is ever put.
    inside: NonNull<Suspender<In, Out>>,
    /// Dropped only when the coroutine is done, else leaked.
    stack: ManuallyDrop<S>,
    /// As `stack`.
    sanitizer: ManuallyDrop<sanitizer::Outside>,
    /// A coroutine owns what it returns and hands out, but holds none of it.
    values: PhantomData<fn(In) -> (Out, Ret)>,
}

/// Nobody knows what is in the frames on the stack, so nobody may conclude that it may be sent, shared, or used after a
/// panic.
struct FramesOfUnknownTypes(PhantomData<Box<dyn FnOnce()>>);

impl<Out, Ret> CoroutineState<Out, Ret> {
    /// What was handed out, if the coroutine suspended.
    pub fn yielded(self) -> Option<Out> {
        match self {
            Self::Yielded(value) => Some(value),
            Self::Complete(_) => None,
        }
    }

    /// What the body returned, if it did.
    pub fn complete(self) -> Option<Ret> {
        match self {
            Self::Yielded(_) => None,
            Self::Complete(value) => Some(value),
        }
    }
}

impl<In: 'static, Out: 'static, Ret: 'static, S: Stack> Coroutine<In, Out, Ret, S> {
    /// Makes a coroutine that will run `body` on `stack`. Nothing runs yet.
    ///
    /// The body gets the handle to suspend through and the value of the first resume. Where the compiler cannot tell what
    /// is suspended with, because the body never does, name the types: `Coroutine::<(), (), u32>::new(...)`.
    ///
    /// # Panics
    ///
    /// If the stack is too small; [`try_new`](Self::try_new) returns an error instead.
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

    /// Makes a coroutine that will run `body` on `stack`.
    ///
    /// # Errors
    ///
    /// If the stack is too small for the closure, the values that go in and out, and some
    /// [kibibytes](crate::MIN_STACK_SIZE) to run in. The error holds stack and body.
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
        // SAFETY: `place_root` found the room, so the suspender in it has an address.
        let inside = unsafe { &raw mut (*root).suspender.sanitizer };
        let sanitizer = ManuallyDrop::new(sanitizer::Outside::new(inside, (stack.limit(), stack.size())));
        // SAFETY: `place_root` found the room, aligned, on a stack that is ours.
        unsafe { root.write(Root { suspender: Suspender::new(), body: ManuallyDrop::new(body) }) };
        // SAFETY: the base is the first field of the suspender, which is the first of the root; below it is the room that
        // was asked for.
        let context = unsafe { arch::init(root.cast::<Base>(), entry::<In, Out, Ret, F>) };
        // SAFETY: the root was just written through this pointer, so it is not null.
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

    /// Runs the body until it suspends or returns, sending `value` in.
    ///
    /// # Panics
    ///
    /// If the coroutine is done; [`try_resume`](Self::try_resume) returns an error instead. And if the body panics: the
    /// panic goes on here, with its payload, and the coroutine is done.
    #[inline]
    #[track_caller]
    pub fn resume(&mut self, value: In) -> CoroutineState<Out, Ret> {
        match self.context {
            Some(context) => self.resume_at(context, value),
            None => resumed_when_done(),
        }
    }

    /// Runs the body until it suspends or returns, sending `value` in.
    ///
    /// # Errors
    ///
    /// If the coroutine is done. The error holds the value.
    ///
    /// # Panics
    ///
    /// If the body panics: the panic goes on here, with its payload, and the coroutine is done.
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
        // SAFETY: the context is that of `self.context`, which is overwritten below; the body waits for the address of a
        // value of type `In`, and takes it before anything else.
        let (from, arg) = unsafe { arch::switch(context, Arg::new((&raw mut value).cast())) };
        self.sanitizer.returned(crossing);
        self.context = from;
        if from.is_some() {
            // SAFETY: a suspending body sends a value of type `Out`, and leaves it in place until it is resumed.
            return CoroutineState::Yielded(unsafe { transfer::receive(arg) });
        }
        // SAFETY: a body that is over sends its outcome, and leaves it in place.
        match unsafe { transfer::receive(arg) } {
            Outcome::Returned(value) => CoroutineState::Complete(value),
            Outcome::Panicked(payload) => unwind::go_on(payload),
            // SAFETY: only a drop discards, and this is not one.
            Outcome::Discarded => unsafe { core::hint::unreachable_unchecked() },
        }
    }

    /// Whether the body has returned or panicked.
    #[inline]
    pub fn is_done(&self) -> bool {
        self.context.is_none()
    }

    /// Takes the stack of a coroutine that is done, to use it again.
    ///
    /// # Errors
    ///
    /// If it is not done: the coroutine comes back as it was.
    #[inline]
    pub fn into_stack(self) -> Result<S, Self> {
        if !self.is_done() {
            return Err(self);
        }
        let mut done = ManuallyDrop::new(self);
        // SAFETY: the coroutine is done, and neither dropped nor used after this.
        unsafe { ManuallyDrop::drop(&mut done.sanitizer) };
        // SAFETY: as above.
        Ok(unsafe { ManuallyDrop::take(&mut done.stack) })
    }

    /// Has the memory fetched that the next resume touches first. A hint, for whoever will resume this one soon and does
    /// something else before: with many coroutines, their stacks are seldom in the fastest cache.
    #[inline]
    pub fn prefetch(&self) {
        if let Some(context) = self.context {
            context.prefetch();
            arch::prefetch(self.inside.as_ptr().cast::<u8>());
            self.stack.prefetch();
        }
    }

    /// The stack that this coroutine runs on.
    pub fn stack(&self) -> &S {
        &self.stack
    }

    /// Where a suspended coroutine will go on, for debuggers and profilers; none if it is done.
    pub fn registers(&self) -> Option<Registers> {
        // SAFETY: the invariant of `context`; it cannot be resumed while it is borrowed.
        self.context.map(|context| unsafe { context.registers() })
    }

    /// Ends what is on the stack; none if the body refused and suspended again.
    #[cold]
    fn unwind(&mut self, context: Context) -> Option<Outcome<Ret>> {
        let crossing = self.sanitizer.enter();
        // SAFETY: as in `resume_at`; no value at all is the sign to unwind.
        let (from, arg) = unsafe { arch::switch(context, Arg::new(ptr::null_mut())) };
        self.sanitizer.returned(crossing);
        if from.is_some() {
            return None;
        }
        // SAFETY: a body that is over sends its outcome, and leaves it in place.
        Some(unsafe { transfer::receive(arg) })
    }

    /// Frees the stack.
    ///
    /// # Safety
    ///
    /// The coroutine is done, and this is its drop.
    #[inline]
    unsafe fn release(&mut self) {
        // SAFETY: the caller's promise: nothing uses the field again.
        unsafe { ManuallyDrop::drop(&mut self.sanitizer) };
        // SAFETY: the same; and nothing is left on the stack, since the coroutine is done.
        unsafe { ManuallyDrop::drop(&mut self.stack) };
    }
}

impl<In: 'static, Out: 'static, Ret: 'static, S: Stack> Drop for Coroutine<In, Out, Ret, S> {
    fn drop(&mut self) {
        // SAFETY: the invariant of `inside`; the stack is still there.
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
        // SAFETY: there was no context, or the unwinding came to an end: the coroutine is done.
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
