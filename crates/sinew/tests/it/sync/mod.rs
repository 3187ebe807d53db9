//! Locks and what else to wait with. Where std has the type, the same bodies run over std's.

mod baton;
mod blocking_queue;
mod barrier;
mod condvar;
mod event;
mod latch;
mod mpsc;
mod mapped;
mod mutex;
mod notify;
mod semaphore;
mod wait_group;
mod rwlock;
mod rwlock_mix;
mod rwlock_waits;
mod lazy_lock;
mod mutex;
mod once;
mod once_lock;
mod reentrant_lock;
