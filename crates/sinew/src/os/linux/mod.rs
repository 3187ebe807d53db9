//! What Linux has: [`std::os::linux`].

pub mod net;
