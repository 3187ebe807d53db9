//! Items specific to Unix, with the names of [`std::os::unix`].

#[cfg(feature = "fs")]
pub mod fs;
#[cfg(feature = "net")]
pub mod net;

pub use std::os::unix::{ffi, io, prelude};
