//! Calls that block a thread: system calls that wait, libraries that know nothing of fibers, long computations.
//!
//! A fiber that blocks its thread stops its worker, and with it all fibers that have begun there. There are two ways around that:
//!
//! | | [`blocking()`](fn@blocking) | [`block_in_place`] |
//! | --- | --- | --- |
//! | the call is made | by another thread, while the fiber waits | here |
//! | other fibers that have begun on this worker | go on | **wait** until it returns |
//! | fibers that have not begun, or may move | go on | go on, by another worker |
//! | what it uses is `Send` | yes | no matter |
//! | it costs | waking a thread, and being woken | the start of a worker, the first time |
//!
//! So the first is the one to use, and the second is for what must stay on its thread. [`fs`](crate::fs) is built on the first.
//!
//! # The threads
//!
//! Each runtime has its own, started when they are needed: when a call is made and none is idle, up to a
//! [limit](crate::RuntimeBuilder::blocking_threads). Beyond that, calls wait in order. A thread that has had nothing to do for
//! [a while](crate::RuntimeBuilder::blocking_idle) ends; calls go to the one that was busy last, so that those which are not needed any more do end. [`RuntimeStats`](crate::RuntimeStats) tells how
//! many there are. If not one thread is to be had, calls are made in place.
//!
//! Calls that wait for one another need a thread each: with as many of them as there may be threads, they wait for ever.
//!
//! # What is seen inside
//!
//! The call is made by a plain thread, not by the fiber: [`fiber::current`](crate::fiber::current) is that thread,
//! [fiber-locals](crate::fiber_local) and thread-locals are its own, and what waits inside blocks it, which is what it is for; fibers made inside are the default runtime's. The
//! [context](crate::context) is the caller's. The caller's deadline and cancellation are not seen inside, and end nothing there.
//!
//! # The end of the runtime
//!
//! A fiber that waits for its call is waited for as any other, so a
//! [shutdown](crate::runtime::Handle::shutdown) without a limit waits for all calls. With a limit,
//! calls that were not begun by then never are, and one that runs goes on, by a thread that ends
//! with it: what it borrows is there, since the stack of a fiber that is abandoned stays as it is.

mod calls;
mod in_place;
#[cfg(test)]
mod tests;

pub use calls::{blocking, blocking_cancellable, spawn};
pub use in_place::block_in_place;
