//! Locks and what else to wait with. Where std has the type, the same bodies run over std's.

#[cfg(not(sinew_fat))]
mod barrier;
#[cfg(not(sinew_fat))]
mod baton;
#[cfg(not(sinew_fat))]
mod blocking_queue;
mod condvar;
#[cfg(not(sinew_fat))]
mod event;
#[cfg(not(sinew_fat))]
mod latch;
#[cfg(not(sinew_fat))]
mod lazy_lock;
#[cfg(not(sinew_fat))]
mod mapped;
#[cfg(not(sinew_fat))]
mod mpsc;
mod mutex;
#[cfg(not(sinew_fat))]
mod notify;
#[cfg(not(sinew_fat))]
mod once;
#[cfg(not(sinew_fat))]
mod once_lock;
#[cfg(not(sinew_fat))]
mod place;
#[cfg(not(sinew_fat))]
mod reentrant_lock;
#[cfg(not(sinew_fat))]
mod rwlock;
#[cfg(not(sinew_fat))]
mod rwlock_mix;
#[cfg(not(sinew_fat))]
mod rwlock_waits;
#[cfg(not(sinew_fat))]
mod semaphore;
#[cfg(not(sinew_fat))]
mod seq_lock;
#[cfg(not(sinew_fat))]
mod wait_group;
