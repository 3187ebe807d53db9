//! Stackful coroutines for Linux: stacks, the context switch, and a pool of guarded stacks.
//!
//! A [`Coroutine`] is a function that runs on a stack of its own. It can suspend itself in the
//! middle and hand a value to its resumer, the code that called [`resume`](Coroutine::resume). The
//! next resume continues it where it stopped. It suspends through the [`Suspender`] that its body
//! receives. Values travel in both directions without an allocation.
//!
//! ```
//! use sinew_coroutine::{Coroutine, CoroutineState, MmapStack};
//!
//! let stack = MmapStack::new(64 * 1024)?;
//! let mut running_sum = Coroutine::new(stack, |suspender, first: u32| {
//!     let mut sum = first;
//!     while sum < 10 {
//!         sum += suspender.suspend(sum);
//!     }
//!     "that is enough"
//! });
//!
//! assert_eq!(running_sum.resume(3), CoroutineState::Yielded(3));
//! assert_eq!(running_sum.resume(4), CoroutineState::Yielded(7));
//! assert_eq!(running_sum.resume(5), CoroutineState::Complete("that is enough"));
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! This crate is one of the two pillars of the sinew fiber runtime. The other one is the scheduler,
//! `sinew-sched`. The crate `sinew` runs coroutines as fibers on that scheduler, and is what most
//! programs use.
//!
//! # Where to look
//!
//! - Make, resume and drop a coroutine: [`Coroutine`]. Suspend it from inside: [`Suspender`].
//! - Iterate over the values that a coroutine yields: `Coroutine<(), Out, ()>` is an iterator.
//! - Move a coroutine to another thread: [`MovableCoroutine`].
//! - One stack in a mapping of its own: [`MmapStack`]. Many stacks that are reused, with their
//!   memory given back to the system when they are idle: [`StackPool`], and [`StackCache`] for a
//!   thread that takes and returns many of them. Other stack memory: the trait [`Stack`].
//! - Measure how deep a stack was used: [`high_water`].
//! - Report a stack overflow with the stack's size and [label](Label): [`overflow::install`].
//! - Show where a suspended coroutine stopped, in a debugger or profiler: [`Coroutine::registers`].
//!
//! # Features
//!
//! There are no Cargo features. Three `--cfg` flags make the crate tell a tool about its stacks and
//! switches: `sinew_asan` for AddressSanitizer, `sinew_tsan` for ThreadSanitizer (one of these two
//! at most), and `sinew_valgrind` for valgrind.
//!
//! # Guarantees
//!
//! - Safe code cannot cause undefined behavior with coroutines, except in the cases under
//!   [*Limits*](#limits).
//! - Dropping a suspended coroutine runs the destructors of all values on its stack, unless the
//!   program is built with `panic=abort`. See [dropping](Coroutine#dropping).
//! - A panic in a coroutine unwinds its stack and then continues in its resumer, with the same
//!   payload.
//! - An overflow of a stack hits the guard page below it and faults. In code that rustc compiles,
//!   it never overwrites other memory. With [`overflow::install`] the process then aborts with a
//!   message that names the stack; without it, an overflow is a plain SIGSEGV.
//! - The crate has no scheduler, no worker and no reactor: the program alone decides which
//!   coroutine runs next. The switch and the coroutine itself use no threads, no atomics and no
//!   thread-locals of their own.
//!
//! # What a switch saves
//!
//! A switch saves the registers that the platform's calling convention asks a callee to keep, and
//! no others. It does *not* save the floating-point control words (`mxcsr` and the x87 control word
//! on x86-64, `fpcr` on AArch64): a coroutine that changes the rounding mode changes it for its
//! resumer too. It does not save the signal mask either.
//!
//! # Limits
//!
//! Some of these limits apply to every library that gives a thread more than one stack. std and
//! other crates rely on the rule that a function returns before its caller does. That rule does not
//! hold across a suspension.
//!
//! - **Thread-locals.** Do not suspend inside `LocalKey::with` if the destructor of a thread-local
//!   may drop the coroutine: that key may be destroyed by then, and the unwinding would use it. Do
//!   not suspend in the lazy initializer of a thread-local, nor inside `with` on a key whose
//!   initializer may resume the same coroutine: the value may be replaced. Do not suspend inside
//!   the scope of a scoped thread-local.
//! - **Locks.** If a coroutine holds a `std` or `parking_lot` lock across a suspension and another
//!   coroutine of the same thread wants that lock, the whole thread blocks. Dropping the suspended
//!   coroutine poisons the lock, as a panic would.
//! - **Panics.** std counts panics per thread; see [`Suspender::suspend`]. Do not suspend in a
//!   panic hook, nor in the `Display` implementation of a panic's argument.
//! - **Backtraces.** A backtrace of a running coroutine continues into its resumer. While a
//!   coroutine is being dropped, its backtraces end at its first frame. An unwinder that runs in a
//!   signal handler can cross a switch at any instruction on x86-64, and at all but three
//!   instructions on AArch64.
//! - **Intel APX.** The compiler cannot be told that a switch changes r16 to r31. Do not build for
//!   processors that have these registers (`-C target-cpu=diamondrapids`, or `native` on one of
//!   them).
//! - **Platforms.** Linux on x86-64 and AArch64 only. The switch has unwind tables, so do not build
//!   with `-C force-unwind-tables=no`.

mod arch;
mod clock;
mod coroutine;
mod error;
mod iter;
mod movable;
pub mod overflow;
mod root;
mod sanitizer;
mod stack;
mod suspender;
mod sync;
mod transfer;
mod unwind;
mod valgrind;

pub use arch::Registers;
pub use coroutine::{Coroutine, CoroutineState};
pub use error::{NewError, ResumeError};
pub use movable::MovableCoroutine;
pub use stack::{
    DEFAULT_STACK_SIZE, Describe, GuardKind, LARGEST_CLASS, Label, MIN_STACK_SIZE, MmapStack, PooledStack,
    SMALLEST_CLASS, Stack, StackCache, StackError, StackPool, StackPoolBuilder, StackStats, clear_used,
    high_water,
};
pub use suspender::Suspender;
