//! The root of a coroutine's stack: the data at its top, and the first and last function that runs
//! on it. Knows no owner.
//!
//! # Safety
//!
//! Trusted with the top of a stack that its caller owns, and with leaving that stack when nothing
//! on it is needed any more.
#![expect(unsafe_code, reason = "the root is raw memory, and the entry leaves by a context switch")]

use core::mem::{self, ManuallyDrop};

use crate::arch::{self, Arg, Base, Context, STACK_ALIGN};
use crate::stack::{MIN_STACK_SIZE, Stack};
use crate::suspender::Suspender;
use crate::{transfer, unwind};

/// The data at the top of the stack.
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
pub(crate) struct Root<In, Out, F> {
    pub(crate) suspender: Suspender<In, Out>,
    pub(crate) body: ManuallyDrop<F>,
}

/// How a body ended. Lies on the coroutine's stack until the resumer takes it.
pub(crate) enum Outcome<Ret> {
    Returned(Ret),
    Panicked(unwind::Payload),
    /// The body never ran, and has been dropped.
    Discarded,
}

/// The least room that a body has to run in, below the data at the top of a stack of
/// [`MIN_STACK_SIZE`].
const MIN_ROOM: usize = MIN_STACK_SIZE - 1024;

/// How many copies of the closure, the values sent in and the result may lie on the stack at the
/// same time. Unoptimized code moves values from frame to frame by copying, and sanitizers keep the
/// copies apart. Found by trying.
const COPIES: usize = if cfg!(any(sinew_asan, sinew_tsan)) {
    24
} else if cfg!(debug_assertions) {
    12
} else {
    3
};

/// Returns the room needed below the root for a body `F` that takes `In` and leaves an `Out`.
pub(crate) const fn room_for<F, In, Out>() -> usize {
    MIN_ROOM + COPIES * (space_of::<F>() + space_of::<In>() + space_of::<Out>())
}

/// Returns the most bytes that a value takes on a stack, alignment included.
const fn space_of<T>() -> usize {
    size_of::<T>().saturating_add(if align_of::<T>() > STACK_ALIGN { align_of::<T>() } else { 0 })
}

/// Returns the address for the root, as high as alignment allows. If too little room is left below
/// it, returns the size of a stack that is large enough.
#[inline]
pub(crate) fn place_root<R>(stack: &impl Stack, room: usize) -> Result<*mut R, usize> {
    let align = align_of::<R>().max(STACK_ALIGN);
    let top = stack.top();
    let address = top.addr().get().saturating_sub(size_of::<R>()) & !(align - 1);
    if address >= stack.limit().addr().get().saturating_add(room) {
        Ok(top.as_ptr().with_addr(address).cast())
    } else {
        Err(size_of::<R>() + align + room)
    }
}

/// The first and last function on a coroutine's stack.
///
/// # Safety
///
/// The first switch to a context calls this function.
/// [`Coroutine::try_new`](crate::Coroutine::try_new) made that context with the same types, and
/// `base` is its root.
pub(crate) unsafe extern "C" fn entry<In, Out, Ret, F>(from: Option<Context>, arg: Arg, base: *mut Base) -> !
where
    F: FnOnce(&Suspender<In, Out>, In) -> Ret,
{
    let root = base.cast::<Root<In, Out, F>>();
    // SAFETY: the root stays in place until this function has left.
    let suspender = unsafe { &(*root).suspender };
    suspender.begin(from);
    // SAFETY: as above.
    let body = unsafe { &raw mut (*root).body };
    // SAFETY: the argument of a resume is an address, or null if the coroutine is dropped instead.
    let first = unsafe { arg.assume_init() };
    let mut outcome = ManuallyDrop::new(if first.is_null() {
        // SAFETY: this function runs once, no other code touches the body, and the body is not used
        // after this.
        unsafe { discard(body.cast::<F>()) }
    } else {
        // SAFETY: as above.
        let body = ManuallyDrop::into_inner(unsafe { body.read() });
        // SAFETY: the address is that of a value of type `In`, which the resumer gives to this
        // side.
        let first = unsafe { first.cast::<In>().read() };
        match unwind::catch(move || body(suspender, first)) {
            Ok(value) => Outcome::Returned(value),
            Err(payload) => Outcome::Panicked(payload),
        }
    });
    let resumer = suspender.end();
    // SAFETY: the resumer waits in its switch and takes the outcome before it frees or reuses the
    // stack. Nothing else is alive here: the body has been consumed, and the suspender has no
    // destructor.
    unsafe { arch::leave(resumer, transfer::send(&mut outcome)) }
}

/// Drops a body that never ran. Drops it in place, since it may be too large to move.
///
/// # Safety
///
/// The body is initialized, no other code touches it, and it is not used after this.
#[cold]
unsafe fn discard<F, Ret>(body: *mut F) -> Outcome<Ret> {
    // SAFETY: the caller's promise.
    match unwind::catch(|| unsafe { body.drop_in_place() }) {
        Ok(()) => Outcome::Discarded,
        Err(payload) => Outcome::Panicked(payload),
    }
}

// The suspender's destructor never runs: its memory is part of the stack. The second assertion: the
// address of the root is that of the base.
const _: () = assert!(!mem::needs_drop::<Suspender<String, String>>());
const _: () = assert!(mem::offset_of!(Root<(), (), String>, suspender) == 0);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_space_of_a_value_counts_only_alignment_that_the_stack_lacks() {
        #[repr(align(32))]
        struct Aligned(#[expect(dead_code, reason = "it gives the type a size")] u8);
        assert_eq!(STACK_ALIGN, 16);
        assert_eq!(space_of::<()>(), 0);
        assert_eq!(space_of::<[u8; 100]>(), 100);
        assert_eq!(space_of::<u128>(), 16);
        assert_eq!(space_of::<Aligned>(), 32 + 32);
    }
}
