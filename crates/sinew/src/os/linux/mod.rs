//! What Linux has: [`std::os::linux`].

pub mod net;

pub use std::os::linux::fs;
