//! The inside of a coroutine: the handle that its body suspends through. Knows no owner and no threads.
//!
//! # Safety
//!
//! Trusted with switching to whoever resumed the coroutine. The argument rests on the invariant of [`Base::link`]: while
//! the coroutine runs the link names the side that resumed it, which waits in its switch; taking the link is taking
//! the only right to go there. That the caller runs on the coroutine's stack, or on that of one that it resumed, is the
//! borrow's doing: a handle that a scoped thread-local smuggled out while an outer coroutine was suspended from an inner
//! one's stack passes the check and breaks this, which the crate's known limits forbid.
#![expect(unsafe_code, reason = "suspending is a context switch")]

use core::cell::Cell;
use core::fmt;
use core::marker::PhantomData;
use core::mem::ManuallyDrop;

use crate::arch::{self, Arg, Base, Context};
use crate::{sanitizer, transfer, unwind};

/// The handle through which a coroutine's body suspends it.
///
/// The body gets a reference that it cannot keep: neither another coroutine nor a thread can capture it, since it is
/// a borrow of the coroutine's own stack and is not `Sync`.
///
/// ```compile_fail,E0521
/// # use sinew_coroutine::{Coroutine, MmapStack};
/// # let (one, two) = (MmapStack::new(65536).unwrap(), MmapStack::new(65536).unwrap());
/// Coroutine::<(), (), ()>::new(one, |outer, ()| {
///     // The inner coroutine could run when the outer one does not.
///     Coroutine::<(), (), ()>::new(two, |_, ()| outer.suspend(())).resume(());
/// });
/// ```
///
/// ```compile_fail,E0277
/// # use sinew_coroutine::{Coroutine, MmapStack};
/// Coroutine::<(), (), ()>::new(MmapStack::new(65536).unwrap(), |suspender, ()| {
///     std::thread::scope(|scope| {
///         scope.spawn(|| suspender.suspend(()));
///     });
/// });
/// ```
#[repr(C)]
pub struct Suspender<In, Out> {
    /// First, so that the address of the suspender is that of the base.
    base: Base,
    /// Whom to return to once the coroutine is being dropped. There is no link from then on, so that the only check on the
    /// fast path finds this case too.
    dropper: Cell<Option<Context>>,
    /// Whether the dropper itself unwinds. Then nobody can tell whether the coroutine does.
    dropper_unwinds: Cell<bool>,
    /// Whether the coroutine has already tried to suspend while it was being dropped.
    refused: Cell<bool>,
    pub(crate) sanitizer: sanitizer::Inside,
    values: PhantomData<fn(Out) -> In>,
}

impl<In, Out> Suspender<In, Out> {
    /// The handle of a coroutine that does not run yet.
    #[inline]
    pub(crate) fn new() -> Self {
        Self {
            base: Base::new(),
            dropper: Cell::new(None),
            dropper_unwinds: Cell::new(false),
            refused: Cell::new(false),
            sanitizer: sanitizer::Inside::new(),
            values: PhantomData,
        }
    }

    /// Stops the coroutine, hands `value` to whoever resumed it, and returns what the next resume sends in.
    ///
    /// If the coroutine is dropped instead of resumed, this call unwinds the stack: destructors run, and
    /// `catch_unwind` sees a panic that it should let go on. A body that catches it and suspends again cannot be
    /// finished: it is leaked, stack and all, which the drop reports on standard error.
    ///
    /// Suspending from a destructor while the coroutine panics is possible, but std counts panics per thread: until the
    /// coroutine is resumed and its unwinding ends, [`std::thread::panicking`] is true for the resumer too. Dropping it
    /// there aborts, as two panics at once do everywhere.
    ///
    /// # Panics
    ///
    /// If the coroutine does not run (a scoped thread-local can smuggle the handle out), and if a destructor suspends
    /// while the coroutine is being dropped, which aborts unless the destructor catches it.
    #[inline]
    #[track_caller]
    pub fn suspend(&self, value: Out) -> In {
        let Some(resumer) = self.base.link.take() else { self.refuse(value) };
        let mut value = ManuallyDrop::new(value);
        self.sanitizer.suspend();
        // SAFETY: there was a link, so it is the resumer, which waits for a value of type `Out` (the types
        // are those of its `Coroutine`) and takes it before it lets anybody run here again.
        let (from, arg) = unsafe { arch::switch(resumer, transfer::send(&mut value)) };
        self.sanitizer.arrived();
        // SAFETY: the argument of a resume is an address, or null.
        let value = unsafe { arg.assume_init() };
        if value.is_null() {
            self.unwind_for(from);
        }
        // There is one: only a side that is over leaves without a context, and a resumer waits for us to come back.
        self.base.link.set(from);
        // SAFETY: the address is that of a value of type `In` that is ours to take.
        unsafe { value.cast::<In>().read() }
    }

    /// The coroutine runs for the first time.
    #[inline(always)]
    pub(crate) fn begin(&self, resumer: Option<Context>) {
        self.sanitizer.arrived();
        self.base.link.set(resumer);
    }

    /// The coroutine is over: whom to tell.
    #[inline(always)]
    pub(crate) fn end(&self) -> Context {
        let resumer = match self.base.link.take() {
            Some(resumer) => resumer,
            None => self.end_of_drop(),
        };
        self.sanitizer.finish();
        resumer
    }

    #[cold]
    fn end_of_drop(&self) -> Context {
        let Some(dropper) = self.dropper.take() else {
            unwind::abort("a coroutine ended that nobody resumed: a handle was smuggled out of its body");
        };
        dropper
    }

    /// Whether somebody waits for the coroutine to come back: it runs, or is being dropped.
    pub(crate) fn is_entered(&self) -> bool {
        self.base.link.get().is_some() || self.dropper.get().is_some()
    }

    /// The owner drops the coroutine: unwind what is on this stack.
    #[cold]
    fn unwind_for(&self, dropper: Option<Context>) -> ! {
        self.dropper.set(dropper);
        self.dropper_unwinds.set(unwind::is_unwinding());
        unwind::force()
    }

    /// There is nobody to suspend to.
    ///
    /// Being dropped, the coroutine has either caught the unwinding, and can be leaked as it is, or is in a destructor
    /// that the unwinding called. Leaking it there would leave the thread's panic count raised for ever, so it panics. Where
    /// the dropper unwinds too the two look alike: then it panics once, and is leaked if it tries again.
    #[cold]
    #[inline(never)]
    #[track_caller]
    fn refuse(&self, value: Out) -> ! {
        assert!(
            self.dropper.get().is_some(),
            "suspend was called on a coroutine that does not run: its handle must stay inside its body"
        );
        let again = self.refused.replace(true) && self.dropper_unwinds.get();
        assert!(
            again || !unwind::is_unwinding(),
            "a coroutine suspended while it was being dropped: nobody will resume it"
        );
        drop(value);
        // From here on the coroutine does not run, whatever becomes of its handle.
        let Some(dropper) = self.dropper.take() else {
            unwind::abort("a coroutine that was being dropped left twice");
        };
        self.sanitizer.suspend();
        // SAFETY: the dropper waits for the coroutine to end, and takes a context for a refusal. It leaks this stack
        // and never switches here again.
        unsafe { arch::switch(dropper, Arg::uninit()) };
        unwind::abort("a leaked coroutine was resumed")
    }
}

impl<In, Out> fmt::Debug for Suspender<In, Out> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Suspender").finish_non_exhaustive()
    }
}
