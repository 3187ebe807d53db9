//! Where tasks wait: a deque per worker, and a queue per group. Knows tasks, and no workers.

mod buffer;
pub(crate) mod deque;
pub(crate) mod shared;
#[cfg(loom)]
pub(crate) mod twin;
