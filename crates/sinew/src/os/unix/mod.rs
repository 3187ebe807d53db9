//! What Unix has.

pub mod fs;
pub mod net;
