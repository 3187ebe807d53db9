//! The inside of a coroutine: the handle that its body suspends through. Knows no owner and no
//! threads.
//!
//! # Safety
//!
//! Trusted with switching to the resumer. The argument rests on the invariant of [`Base::link`]:
//! while the coroutine runs, the link names the side that resumed it, which waits in its switch.
//! Taking the link takes the only right to switch there. The borrow ensures that the caller runs on
//! the coroutine's stack, or on that of a coroutine that it resumed. A scoped thread-local can
//! break this: it can move the handle out of the body while an outer coroutine is suspended from
//! the stack of an inner one. Such a handle passes the check. The crate's documented limits forbid
//! it.
#![expect(unsafe_code, reason = "suspending is a context switch")]

use core::cell::Cell;
use core::fmt;
use core::marker::PhantomData;
use core::mem::ManuallyDrop;

use crate::arch::{self, Arg, Base, Context};
use crate::{sanitizer, transfer, unwind};

/// The handle through which a coroutine's body suspends it.
///
/// The body cannot keep the reference that it receives, and neither another coroutine nor a thread
/// can capture it: it borrows the coroutine's own stack, and the type is not `Sync`.
///
/// ```
/// # use sinew_coroutine::{Coroutine, MmapStack, Suspender};
/// // A function that suspends takes the handle as an argument.
/// fn count_to(end: u32, out: &Suspender<(), u32>) {
///     (1..=end).for_each(|number| out.suspend(number));
/// }
///
/// let numbers = Coroutine::new(MmapStack::new(64 * 1024)?, |out, ()| count_to(3, out));
/// assert_eq!(numbers.collect::<Vec<_>>(), [1, 2, 3]);
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// ```compile_fail,E0521
/// # use sinew_coroutine::{Coroutine, MmapStack};
/// # let (one, two) = (MmapStack::new(65536).unwrap(), MmapStack::new(65536).unwrap());
/// Coroutine::<(), (), ()>::new(one, |outer, ()| {
///     // Refused: the inner coroutine could run while the outer one does not.
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
    /// First, so that the suspender and the base have the same address.
    base: Base,
    /// The side to return to while the coroutine is being dropped. The link is empty from then on,
    /// so the only check on the fast path finds this case too.
    dropper: Cell<Option<Context>>,
    /// Whether the dropper itself is unwinding. If so, the thread's panic count does not tell
    /// whether the coroutine is unwinding too.
    dropper_unwinds: Cell<bool>,
    /// Whether the coroutine has already tried to suspend while it was being dropped.
    refused: Cell<bool>,
    pub(crate) sanitizer: sanitizer::Inside,
    values: PhantomData<fn(Out) -> In>,
}

impl<In, Out> Suspender<In, Out> {
    /// Returns the handle of a coroutine that is not running yet.
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

    /// Suspends the coroutine, hands `value` to the resumer, and returns the value that the next
    /// resume sends in.
    ///
    /// If the coroutine is dropped instead of resumed, this call unwinds the stack: destructors
    /// run, and `catch_unwind` catches a panic, which it should pass on with `resume_unwind`. A
    /// body that catches it and suspends again cannot be finished: the coroutine and its stack are
    /// leaked, and the drop reports that on standard error.
    ///
    /// A destructor may suspend while the coroutine panics. But std counts panics per thread: until
    /// the coroutine is resumed and its unwinding ends, [`std::thread::panicking`] returns true for
    /// the resumer too. Dropping the coroutine in that state aborts the process, as two panics at
    /// the same time always do.
    ///
    /// # Panics
    ///
    /// Panics if the coroutine is not running; a scoped thread-local can make the handle reachable
    /// then. Panics if a destructor suspends while the coroutine is being dropped, which aborts the
    /// process unless the destructor catches the panic.
    #[inline]
    #[track_caller]
    pub fn suspend(&self, value: Out) -> In {
        let Some(resumer) = self.base.link.take() else { self.refuse(value) };
        let mut value = ManuallyDrop::new(value);
        self.sanitizer.suspend();
        // SAFETY: there was a link, so it is the resumer. It waits for a value of type `Out` (the
        // types are those of its `Coroutine`), and takes it before it lets any code run here again.
        let (from, arg) = unsafe { arch::switch(resumer, transfer::send(&mut value)) };
        self.sanitizer.arrived();
        // SAFETY: the argument of a resume is an address, or null.
        let value = unsafe { arg.assume_init() };
        if value.is_null() {
            self.unwind_for(from);
        }
        // `from` is `Some`: only a side that has ended leaves without a context, and a resumer
        // waits for this side to switch back.
        self.base.link.set(from);
        // SAFETY: the address is that of a value of type `In`, which the resumer gives to this
        // side.
        unsafe { value.cast::<In>().read() }
    }

    /// Records the resumer when the coroutine runs for the first time.
    #[inline(always)]
    pub(crate) fn begin(&self, resumer: Option<Context>) {
        self.sanitizer.arrived();
        self.base.link.set(resumer);
    }

    /// Ends the coroutine. Returns the side to switch to: the resumer or the dropper.
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
            unwind::abort("a coroutine ended without a resumer: its handle was used outside its body");
        };
        dropper
    }

    /// Returns whether another side waits for the coroutine to switch back: it is running or being
    /// dropped.
    pub(crate) fn is_entered(&self) -> bool {
        self.base.link.get().is_some() || self.dropper.get().is_some()
    }

    /// Unwinds this stack, because the owner drops the coroutine.
    #[cold]
    fn unwind_for(&self, dropper: Option<Context>) -> ! {
        self.dropper.set(dropper);
        self.dropper_unwinds.set(unwind::is_unwinding());
        unwind::force()
    }

    /// Handles a suspend without a resumer.
    ///
    /// If the coroutine is being dropped, it has either caught the unwinding, or runs a destructor
    /// that the unwinding called. In the first case it can be leaked as it is. In the second case a
    /// leak would leave the thread's panic count raised forever, so this function panics. If the
    /// dropper is unwinding too, the two cases look alike: then this function panics the first time
    /// and leaks the coroutine the second time.
    #[cold]
    #[inline(never)]
    #[track_caller]
    fn refuse(&self, value: Out) -> ! {
        assert!(
            self.dropper.get().is_some(),
            "suspend was called on a coroutine that is not running: its handle must stay inside its body"
        );
        let again = self.refused.replace(true) && self.dropper_unwinds.get();
        assert!(
            again || !unwind::is_unwinding(),
            "a coroutine suspended while it was being dropped: it cannot be resumed any more"
        );
        drop(value);
        // From here on the coroutine is not running, even if its handle is still reachable.
        let Some(dropper) = self.dropper.take() else {
            unwind::abort("a coroutine that was being dropped left twice");
        };
        self.sanitizer.suspend();
        // SAFETY: the dropper waits for the coroutine to end, and takes a returned context for a
        // refusal. It then leaks this stack and never switches here again.
        unsafe { arch::switch(dropper, Arg::uninit()) };
        unwind::abort("a leaked coroutine was resumed")
    }
}

impl<In, Out> fmt::Debug for Suspender<In, Out> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Suspender").finish_non_exhaustive()
    }
}
