//! Items specific to Linux, with the names of [`std::os::linux`].

#[cfg(feature = "net")]
pub mod net;

pub use std::os::linux::fs;
