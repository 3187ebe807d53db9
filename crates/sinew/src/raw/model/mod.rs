//! The models of the locks: the code that runs, by threads of the checker. A wait that may end by time does so at any moment.

mod barrier;
mod condvar;
mod count;
mod event;
mod mutex;
mod once;
mod poke;
mod reentrant;
mod rwlock;
mod seq_lock;
mod watched;

pub(crate) use watched::Watched;
