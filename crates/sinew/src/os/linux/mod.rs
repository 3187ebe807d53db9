//! Items specific to Linux, with the names of [`std::os::linux`].

pub mod net;

pub use std::os::linux::fs;
