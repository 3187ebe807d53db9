//! What sanitizers must be told about a switch. Without `--cfg sinew_asan` or `--cfg sinew_tsan` it is nothing: the
//! types are empty and their methods do nothing.
//!
//! Each back end is a sibling file with the same items:
//!
//! | item | what it is |
//! | --- | --- |
//! | `Outside` | the coroutine seen by its owner: `new(inside, stack)` before anything is written to the stack, `enter() -> Crossing` just before a switch to it, `returned(crossing)` just after the switch back |
//! | `forget_frames(stack)` | nothing runs on the stack: what its last coroutine left there is any memory |
//! | `Crossing` | a resumer that waits |
//! | `Inside` | what lies on the coroutine's own stack: `arrived()` just after a switch to it, `suspend()` just before a switch away, `finish()` before the last one |
//!
//! A coroutine may be suspended from the stack of another one that it resumed itself. So where it goes on is not
//! always on its own stack, but always where it was left.
//!
//! The methods are always inlined: ThreadSanitizer keeps a shadow call stack per coroutine, and a function that was
//! entered on one must not return on the other.

use core::ptr::NonNull;

#[cfg(sinew_asan)]
mod asan;
#[cfg(not(any(sinew_asan, sinew_tsan)))]
mod none;
#[cfg(sinew_tsan)]
mod tsan;

#[cfg(sinew_asan)]
pub(crate) use asan::{Inside, Outside, forget_frames};
#[cfg(not(any(sinew_asan, sinew_tsan)))]
pub(crate) use none::{Inside, Outside, forget_frames};
#[cfg(sinew_tsan)]
pub(crate) use tsan::{Inside, Outside, forget_frames};

/// Where a stack is: its lowest usable byte, and how many there are.
pub(crate) type Bounds = (NonNull<u8>, usize);

#[cfg(all(sinew_asan, sinew_tsan))]
compile_error!("choose one of `--cfg sinew_asan` and `--cfg sinew_tsan`: no program runs under both");
