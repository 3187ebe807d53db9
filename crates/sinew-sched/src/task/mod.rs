//! What the pool runs: [`TaskRef`], a pointer to a [`Header`] with the functions that run and
//! discard the task. Knows no worker and no queue.

mod closure;
mod context;
mod header;
mod list;

pub use context::Context;
pub use header::{Header, TaskRef, Vtable};
pub(crate) use list::List;
