//! Calls that block a thread: blocking system calls, libraries that know nothing of fibers, long
//! computations.
//!
//! A fiber that blocks its thread stops its worker, and with it all fibers that have begun there.
//! There are two ways around that:
//!
//! | | [`blocking()`](fn@blocking) | [`block_in_place`] |
//! | --- | --- | --- |
//! | the call runs | on another thread, while the fiber waits | on this thread |
//! | other fibers that have begun on this worker | continue | **wait** until it returns |
//! | fibers that have not begun, or may migrate | continue | continue, on another worker |
//! | must what it uses be `Send` | yes | no |
//! | cost | waking a thread, and being woken | starting a worker, the first time |
//!
//! Prefer the first. The second is for calls that must stay on their thread. [`fs`](crate::fs) is
//! built on the first.
//!
//! # The threads
//!
//! Each runtime has its own threads. It starts one when a call is made and no thread is idle, up to
//! a [limit](crate::RuntimeBuilder::blocking_threads). Above the limit, calls wait in order. A
//! thread that has been idle for [a while](crate::RuntimeBuilder::blocking_idle) ends. A call goes
//! to the thread that was busy last, so that threads that are not needed become idle for long
//! enough to end. [`RuntimeStats`](crate::RuntimeStats) contains the number of threads. If no
//! thread at all can be started, workers run the calls themselves.
//!
//! Each call that waits for another call needs a thread. If such calls use all threads of the
//! limit, they wait forever.
//!
//! # The environment of a call
//!
//! A plain thread runs the call, not the fiber. [`fiber::current`](crate::fiber::current) returns
//! that thread, and [fiber-locals](crate::fiber_local) and thread-locals are that thread's. Waits
//! inside the call block the thread, as intended. Fibers that the call spawns belong to the default
//! runtime. The [context](crate::context) is the caller's. The caller's deadline and cancellation
//! do not apply inside the call.
//!
//! # The end of the runtime
//!
//! A shutdown waits for a fiber that waits for its call, as for any other fiber. So a
//! [shutdown](crate::runtime::Handle::shutdown) without a limit waits for all calls. After a limit
//! has passed, calls that have not begun never run. A call that has begun continues, and its thread
//! ends after it. What the call borrows stays valid, because the stack of an abandoned fiber is
//! never freed.

mod calls;
mod in_place;
#[cfg(test)]
mod tests;

pub use calls::{blocking, blocking_cancellable, spawn};
pub use in_place::block_in_place;
