//! What the pool runs: [`TaskRef`], a pointer to a [`Header`] that says how. Knows no worker and no queue.

mod closure;
mod header;
mod list;

pub use header::{Header, TaskRef, Vtable};
pub(crate) use list::List;
