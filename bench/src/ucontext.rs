//! A small coroutine on the C library's `ucontext`, used as its manual page shows: `getcontext` and
//! `makecontext` begin a life, `swapcontext` switches back and forth, and `uc_link` returns to the
//! resumer at the end.
//!
//! # Safety
//!
//! This file is trusted with giving the C library contexts, a stack and an entry point that stay in
//! place while they are in use. It does not unwind: a body that panics aborts the process, and the
//! frames of a body that never ended are forgotten with its stack.

#![expect(unsafe_code, reason = "ucontext is a C interface, and a switch is unsafe by nature")]

use std::cell::{Cell, UnsafeCell};
use std::mem::{self, MaybeUninit};
use std::ptr::{self, NonNull};

/// The part that both sides share. It is used only through shared references, on one thread.
pub(crate) struct Link {
    /// Where `resume` waits. Invariant: written by `swapcontext` before the body runs.
    resumer: UnsafeCell<libc::ucontext_t>,
    /// Where the body waits. Invariant: initialised once `alive` is set.
    own: UnsafeCell<libc::ucontext_t>,
    /// The value that is passed, in either direction.
    slot: Cell<u64>,
    /// Whether the body has begun a life and not ended it.
    alive: Cell<bool>,
}

impl Link {
    /// Returns the value given to the current resume. The body calls it before it suspends.
    pub(crate) fn received(&self) -> u64 {
        self.slot.get()
    }

    /// Hands `value` to the resumer and waits for the next resume. The body calls it.
    pub(crate) fn suspend(&self, value: u64) {
        self.slot.set(value);
        // SAFETY: the body runs, so `resumer` holds the context saved by the current `resume`.
        let result = unsafe { libc::swapcontext(self.own.get(), self.resumer.get()) };
        debug_assert_eq!(result, 0);
    }
}

/// What the entry point gets: the link, and the body that uses it.
struct Parts<F> {
    link: Link,
    body: F,
}

/// A coroutine that can live many times on one stack.
pub(crate) struct Swap<F> {
    /// Invariant: from `Box::into_raw`, freed by `drop` alone, and only shared references are made
    /// from it meanwhile.
    parts: NonNull<Parts<F>>,
    stack: Box<[MaybeUninit<u8>]>,
}

impl<F: Fn(&Link) -> u64> Swap<F> {
    /// Makes a coroutine that has not begun a life.
    pub(crate) fn new(stack_bytes: usize, body: F) -> Self {
        let context = || {
            // SAFETY: `ucontext_t` is a C structure of integers and pointers, for which zero bytes
            // are a value.
            UnsafeCell::new(unsafe { mem::zeroed() })
        };
        let link = Link { resumer: context(), own: context(), slot: Cell::new(0), alive: Cell::new(false) };
        let parts = NonNull::from(Box::leak(Box::new(Parts { link, body })));
        Self { parts, stack: Box::new_uninit_slice(stack_bytes) }
    }

    /// Begins a life: the next resume enters the body at its beginning.
    pub(crate) fn begin(&mut self) {
        let link = self.link();
        assert!(!link.alive.get(), "the body has not ended");
        let (own, resumer) = (link.own.get(), link.resumer.get());
        // SAFETY: `own` points to writable memory of the right type, and no body runs that could
        // use it.
        let result = unsafe { libc::getcontext(own) };
        assert_eq!(result, 0, "getcontext");
        // SAFETY: nothing else refers to `own` while no body runs; `getcontext` has just filled it.
        let context = unsafe { &mut *own };
        context.uc_stack.ss_sp = self.stack.as_mut_ptr().cast();
        context.uc_stack.ss_size = self.stack.len();
        context.uc_link = resumer;
        let [high, low] = halves(self.parts.as_ptr().addr());
        self.parts.as_ptr().expose_provenance();
        // SAFETY: the C library calls the function with the two arguments that follow, for which it
        // was written.
        let entry = unsafe { mem::transmute::<extern "C" fn(u32, u32), extern "C" fn()>(entry::<F>) };
        // SAFETY: `own` was filled by `getcontext` and given a stack that lives as long as `self`.
        unsafe { libc::makecontext(own, entry, 2, high, low) };
        self.link().alive.set(true);
    }

    /// Runs the body until it suspends or ends, and returns the value that it passed out.
    pub(crate) fn resume(&mut self, value: u64) -> u64 {
        let link = self.link();
        assert!(link.alive.get(), "the body has ended or never begun");
        link.slot.set(value);
        // SAFETY: `alive` is set, so `own` holds a context: that of `begin`, or that of the last
        // `suspend`.
        let result = unsafe { libc::swapcontext(link.resumer.get(), link.own.get()) };
        debug_assert_eq!(result, 0);
        link.slot.get()
    }

    fn link(&self) -> &Link {
        // SAFETY: the invariant of `parts`.
        &unsafe { self.parts.as_ref() }.link
    }
}

impl<F> Drop for Swap<F> {
    fn drop(&mut self) {
        // SAFETY: the invariant of `parts`; a body that is suspended will never run again.
        drop(unsafe { Box::from_raw(self.parts.as_ptr()) });
    }
}

/// Splits an address into two: `makecontext` passes only `int`s.
fn halves(address: usize) -> [u32; 2] {
    [(address as u64 >> 32) as u32, address as u32]
}

/// The first frame on the stack. A panic cannot leave it, since its ABI does not unwind.
extern "C" fn entry<F: Fn(&Link) -> u64>(high: u32, low: u32) {
    let address = (u64::from(high) << 32 | u64::from(low)) as usize;
    let parts = ptr::with_exposed_provenance::<Parts<F>>(address);
    // SAFETY: the address is that of `begin`, whose `Swap` is borrowed by the current resume.
    let parts = unsafe { &*parts };
    let value = (parts.body)(&parts.link);
    parts.link.slot.set(value);
    parts.link.alive.set(false);
}

#[cfg(test)]
mod tests {
    use super::Swap;

    #[test]
    fn values_travel_both_ways() {
        let mut swap = Swap::new(64 * 1024, |link| {
            link.suspend(link.received() + 1);
            link.received() * 2
        });
        for _ in 0..3 {
            swap.begin();
            assert_eq!(swap.resume(10), 11);
            assert_eq!(swap.resume(21), 42);
        }
    }

    #[test]
    #[should_panic(expected = "ended or never begun")]
    fn an_ended_body_is_not_resumed() {
        Swap::new(64 * 1024, |_| 0).resume(0);
    }
}
