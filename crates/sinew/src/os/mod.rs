//! What only some systems have, with the names of [`std::os`].

pub mod linux;
pub mod unix;

pub use std::os::fd;
