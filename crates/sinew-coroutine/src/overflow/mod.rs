//! Reports stack overflows with a message. A guard page turns an overflow into a fault; this module
//! turns the fault into a message.
//!
//! [`install`] adds a handler for SIGSEGV to the process, once. [`protect_thread`] gives the
//! calling thread an alternate stack for the handler to run on, since the overflowed stack is full.
//! A fault that is not an overflow of this crate's stacks goes to the handler that was installed
//! before, as if this one did not exist, as far as that is possible.

mod alternate;
mod chain;
mod handler;
mod message;

pub use alternate::{ThreadProtection, protect_thread};
pub use handler::install;
pub use message::advise;
