//! The models of the locks: they run the real code on threads of the model checker. A wait with a
//! time limit may end at any moment.

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
