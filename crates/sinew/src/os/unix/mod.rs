//! Items specific to Unix, with the names of [`std::os::unix`].

pub mod fs;
pub mod net;

pub use std::os::unix::{ffi, io, prelude};
