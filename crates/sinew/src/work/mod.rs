//! Queues of work that one fiber at a time does: any number bring it, fibers and threads alike, and never wait.
//!
//! - [`WorkQueue`]: functions, which are called one after the other.
//! - [`ExecutionQueue`]: tasks, which one function is given in batches, with a lane for those that are urgent.
//!
//! No fiber is there while there is nothing to do: one is started when something comes, and ends when nothing is left. So a queue that is idle costs
//! neither a stack nor anything at the shutdown of its runtime; and starting a fiber costs little more than waking one.
//!
//! A queue belongs to the runtime in which it is made: that of the calling fiber, or the default one. Its fibers are made there whoever brings the work, and
//! do not count against the limit of fibers. They have the [context](crate::context) of whoever made the queue, not of whoever brings the work: that
//! may be brought by many, and a function takes along what it needs. Once that runtime is [shut down](crate::Runtime::shutdown), a queue takes nothing more,
//! and what it had and has not done is dropped: a join [tells](JoinError::lost). But work that waits for something when it is abandoned there never ends, and so
//! nor does a join: use one with a limit where that may be.

mod batch;
mod builder;
mod error;
mod execution_queue;
mod inbox;
mod lane;
#[cfg(all(test, loom))]
mod model;
mod owner;
mod report;
mod shared;
mod work_queue;

pub use batch::Batch;
pub use builder::Builder;
pub use error::{ExecuteError, PushError};
pub use execution_queue::ExecutionQueue;
pub use report::JoinError;
pub use work_queue::{Job, WorkQueue};
