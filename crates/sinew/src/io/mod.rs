//! Descriptors that fibers wait for without blocking their worker.

mod halt;
mod handle;
mod modes;

pub(crate) use handle::Handle;
