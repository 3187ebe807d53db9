//! Locks and what else to wait with. Where std has the type, the same bodies run over std's.

#[cfg(not(sinew_few))]
mod barrier;
#[cfg(not(sinew_few))]
mod baton;
#[cfg(not(sinew_few))]
mod blocking_queue;
mod condvar;
#[cfg(not(sinew_few))]
mod event;
#[cfg(not(sinew_few))]
mod latch;
#[cfg(not(sinew_few))]
mod lazy_lock;
#[cfg(not(sinew_few))]
mod mapped;
#[cfg(not(sinew_few))]
mod mpsc;
mod mutex;
#[cfg(not(sinew_few))]
mod notify;
#[cfg(not(sinew_few))]
mod once;
#[cfg(not(sinew_few))]
mod once_lock;
#[cfg(not(sinew_few))]
mod place;
#[cfg(not(sinew_few))]
mod reentrant_lock;
#[cfg(not(sinew_few))]
mod rwlock;
#[cfg(not(sinew_few))]
mod rwlock_mix;
#[cfg(not(sinew_few))]
mod rwlock_waits;
#[cfg(not(sinew_few))]
mod semaphore;
#[cfg(not(sinew_few))]
mod semaphore_owned;
#[cfg(not(sinew_few))]
mod seq_lock;
#[cfg(not(sinew_few))]
mod wait_group;
