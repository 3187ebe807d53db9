//! Signals of the operating system, from a channel.
//!
//! [`channel`](channel()) has signals received by fibers and threads, instead of whatever they would do to the process; [`wait_for_quit_signal`]
//! waits for those by which somebody asks it to end.
//!
//! # Ending in good order
//!
//! A service that is told to end by `kill -TERM`, or by Ctrl-C, takes no more work, ends what it has begun, and returns from `main`:
//!
//! ```
//! use sinew::{channel, fiber, select, signal};
//! use std::time::Duration;
//!
//! fn main() -> std::io::Result<()> {
//!     let (quit, is_over) = channel::bounded::<()>(0);
//!     let server = fiber::spawn(move || {
//!         let ticks = channel::tick(Duration::from_millis(1));
//!         let mut served = 0;
//!         loop {
//!             select! {
//!                 recv(ticks) -> _ => served += 1,
//!                 recv(is_over) -> _ => break served,
//!             }
//!         }
//!     });
//!     # // It is sent again and again, since nobody can tell when it is waited for, and does not end this process even before.
//!     # std::mem::forget(signal::channel([signal::Signal::TERMINATE])?);
//!     # let kill = format!("kill -TERM {}", std::process::id());
//!     # std::thread::spawn(move || loop { std::process::Command::new("sh").args(["-c", &kill]).status().unwrap(); });
//!     let signal = signal::wait_for_quit_signal()?;
//!     println!("{signal}: ending, and at once if it comes again");
//!     drop(quit);
//!     println!("{} times", server.join().unwrap());
//!     Ok(())
//! }
//! ```
//!
//! # How they arrive
//!
//! A handler notes that a signal came, and a thread named `sinew-signals`, which starts with the first channel and stays, passes it on to
//! everybody who waits for it. No thread's mask of signals is ever changed. If there was a handler before, it is called too, in the middle of whatever was
//! interrupted, and on the alternate stack of that thread; other signals of the thread wait meanwhile, unless it was installed with `SA_NODEFER`. System calls that are interrupted go on, even if that other handler was installed
//! without `SA_RESTART`. A handler that somebody installs later has the signal first; if it does not call ours, nothing is received.
//!
//! Signals of one kind that come faster than they are received become one, as the kernel has it; those of real-time signals, which it would
//! queue, too. What came along with them, such as who sent them, is not there.
//!
//! Children that are made by [`std::process::Command`] have the default actions, and no descriptor of this. Forking without that is not supported: in
//! such a child nothing is received.

#[cfg(not(loom))]
mod before;
#[cfg(not(loom))]
mod channel;
#[cfg(not(loom))]
mod handler;
#[cfg(loom)]
mod model;
mod number;
mod pending;
#[cfg(not(loom))]
mod quit;
#[cfg(not(loom))]
mod registry;
mod set;

#[cfg(not(loom))]
pub use channel::{IntoIter, Signals, channel};
pub use number::Signal;
#[cfg(not(loom))]
pub use quit::wait_for_quit_signal;
