//! Queues of work that is done by one fiber at a time. Any number of fibers and threads push work,
//! and never wait.
//!
//! - [`WorkQueue`]: functions, which are called one after the other.
//! - [`ExecutionQueue`]: tasks, which are passed to one function in batches, with a lane for urgent
//!   ones.
//!
//! There is no fiber while there is no work. A fiber is started when work arrives, and ends when
//! none is left. So an idle queue uses no stack, and starting a fiber costs little more than waking
//! one.
//!
//! A queue belongs to the runtime in which it is made: that of the calling fiber, or the default
//! runtime. Its fibers run there, regardless of the runtime of the fiber that pushes work, and do
//! not count against the limit of fibers. They have the [context](crate::context) of the fiber that
//! made the queue, not of the fiber that pushes work: a batch may come from many fibers, and a
//! function can capture what it needs.
//!
//! # The end of the runtime
//!
//! Once the [shutdown](crate::runtime::Handle::shutdown) of its runtime begins, or the runtime is
//! dropped, a queue is stopped: it accepts no more work, not even from fibers that still run. The
//! accepted work is done, and the last call of an [`ExecutionQueue`]'s function is made, as all
//! fibers of the runtime end. Then the joins return, even if no call has stopped the queue. Work
//! for which the shutdown has no time, or that arrives too late, is dropped: a join reports the
//! [lost tasks](JoinError::lost) and a [missed last call](JoinError::missed_last_call). But work
//! that is waiting when it is abandoned at the end of the shutdown's time never ends, and so a join
//! never returns: use a join with a limit where that may happen.
//!
//! The end of the process does not wait, and the default runtime is never shut down: work that is
//! in a queue when `main` returns is not done. Nor does [`sinew::run`](crate::run) wait for more
//! than the function that it is given. So [join](WorkQueue::join) a queue whose work matters.

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
