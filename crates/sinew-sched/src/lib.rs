//! The second pillar of sinew: worker threads and the queues between them. Knows no fibers, no stacks, no epoll.
//!
//! There is nothing here yet. The crate marks the boundary: whatever schedules goes here, and depends on nothing
//! else of sinew.
