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
use core::mem::{self, ManuallyDrop};
use core::ptr;

use crate::arch::{self, Arg, Base, Context, Registers, STACK_ALIGN};
use crate::error::{NewError, ResumeError};
use crate::stack::{MIN_STACK_SIZE, MmapStack, Stack};
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
/// let coroutine = Coroutine::<(), (), (), _>::new(MmapStack::new(65536).unwrap(), |_, ()| {});
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
/// A destructor that panics while its stack unwinds aborts the process, as everywhere in Rust. A body that swallows
/// the unwinding and returns just ends; one that swallows it and panics anew has its panic come out of the drop; one
/// that swallows it and suspends again is leaked, stack and all, and the drop panics. When the owner already unwinds,
/// the last two go without that panic: the payload is dropped, and the leak is reported on standard error.
pub struct Coroutine<In: 'static, Out: 'static, Ret: 'static, S: Stack = MmapStack> {
    /// Where to go on; none once the coroutine is done.
    ///
    /// # Invariant
    ///
    /// If there is one, it is the coroutine's suspended side, and this is the only copy that will be used. It is stale
    /// while the coroutine runs, which nobody can see because `resume` borrows it exclusively and sets it on return.
    context: Option<Context>,
    /// Dropped only when the coroutine is done, else leaked.
    stack: ManuallyDrop<S>,
    /// As `stack`.
    sanitizer: ManuallyDrop<sanitizer::Outside>,
    /// A coroutine owns what it returns and hands out, but holds none of it.
    values: core::marker::PhantomData<fn(In) -> (Out, Ret)>,
}

/// What lies at the top of the stack.
///
/// ```text
///   top of the stack
///   +--------------+
///   | body         |  moved out when it starts
///   | suspender    |  begins with the base of the arch contract
///   +--------------+  <- Root, 16-aligned or as the closure asks
///   | Saved        |  until the first switch; frames from then on
/// ```
#[repr(C)]
struct Root<In, Out, F> {
    suspender: Suspender<In, Out>,
    body: ManuallyDrop<F>,
}

/// How a body ended. Lies on the coroutine's stack, for the resumer to take.
enum Outcome<Ret> {
    Returned(Ret),
    Panicked(unwind::Payload),
    /// It never ran, and has been dropped.
    Discarded,
}

impl<In: 'static, Out: 'static, Ret: 'static, S: Stack> Coroutine<In, Out, Ret, S> {
    /// Makes a coroutine that will run `body` on `stack`. Nothing runs yet.
    ///
    /// The body gets the handle to suspend through and the value of the first resume.
    ///
    /// # Panics
    ///
    /// If the stack is too small; [`try_new`](Self::try_new) returns an error instead.
    #[inline]
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
    /// If the stack has less than [`MIN_STACK_SIZE`] bytes beside what the closure takes. The error holds both.
    #[inline]
    pub fn try_new<F>(stack: S, body: F) -> Result<Self, NewError<S, F>>
    where
        F: FnOnce(&Suspender<In, Out>, In) -> Ret + 'static,
    {
        let Some(root) = place_root::<Root<In, Out, F>>(&stack) else {
            return Err(NewError { stack, body });
        };
        // SAFETY: `place_root` found the room, so the suspender in it has an address.
        let inside = unsafe { &raw mut (*root).suspender.sanitizer };
        let sanitizer = ManuallyDrop::new(sanitizer::Outside::new(inside, &stack));
        // SAFETY: `place_root` found the room, aligned, on a stack that is ours.
        unsafe { root.write(Root { suspender: Suspender::new(), body: ManuallyDrop::new(body) }) };
        // SAFETY: the base is the first field of the suspender, which is the first of the root; below it are at least
        // `MIN_STACK_SIZE` bytes.
        let context = unsafe { arch::init(root.cast::<Base>(), entry::<In, Out, Ret, F>) };
        let values = core::marker::PhantomData;
        Ok(Self { context: Some(context), stack: ManuallyDrop::new(stack), sanitizer, values })
    }

    /// Runs the body until it suspends or returns, sending `value` in.
    ///
    /// # Panics
    ///
    /// If the coroutine is done; [`try_resume`](Self::try_resume) returns an error instead. And if the body panics: the
    /// panic goes on here, with its payload, and the coroutine is done.
    #[inline]
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

/// Where the root goes: as high as alignment allows. None if too little of the stack is left below.
#[inline]
fn place_root<R>(stack: &impl Stack) -> Option<*mut R> {
    let align = align_of::<R>().max(STACK_ALIGN);
    let top = stack.top();
    let address = top.addr().get().checked_sub(size_of::<R>())? & !(align - 1);
    let room = address.checked_sub(stack.limit().addr().get())?;
    (room >= MIN_STACK_SIZE).then(|| top.as_ptr().with_addr(address).cast())
}

/// The first and last function on a coroutine's stack.
///
/// # Safety
///
/// Called by the first switch to a context that [`Coroutine::try_new`] made with the same types: `base` is its root.
unsafe extern "C" fn entry<In, Out, Ret, F>(from: Option<Context>, arg: Arg, base: *mut Base) -> !
where
    F: FnOnce(&Suspender<In, Out>, In) -> Ret,
{
    let root = base.cast::<Root<In, Out, F>>();
    // SAFETY: the root stays where it is until this function has left.
    let suspender = unsafe { &(*root).suspender };
    // SAFETY: whoever resumes for the first time waits, so there is a context.
    suspender.begin(unsafe { from.unwrap_unchecked() });
    // SAFETY: as above.
    let body = unsafe { &raw const (*root).body };
    // SAFETY: this function runs once, and nobody else touches the body.
    let body = ManuallyDrop::into_inner(unsafe { body.read() });
    // SAFETY: the argument of a resume is an address, or null if the coroutine is dropped instead.
    let first = unsafe { arg.assume_init() };
    let mut outcome = ManuallyDrop::new(if first.is_null() {
        discard(body)
    } else {
        // SAFETY: the address is that of a value of type `In` that is ours to take.
        let first = unsafe { first.cast::<In>().read() };
        match unwind::catch(move || body(suspender, first)) {
            Ok(value) => Outcome::Returned(value),
            Err(payload) => Outcome::Panicked(payload),
        }
    });
    let resumer = suspender.end();
    // SAFETY: the resumer waits in its switch and takes the outcome before it frees or reuses the stack. Nothing else
    // is alive here: the body has been consumed, and the suspender has no destructor.
    unsafe { arch::leave(resumer, transfer::send(&mut outcome)) }
}

/// Drops a body that never ran.
#[cold]
fn discard<F, Ret>(body: F) -> Outcome<Ret> {
    match unwind::catch(move || drop(body)) {
        Ok(()) => Outcome::Discarded,
        Err(payload) => Outcome::Panicked(payload),
    }
}

#[cold]
#[inline(never)]
fn resumed_when_done() -> ! {
    panic!("{}", ResumeError(()))
}

// The suspender's destructor is never run: its memory is the stack's. And its address is that of the base.
const _: () = assert!(!mem::needs_drop::<Suspender<String, String>>());
const _: () = assert!(mem::offset_of!(Root<(), (), String>, suspender) == 0);
