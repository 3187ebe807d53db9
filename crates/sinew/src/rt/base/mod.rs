//! Tools that all modules of `rt` use: locks, the clock, counters, memory for blocks, and smaller
//! ones. Knows no fiber and no wait.

pub(super) mod clock;
pub(super) mod counters;
pub(super) mod ids;
pub(super) mod impls;
pub(super) mod memory;
pub(super) mod owner_lock;
pub(super) mod padded;
pub(crate) mod sync;
pub(super) mod unwind;

pub(super) use counters::{All, Counters};
pub(super) use ids::Ids;
pub(crate) use impls::{impl_debug, impl_error, impl_unwind_safe};
pub(super) use memory::{Memory, Origin, Walk};
pub(super) use owner_lock::{OwnerLock, hold_all};
pub(super) use unwind::{AbortOnUnwind, FirstPanic};
