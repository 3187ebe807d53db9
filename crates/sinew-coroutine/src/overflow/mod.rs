//! Stack overflow, told by name. A guard page turns an overflow into a fault; this turns the fault into a message.
//!
//! [`install`] adds a handler for SIGSEGV to the process, once, and [`protect_thread`] gives the calling thread an
//! alternate stack for it to run on, since the overflowed one is full. A fault that is no overflow of a stack of ours goes to
//! the handler that was there before, as far as that is possible as if this one did not exist.

mod alternate;
mod chain;
mod handler;
mod message;

pub use alternate::{ThreadProtection, protect_thread};
pub use handler::install;
pub use message::advise;
