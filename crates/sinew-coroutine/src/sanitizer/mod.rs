//! Tells sanitizers about a switch. Without `--cfg sinew_asan` or `--cfg sinew_tsan` this does
//! nothing: the types are empty and their methods do nothing.
//!
//! Each back end is a sibling file with the same items:
//!
//! | item | what it is |
//! | --- | --- |
//! | `Outside` | the coroutine as its owner sees it: `new(inside, stack)` before anything is written to the stack, `enter() -> Crossing` just before a switch to it, `returned(crossing)` just after the switch back |
//! | `forget_frames(stack)` | makes the sanitizer forget the frames that the last coroutine left on a stack that is not in use |
//! | `Crossing` | a resumer that waits |
//! | `Inside` | the sanitizer's data on the coroutine's own stack: `arrived()` just after a switch to it, `suspend()` just before a switch away, `finish()` before the last switch away |
//!
//! A coroutine may be suspended while it runs on the stack of another coroutine that it resumed. So
//! it does not always continue on its own stack, but always on the stack where it suspended.
//!
//! The methods are always inlined: ThreadSanitizer keeps a shadow call stack per coroutine, and a
//! function that is entered on one stack must not return on another.

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

/// A stack's memory: its lowest usable byte, and the number of usable bytes.
pub(crate) type Bounds = (NonNull<u8>, usize);

#[cfg(all(sinew_asan, sinew_tsan))]
compile_error!("choose one of `--cfg sinew_asan` and `--cfg sinew_tsan`: no program runs under both");
