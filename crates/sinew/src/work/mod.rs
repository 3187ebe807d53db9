//! Queues of work that one fiber at a time does: any number bring it, fibers and threads alike, and never wait.
//!
//! - [`WorkQueue`]: functions, which are called one after the other.
//! - [`ExecutionQueue`]: tasks, which one function is given in batches, with a lane for those that are urgent.
//!
//! No fiber is there while there is nothing to do: one is started when something comes, and ends when nothing is left. So a queue that is idle costs
//! no stack; and starting a fiber costs little more than waking one.
//!
//! A queue belongs to the runtime in which it is made: that of the calling fiber, or the default one. Its fibers are made there whoever brings the work, and
//! do not count against the limit of fibers. They have the [context](crate::context) of whoever made the queue, not of whoever brings the work: that
//! may be brought by many, and a function takes along what it needs.
//!
//! # The end of the runtime
//!
//! Once the [shutdown](crate::runtime::Handle::shutdown) of its runtime begins, or the runtime is
//! dropped, a queue is stopped: it takes nothing more, also from fibers that are still there. What
//! it has is done, and the last call of an [`ExecutionQueue`]'s function is made, as all fibers of
//! the runtime end; then those who join go on, whether or not anybody else has stopped the queue.
//! What the shutdown leaves no time for, or comes too late for, is dropped: a join tells of
//! [tasks](JoinError::lost) and of a [last call](JoinError::missed_last_call). But work that waits
//! for something when it is abandoned there, at the end of a shutdown's time, never ends, and so
//! nor does a join: use one with a limit where that may be.
//!
//! The end of the process waits for nobody, and the default runtime is never shut down: what a queue has when `main` returns is not done. Nor does
//! [`sinew::run`](crate::run) wait for more than the function that it is given. So [join](WorkQueue::join) a queue whose work matters.

mod batch;
mod builder;
mod error;
mod execution_queue;
mod inbox;
mod lane;
#[cfg(all(test, loom))]
mod model;
mod owner;
mod queue_methods;
mod report;
mod shared;
mod work_queue;

pub use batch::Batch;
pub use builder::Builder;
pub use error::{ExecuteError, PushError};
pub use execution_queue::ExecutionQueue;
pub use report::JoinError;
pub use work_queue::{Job, WorkQueue};
