//! Locks and what else to wait with. Where std has the type, the same bodies run over std's.

mod barrier;
mod baton;
mod blocking_queue;
mod condvar;
mod event;
mod latch;
mod lazy_lock;
mod mapped;
mod mpsc;
mod mutex;
mod notify;
mod once;
mod once_lock;
mod place;
mod reentrant_lock;
mod rwlock;
mod rwlock_mix;
mod rwlock_waits;
mod semaphore;
mod seq_lock;
mod wait_group;
