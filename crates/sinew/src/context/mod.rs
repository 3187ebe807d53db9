//! Execution contexts: values that code finds wherever it runs, and that the fibers which it makes have too.
//!
//! A [`Context`] has values by [keys](Key). What runs [inside](Context::run) it finds them, and so does every fiber that is made
//! there, by whatever call: it has the context that was current where it was made, until it ends. That is for what is about the work
//! rather than about who does it: the number of a request, who asked for it, where its log goes.
//!
//! ```
//! use sinew::context::{Context, Key};
//!
//! static REQUEST: Key<u64> = Key::new();
//!
//! let found = Context::current().with(&REQUEST, 7).run(|| {
//!     sinew::fiber::spawn(|| REQUEST.get().map(|number| *number)).join().unwrap()
//! });
//! assert_eq!(found, Some(7));
//! assert!(REQUEST.get().is_none());
//! ```
//!
//! What belongs to one fiber alone is a [fiber-local](crate::fiber_local). Plain threads have a context too, which threads that they
//! start do not have: capture it with [`Context::current`] and run there inside it.
//!
//! # Logs
//!
//! Callbacks of [timers](crate::time) and fibers in steps have the context too, so one function that adds the number of the request to each line
//! does for all of them:
//!
//! ```
//! use sinew::context::{Context, Key};
//! use sinew::fiber;
//!
//! static REQUEST: Key<u64> = Key::new();
//!
//! fn line(text: &str) -> String {
//!     REQUEST.with(|request| match request {
//!         Some(number) => format!("[{number}] {text}"),
//!         None => format!("[-] {text}"),
//!     })
//! }
//!
//! let inside = Context::current().with(&REQUEST, 7).run(|| fiber::spawn(|| line("begun")).join().unwrap());
//! assert_eq!((inside.as_str(), line("over").as_str()), ("[7] begun", "[-] over"));
//! ```
//!
//! Spans of `tracing` are not values of a context: see the [feature](crate#features).
//!
//! # The end of values
//!
//! A value is dropped with the last context that has it: by whoever drops that one, or when the last fiber that has it ends. In a fiber
//! that is on its own stack, after its fiber-locals, before a join returns; so the destructor may wait. If it panics there, the panic
//! hook tells about it, and that is all: whichever fiber happens to be the last is not to blame.

mod key;
mod values;

pub use key::Key;
pub use values::Context;
