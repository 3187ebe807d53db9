//! What Unix has: [`std::os::unix`].

pub mod fs;
pub mod net;

pub use std::os::unix::{ffi, io, prelude};
