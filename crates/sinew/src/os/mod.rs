//! Items specific to some systems, with the names of [`std::os`]. Items whose calls may wait are
//! this crate's; the others are re-exports. Items for processes and threads of the system are in
//! std only.

pub mod linux;
pub mod unix;

pub use std::os::{fd, raw};
