//! Queues of work.

mod execution_queue;
mod shutdown;
mod work_queue;
