//! What Unix has: [`std::os::unix`].

pub mod fs;
pub mod net;
