//! Sockets with the names of `std::net`, for fibers and threads alike.

pub(crate) mod calls;
