//! Stacks, the context switch, and coroutines: the first pillar of sinew.
//!
//! A [`Coroutine`] is a function with a stack of its own that can stop in the middle, hand a value to whoever
//! resumed it, and go on later from where it stopped. It stops through the [`Suspender`] it is given; values
//! travel both ways without an allocation.
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
//! Stacks come from a [`StackPool`]: guarded, reused, and given back to the system when idle.
//!
//! Call [`overflow::install`] at the start of `main`: from then on an overflow is told, with the [label](Label) and the size of
//! the stack. Without it, an overflow is a plain SIGSEGV.
//!
//! # What this crate does not know
//!
//! No scheduler, no worker, no reactor: nothing here decides who runs next. The switch and the coroutine
//! know no threads, no atomics and no thread-locals either. `sinew-sched` is the other pillar; the crate
//! `sinew` is the bridge that runs coroutines as tasks.
//!
//! # What a switch saves
//!
//! The registers that the platform's calling convention asks a callee to keep, and nothing else. Floating-point
//! control words (`mxcsr` and the x87 control word on x86-64, `fpcr` on AArch64) are *not* saved: a coroutine that
//! changes the rounding mode changes it for its resumer. The signal mask is not saved either.
//!
//! # Known limits
//!
//! Some are shared by everything that gives a thread more than one stack: what std and other crates conclude from "a
//! function returns before its caller does" does not hold across a suspension.
//!
//! - **Thread-locals.** Do not suspend inside `LocalKey::with` if the coroutine itself may be dropped by a thread-local's
//!   destructor: that key may be gone by then, and the unwinding would use it. Do not suspend in the lazy initialiser of a
//!   thread-local, nor inside `with` on a key whose initialiser may resume the very coroutine: the value may be replaced.
//!   Do not suspend inside the scope of a scoped thread-local.
//! - **Locks.** A `std` or `parking_lot` lock held across a suspension blocks the whole thread when another coroutine of it
//!   wants the lock. Dropping the coroutine poisons it, as a panic would.
//! - **Panics.** std counts panics per thread; see [`Suspender::suspend`]. Do not suspend in a panic hook, nor in the
//!   `Display` of what is panicked with.
//! - **Backtraces** lead from a running coroutine on to its resumer. While it is being dropped they end at its first frame.
//!   An unwinder that runs in a signal handler can cross a switch at any instruction on x86-64; on AArch64 not at three of
//!   them.
//! - **Intel APX.** The compiler cannot be told that a switch changes r16 to r31. Do not build for processors that have
//!   them (`-C target-cpu=diamondrapids`, or `native` on one).
//!
//! # Platforms
//!
//! Linux on x86-64 and AArch64. The switch has unwind tables, so `-C force-unwind-tables=no` is not for it.

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
