//! Stacks, the context switch, and coroutines: the first pillar of sinew.
//!
//! A [`Coroutine`] is a function with a stack of its own that can stop in the middle, hand a value to whoever
//! resumed it, and go on later from where it stopped. It stops through the [`Suspender`] it is given; values
//! travel both ways without an allocation, and a switch costs about as much as a call through a pointer.
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
//! # Platforms
//!
//! Linux on x86-64 and AArch64.

mod arch;
mod coroutine;
mod error;
mod movable;
mod sanitizer;
mod stack;
mod suspender;
mod transfer;
mod unwind;

pub use arch::Registers;
pub use coroutine::{Coroutine, CoroutineState};
pub use error::{NewError, ResumeError};
pub use movable::MovableCoroutine;
pub use stack::{MIN_STACK_SIZE, MmapStack, Stack};
pub use suspender::Suspender;
