//! What only some systems have, with the names of [`std::os`]: ours where calls may wait, std's own otherwise. What is about processes and threads of the
//! system is std's, and only there.

pub mod linux;
pub mod unix;

pub use std::os::{fd, raw};
