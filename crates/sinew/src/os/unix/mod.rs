//! What Unix has.

pub mod net;
