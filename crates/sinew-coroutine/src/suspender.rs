//! The inside of a coroutine: the handle that its body suspends through. Knows no owner and no threads.
//!
//! # Safety
//!
//! Trusted with switching away from the stack it lies on. The argument rests on the invariant of [`Base::link`]: while
//! the coroutine runs the link names the side that resumed it, which waits in its switch; taking the link is taking
//! the only right to go there.
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
/// Coroutine::<(), (), (), _>::new(one, |outer, ()| {
///     // The inner coroutine could run when the outer one does not.
///     Coroutine::<(), (), (), _>::new(two, |_, ()| outer.suspend(())).resume(());
/// });
/// ```
///
/// ```compile_fail,E0277
/// # use sinew_coroutine::{Coroutine, MmapStack};
/// Coroutine::<(), (), (), _>::new(MmapStack::new(65536).unwrap(), |suspender, ()| {
///     std::thread::scope(|scope| {
///         scope.spawn(|| suspender.suspend(()));
///     });
/// });
/// ```
#[repr(C)]
pub struct Suspender<In, Out> {
    /// First, so that the address of the suspender is that of the base.
    base: Base,
    /// Whom to return to once the coroutine is being dropped. The link is [`Context::TERMINAL`] from then on, so that
    /// the only check on the fast path finds this case too.
    dropper: Cell<Option<Context>>,
    /// Whether the dropper itself unwinds. Then nobody can tell whether the coroutine does.
    dropper_unwinds: Cell<bool>,
    pub(crate) sanitizer: sanitizer::Inside,
    values: PhantomData<fn(Out) -> In>,
}

impl<In, Out> Suspender<In, Out> {
    /// The handle of a coroutine that does not run yet.
    #[inline]
    pub(crate) fn new() -> Self {
        Self {
            base: Base { link: Cell::new(Context::TERMINAL) },
            dropper: Cell::new(None),
            dropper_unwinds: Cell::new(false),
            sanitizer: sanitizer::Inside::new(),
            values: PhantomData,
        }
    }

    /// Stops the coroutine, hands `value` to whoever resumed it, and returns what the next resume sends in.
    ///
    /// If the coroutine is dropped instead of resumed, this call unwinds the stack: destructors run, and
    /// `catch_unwind` sees a panic that it should let go on. A body that catches it and suspends again cannot be
    /// finished: its stack is leaked, and the drop panics to say so.
    ///
    /// Suspending from a destructor while the coroutine panics is possible, but std counts panics per thread: until the
    /// coroutine is resumed and its unwinding ends, [`std::thread::panicking`] is true for the resumer too.
    ///
    /// # Panics
    ///
    /// If the coroutine does not run (a scoped thread-local can smuggle the handle out), and if a destructor suspends
    /// while the coroutine is being dropped.
    #[inline]
    pub fn suspend(&self, value: Out) -> In {
        let resumer = self.base.link.replace(Context::TERMINAL);
        if resumer == Context::TERMINAL {
            self.refuse(value);
        }
        let mut value = ManuallyDrop::new(value);
        self.sanitizer.suspend();
        // SAFETY: the link was not terminal, so it is the resumer, which waits for a value of type `Out` (the types
        // are those of its `Coroutine`) and takes it before it lets anybody run here again.
        let (from, arg) = unsafe { arch::switch(resumer, transfer::send(&mut value)) };
        self.sanitizer.arrived();
        // SAFETY: only a side that is over leaves without a context, and a resumer waits for us to come back.
        let resumer = unsafe { from.unwrap_unchecked() };
        // SAFETY: the argument of a resume is an address, or null.
        let value = unsafe { arg.assume_init() };
        if value.is_null() {
            self.unwind_for(resumer);
        }
        self.base.link.set(resumer);
        // SAFETY: the address is that of a value of type `In` that is ours to take.
        unsafe { value.cast::<In>().read() }
    }

    /// The coroutine runs for the first time.
    #[inline(always)]
    pub(crate) fn begin(&self, resumer: Context) {
        self.sanitizer.arrived();
        self.base.link.set(resumer);
    }

    /// The coroutine is over: whom to tell.
    #[inline(always)]
    pub(crate) fn end(&self) -> Context {
        self.sanitizer.finish();
        match self.dropper.get() {
            None => self.base.link.get(),
            Some(dropper) => dropper,
        }
    }

    /// The owner drops the coroutine: unwind what is on this stack.
    #[cold]
    fn unwind_for(&self, dropper: Context) -> ! {
        self.dropper.set(Some(dropper));
        self.dropper_unwinds.set(unwind::is_unwinding());
        unwind::force()
    }

    /// There is nobody to suspend to.
    #[cold]
    #[inline(never)]
    fn refuse(&self, value: Out) -> ! {
        let Some(dropper) = self.dropper.get() else {
            panic!(
                "suspend was called on a coroutine that does not run: its handle must stay inside its body"
            );
        };
        if unwind::is_unwinding() && !self.dropper_unwinds.get() {
            panic!(
                "a destructor suspended its coroutine while that was being dropped: nobody will resume it"
            );
        }
        drop(value);
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
