//! Workers: a pool that runs fibers, the drivers in which its threads sleep, the descriptors that
//! they watch, and the threads beside them.

#[cfg(feature = "blocking")]
pub(super) mod blocking_pool;
#[cfg(not(feature = "blocking"))]
#[path = "no_blocking_pool.rs"]
pub(super) mod blocking_pool;
mod driver;
pub(super) mod engine;
mod epoll;
pub(super) mod in_place;
pub(crate) mod io;
pub(super) mod stall;
