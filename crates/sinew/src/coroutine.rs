//! Coroutines: functions with a stack of their own, which suspend themselves and continue later.
//! They need no scheduler: the owner of a coroutine resumes it.
//!
//! ```
//! use sinew::coroutine::{Coroutine, MmapStack};
//!
//! let stack = MmapStack::new(64 * 1024)?;
//! let fibonacci = Coroutine::new(stack, |suspender, ()| {
//!     let (mut one, mut two) = (0_u64, 1);
//!     loop {
//!         suspender.suspend(one);
//!         (one, two) = (two, one + two);
//!     }
//! });
//! assert_eq!(fibonacci.take(8).collect::<Vec<_>>(), [0, 1, 1, 2, 3, 5, 8, 13]);
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! Code on a second stack must observe the rules for [thread-locals](crate::fiber#thread-locals).

pub use sinew_coroutine::{
    Coroutine, CoroutineState, MovableCoroutine, NewError, Registers, ResumeError, Suspender, overflow,
};
pub use sinew_coroutine::{
    DEFAULT_STACK_SIZE, Describe, GuardKind, LARGEST_CLASS, Label, MIN_STACK_SIZE, MmapStack, PooledStack,
    SMALLEST_CLASS, Stack, StackCache, StackError, StackPool, StackPoolBuilder, StackStats, clear_used,
    high_water,
};
