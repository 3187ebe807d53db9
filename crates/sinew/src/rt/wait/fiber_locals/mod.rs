//! Values that belong to one fiber, or to one plain thread: found by the number of their key,
//! dropped newest first when that fiber or thread ends. Knows no public names.
//!
//! A fiber that uses none has a null word for them ([`FiberLocals`]). The first use makes a table
//! ([`table`]). Each value has a slot of its own that does not move ([`slot`]). Code that uses a
//! value from a frame on the fiber's own stack returns before the fiber ends. Code elsewhere counts
//! its use: a user's coroutine may keep a reference for longer than the fiber runs, and a value
//! that is in use when its fiber ends is leaked.

mod get;
mod key;
mod locals;
mod memory;
mod slot;
mod table;

#[cfg_attr(
    not(feature = "tracing"),
    expect(unused_imports, reason = "what follows fibers looks for their values")
)]
pub(crate) use get::{find, get};
pub(crate) use key::LocalsKey;
pub(crate) use locals::FiberLocals;
pub(crate) use slot::{Gone, Used};
