//! Where tasks wait: a deque per worker, a queue for all of a group. Know tasks, not workers.

mod buffer;
pub(crate) mod deque;
pub(crate) mod shared;
#[cfg(loom)]
pub(crate) mod twin;
