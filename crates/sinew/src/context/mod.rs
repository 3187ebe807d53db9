//! Execution contexts: values that fibers inherit from the code that spawns them.
//!
//! A [`Context`] maps [keys](Key) to values. Code that runs [inside](Context::run) a context finds
//! its values, and so does every fiber that is spawned there, in any way: a fiber has the context
//! that was current where it was spawned, until it ends. Use it for values that belong to the work
//! rather than to the fiber that does it, such as the number of a request, its user, or the
//! destination of its log.
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
//! For values of a single fiber use a [fiber-local](crate::fiber_local). Plain threads have a
//! context too, but the threads that they start do not inherit it: capture it with
//! [`Context::current`] and run the body of the thread inside it.
//!
//! # Logs
//!
//! Callbacks of [timers](crate::time) and fibers in steps have the context too. So a single
//! function can add the number of the request to each line of a log:
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
//! let context = Context::current().with(&REQUEST, 7);
//! let inside = context.run(|| fiber::spawn(|| line("begun")).join().unwrap());
//! assert_eq!((inside.as_str(), line("over").as_str()), ("[7] begun", "[-] over"));
//! ```
//!
//! Spans of `tracing` are not values of a context: see the [feature](crate#features).
//!
//! # The end of values
//!
//! A value is dropped with the last context that contains it: by the code that drops that context,
//! or when the last fiber that has it ends. A fiber drops it on its own stack, after its
//! fiber-locals, and before a join returns, so the destructor may wait. If the destructor panics
//! there, the panic hook reports it, and the join does not return it: it is not a fault of the
//! fiber that happens to be the last.

mod key;
mod values;

pub use key::Key;
pub use values::Context;
