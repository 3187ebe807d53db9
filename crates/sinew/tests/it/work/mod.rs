//! Queues of work.

mod execution_queue;
mod work_queue;
